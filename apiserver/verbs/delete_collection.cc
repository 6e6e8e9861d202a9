#include <atomic>
#include <mutex>
#include <optional>
#include <utility>

#include "apiserver/internal/body.h"
#include "apiserver/internal/deletion.h"
#include "apiserver/internal/listing.h"
#include "apiserver/internal/verbs.h"

namespace terrarium::apiserver {
namespace {

// Deletes in flight: the last one to end answers, with the items as they were or with the first error.
struct Collection {
  CallPtr call;
  Page page;
  std::atomic<std::size_t> left;
  std::mutex mutex;
  std::optional<api::Status> error;

  void Finish(const api::Result<Changed>& changed) {
    if (!changed && !changed.status().Is(api::reason::kNotFound)) {
      std::lock_guard lock(mutex);
      if (!error) error = changed.status();
    }
    if (left.fetch_sub(1) > 1) return;
    if (error) return RespondError(call, *error);
    RespondList(call, page.items, page.meta);
  }
};

}  // namespace

void ServeDeleteCollection(const CallPtr& call) {
  auto body = DecodeDeleteOptions(*call);
  if (!body) return RespondError(call, body.status());
  auto options = ParseDeleteOptions(call->request, *body);
  if (!options) return RespondError(call, options.status());
  auto list_options = ParseListOptions(call->request, call->resource(), false);
  if (!list_options) return RespondError(call, list_options.status());
  auto page = ReadPage(*call, *list_options);
  if (!page) return RespondError(call, page.status());
  if (page->items.empty()) return RespondList(call, page->items, page->meta);

  auto collection = std::make_shared<Collection>();
  collection->call = call;
  collection->page = std::move(*page);
  collection->left = collection->page.items.size();
  for (const api::ObjectPtr& item : collection->page.items) {
    storage::ObjectKey key{std::string(call->resource().storage), item->header().ns, item->header().name};
    DeleteObject(call, call->resource(), key, *options,
                 [collection](api::Result<Changed> changed) { collection->Finish(changed); });
  }
}

}  // namespace terrarium::apiserver

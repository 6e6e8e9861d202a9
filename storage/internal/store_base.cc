#include "storage/internal/store_base.h"

#include <utility>

namespace terrarium::storage {

StoreBase::StoreBase(std::unique_ptr<State> state) : state_(std::move(state)), hub_(state_->revision()) {}

ObjectPtr StoreBase::Get(const ObjectKey& key) const { return state_->Get(key); }

api::Result<Listing> StoreBase::List(const ListQuery& query) const { return state_->List(query); }

std::size_t StoreBase::Count(std::string_view resource) const { return state_->Count(resource); }

api::Result<std::unique_ptr<Watch>> StoreBase::StartWatch(const WatchQuery& query) {
  std::unique_ptr<Watch> watch;
  auto expired = state_->Replay(query, [&](std::int64_t revision, std::vector<Event> events) {
    watch = hub_.Subscribe(query, revision, std::move(events));
  });
  if (expired) return *std::move(expired);
  return watch;
}

ListAndWatchResult StoreBase::ListAndWatch(const WatchQuery& query) {
  ListAndWatchResult result;
  state_->Snapshot(query, [&](Listing listing) {
    WatchQuery from_here = query;
    from_here.from_revision = listing.revision;
    result.watch = hub_.Subscribe(from_here, listing.revision, {});
    result.listing = std::move(listing);
  });
  return result;
}

WriteOutcome ShutDownOutcome() {
  return {WriteOutcome::Code::kFailed, nullptr, "the store has been shut down"};
}

}  // namespace terrarium::storage

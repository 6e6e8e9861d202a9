#include "controllers/history/revision_history.h"

#include <algorithm>
#include <utility>

#include "api/base/errors.h"
#include "api/json_access.h"
#include "controllers/runtime/owner_references.h"

namespace terrarium::controllers::history {
namespace {

using api::Json;
using api::Task;

constexpr std::string_view kResource = "controllerrevisions";
// Shared by all kinds of owners.
constexpr const char* kControllerIndex = "controller";
// As client-go's default for updates that conflict.
constexpr int kUpdatesMax = 4;

std::string OrphansOf(std::string_view ns) { return "orphans/" + std::string(ns); }

}  // namespace

RevisionHistory::RevisionHistory(const ControllerContext& context, std::string owner_resource,
                                 std::string owner_kind)
    : context_(context),
      owner_resource_(std::move(owner_resource)),
      owner_kind_(std::move(owner_kind)),
      revisions_(context.informers.For(kResource)) {
  revisions_.AddIndex(kControllerIndex, [](const api::Object& revision) {
    const api::OwnerReference* controller = revision.controller();
    return std::vector<std::string>{controller == nullptr ? OrphansOf(revision.header().ns)
                                                          : controller->uid};
  });
}

std::vector<ObjectPtr> RevisionHistory::Candidates(const api::Object& owner) const {
  std::vector<ObjectPtr> found = revisions_.ByIndex(kControllerIndex, owner.header().uid);
  std::vector<ObjectPtr> orphans = revisions_.ByIndex(kControllerIndex, OrphansOf(owner.header().ns));
  std::move(orphans.begin(), orphans.end(), std::back_inserter(found));
  return found;
}

std::vector<ObjectPtr> RevisionHistory::List(const api::Object& owner,
                                             const api::LabelSelector& selector) const {
  std::vector<ObjectPtr> found = Candidates(owner);
  std::erase_if(found, [&](const ObjectPtr& revision) { return !selector.Matches(revision->header()); });
  Sort(found);
  return found;
}

Task<api::Result<std::vector<ObjectPtr>>> RevisionHistory::Claim(ObjectPtr owner,
                                                                 api::LabelSelector selector) const {
  Claimant claimant{.owner = owner,
                    .api_version = "apps/v1",
                    .kind = owner_kind_,
                    .owner_resource = owner_resource_,
                    .selector = std::move(selector)};
  Task<api::Result<std::vector<ObjectPtr>>> claiming =
      ClaimObjects(context_.client, std::move(claimant), std::string(kResource), Candidates(*owner));
  api::Result<std::vector<ObjectPtr>> claimed = co_await std::move(claiming);
  if (claimed) Sort(*claimed);
  co_return claimed;
}

Task<api::Client::Written> RevisionHistory::Create(Json revision) const {
  const ObjectName name{std::string(api::StringAt(revision, "metadata", "namespace")),
                        std::string(api::StringAt(revision, "metadata", "name"))};
  const Json data = api::ObjectAt(revision, "data");
  api::Awaitable<api::Client::Written> creating =
      context_.client.Create(kResource, name.ns, std::move(revision));
  api::Client::Written created = co_await std::move(creating);
  if (created || !created.status().Is(api::reason::kAlreadyExists)) co_return created;
  api::Result<ObjectPtr> existing = context_.client.Get(kResource, name);
  if (!existing || HasData(**existing, data)) co_return existing;
  co_return created;
}

Task<api::Result<RevisionHistory::Created>> RevisionHistory::CreateByData(
    Json revision, std::string owner, std::int64_t collision_count) const {
  while (true) {
    NameByData(revision, owner, collision_count);
    Task<api::Client::Written> creating = Create(revision);
    api::Client::Written created = co_await std::move(creating);
    if (created) co_return Created{*created, collision_count};
    if (!created.status().Is(api::reason::kAlreadyExists)) co_return created.status();
    ++collision_count;
  }
}

Task<api::Client::Written> RevisionHistory::Renumber(ObjectPtr revision, std::int64_t number) const {
  for (int tries = 1;; ++tries) {
    if (NumberOf(*revision) == number) co_return revision;
    Json document = revision->Parse();
    document["revision"] = number;
    api::Awaitable<api::Client::Written> updating = context_.client.Update(kResource, std::move(document));
    api::Client::Written updated = co_await std::move(updating);
    if (updated || !updated.status().Is(api::reason::kConflict) || tries == kUpdatesMax) co_return updated;
    api::Result<ObjectPtr> live = context_.client.Get(kResource, revision->name());
    if (!live) co_return live;
    revision = *live;
  }
}

Task<api::Result<void>> RevisionHistory::Delete(ObjectPtr revision) const {
  api::Awaitable<api::Client::Written> deleting =
      context_.client.Delete(kResource, revision->name(), {.uid = revision->header().uid});
  api::Client::Written deleted = co_await std::move(deleting);
  if (!deleted && !deleted.status().Is(api::reason::kNotFound)) co_return deleted.status();
  co_return api::Result<void>();
}

}  // namespace terrarium::controllers::history

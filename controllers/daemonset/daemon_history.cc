// The revisions of a DaemonSet's template.

#include <algorithm>
#include <utility>

#include "api/base/errors.h"
#include "api/json_access.h"
#include "controllers/daemonset/internal/daemonset_controller.h"
#include "controllers/runtime/name_hash.h"

namespace terrarium::controllers::daemonset {
namespace {

using api::Json;
using api::Task;
using Written = api::Client::Written;

constexpr std::int64_t kHistoryLimit = 10;

std::optional<std::int64_t> CollisionCount(const Json& daemon_set) {
  const Json* count = api::Find(daemon_set, "status", "collisionCount");
  return count == nullptr ? std::nullopt : std::optional(count->get<std::int64_t>());
}

}  // namespace

Task<DaemonSetController::Failure> DaemonSetController::ReadHistory(SubjectPtr subject) {
  const std::int64_t generation = api::IntAt(*subject->document, 0, "metadata", "generation");
  std::vector<ObjectPtr> candidates = history_.Candidates(*subject->owner);
  auto known = known_histories_.find(subject->name());
  if (known != known_histories_.end() && known->second.uid == subject->uid() &&
      known->second.generation == generation && known->second.candidates == candidates) {
    subject->hash = known->second.hash;
    subject->old = known->second.old;
    co_return std::nullopt;
  }
  DaemonIndex::Owner* owner = Current(*subject);
  if (owner == nullptr) co_return std::nullopt;
  Task<api::Result<std::vector<ObjectPtr>>> claiming = history_.Claim(subject->owner, owner->rules.selector);
  api::Result<std::vector<ObjectPtr>> claimed = co_await std::move(claiming);
  if (!claimed) co_return claimed.status();
  Task<Failure> building = BuildHistory(subject, std::move(*claimed));
  Failure failed = co_await std::move(building);
  if (failed) co_return failed;
  // What this sync has changed itself is not in `candidates`, so the next one will not take this for current
  // once it has been observed.
  if (Current(*subject) != nullptr)
    known_histories_[subject->name()] = {subject->uid(), generation, std::move(candidates), subject->hash,
                                         subject->old};
  co_return std::nullopt;
}

Task<DaemonSetController::Failure> DaemonSetController::BuildHistory(SubjectPtr subject,
                                                                     std::vector<ObjectPtr> claimed) {
  const Json data = history::TemplateData(*subject->document);
  std::vector<ObjectPtr> current;
  for (ObjectPtr& revision : claimed) {
    if (history::HashOf(*revision).empty()) {
      Written labelled = co_await LabelRevision(revision);
      if (!labelled) co_return labelled.status();
      revision = *labelled;
    }
    (history::HasData(*revision, data) ? current : subject->old).push_back(revision);
  }
  const std::int64_t number = history::NextNumber(subject->old);
  Task<Written> finding = current.empty() ? Snapshot(subject, number) : KeepOne(subject, std::move(current));
  Written found = co_await std::move(finding);
  if (!found) co_return found.status();
  subject->hash = history::HashOf(**found);
  if (history::NumberOf(**found) >= number) co_return std::nullopt;
  Written renumbered = co_await history_.Renumber(*found, number);
  if (!renumbered) co_return renumbered.status();
  co_return std::nullopt;
}

Task<Written> DaemonSetController::LabelRevision(ObjectPtr revision) {
  Json document = revision->Parse();
  document["metadata"]["labels"][std::string(history::kRevisionHashLabel)] = revision->header().name;
  api::Awaitable<Written> updating = context_.client.Update("controllerrevisions", std::move(document));
  Written updated = co_await std::move(updating);
  co_return updated;
}

Task<Written> DaemonSetController::KeepOne(SubjectPtr subject, std::vector<ObjectPtr> current) {
  ObjectPtr kept = current.back();  // sorted: the one with the largest number
  if (current.size() == 1) co_return kept;
  const std::string hash(history::HashOf(*kept));
  // The pods of the others become pods of the one that is kept.
  for (const ObjectPtr& pod : pods_.List(subject->name().ns)) {
    const api::OwnerReference* controller = pod->controller();
    if (controller == nullptr || controller->uid != subject->uid() || history::HashOf(*pod) == hash) continue;
    Json patch;
    patch["metadata"]["labels"][std::string(history::kRevisionHashLabel)] = hash;
    api::Awaitable<Written> patching =
        context_.client.Patch("pods", pod->name(), std::move(patch), "", api::PatchKind::kMerge);
    Written patched = co_await std::move(patching);
    if (!patched) co_return patched;
  }
  for (const ObjectPtr& revision : current) {
    if (revision == kept) continue;
    api::Result<void> deleted = co_await history_.Delete(revision);
    if (!deleted) co_return deleted.status();
  }
  co_return kept;
}

Task<Written> DaemonSetController::Snapshot(SubjectPtr subject, std::int64_t number) {
  const Json& document = *subject->document;
  std::string hash = TemplateHash(api::ObjectAt(document, "spec", "template"), CollisionCount(document));
  Json revision =
      history::NewRevision(*subject->owner, document, "DaemonSet", history::TemplateData(document), number);
  revision["metadata"]["name"] = subject->name().name + "-" + hash;
  revision["metadata"]["labels"][std::string(history::kRevisionHashLabel)] = std::move(hash);
  Task<Written> creating = history_.Create(std::move(revision));
  Written created = co_await std::move(creating);
  if (created || !created.status().Is(api::reason::kAlreadyExists)) co_return created;
  Task<Failure> counting = CountCollision(subject, created.status());
  Failure failed = co_await std::move(counting);
  co_return std::move(*failed);
}

// Another template has the same hash. A larger count gives another name in the next sync.
Task<DaemonSetController::Failure> DaemonSetController::CountCollision(SubjectPtr subject,
                                                                       api::Status collision) {
  api::Result<ObjectPtr> live = context_.client.Get("daemonsets", subject->name());
  if (!live) co_return live.status();
  Json document = (*live)->Parse();
  const std::optional<std::int64_t> count = CollisionCount(document);
  if (count != CollisionCount(*subject->document))
    co_return api::Conflict({.group = "apps", .resource = "daemonsets"}, subject->name().name,
                            "found a stale collision count");
  document["status"]["collisionCount"] = count.value_or(0) + 1;
  api::Awaitable<Written> writing = context_.client.UpdateStatus("daemonsets", std::move(document));
  Written written = co_await std::move(writing);
  if (!written) co_return written.status();
  co_return collision;
}

Task<DaemonSetController::Failure> DaemonSetController::TruncateHistory(SubjectPtr subject) {
  DaemonIndex::Owner* owner = Current(*subject);
  const std::int64_t limit = api::IntAt(*subject->document, kHistoryLimit, "spec", "revisionHistoryLimit");
  const std::int64_t surplus = static_cast<std::int64_t>(subject->old.size()) - limit;
  if (owner == nullptr || surplus <= 0) co_return std::nullopt;
  std::vector<ObjectPtr> unused = history::OldestUnused(
      subject->old, static_cast<std::size_t>(surplus),
      [&](const api::Object& revision) { return owner->nodes.IsInUse(history::HashOf(revision)); });
  for (const ObjectPtr& revision : unused) {
    api::Result<void> deleted = co_await history_.Delete(revision);
    if (!deleted) co_return deleted.status();
  }
  co_return std::nullopt;
}

}  // namespace terrarium::controllers::daemonset

// One look at a Deployment. Mirrors syncDeployment of pkg/controller/deployment, v1.36, with one difference all over: a
// look ends with its first change of a ReplicaSet, whose event makes for the next look. Kubernetes goes on with what it
// had read before and writes a status that is out of date as it is written.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/json_access.h"
#include "controllers/deployment/internal/annotations.h"
#include "controllers/deployment/internal/conditions.h"
#include "controllers/deployment/internal/deployments.h"
#include "controllers/deployment/internal/pod_template.h"
#include "controllers/deployment/internal/scale_plan.h"
#include "controllers/deployment/internal/selection.h"
#include "controllers/runtime/owner_references.h"

namespace terrarium::controllers::deployment {

using api::Json;
using api::Result;
using api::Task;

Task<ReconcileResult> Deployments::Sync(ObjectName name) {
  ObjectPtr deployment = deployments_.Get(name);
  if (deployment == nullptr) co_return Reconciled::Done();
  // What brings the view up to date wakes this Deployment as well.
  const OwnWrites::Revisions seen{deployments_.Revision(), replica_sets_.Revision()};
  if (!own_.AreSeen(deployment->header().uid, seen)) co_return Reconciled::Done();
  std::shared_ptr<const Json> document = deployment->Document();
  auto selector = api::LabelSelector::FromDocument(api::Find(*document, "spec", "selector"));
  if (!selector) co_return selector.status();
  if (selector->selects_everything()) {
    ReconcileResult refused = co_await RefuseEverything(deployment);
    co_return refused;
  }
  Claims claims = FindSets(*deployment, *selector);
  if (!claims.to_decide.empty()) {
    Result<bool> adopted = co_await ClaimSets(deployment, *selector, std::move(claims.to_decide));
    if (!adopted) co_return adopted.status();
    if (*adopted) co_return Reconciled::Done();
  }
  RoundPtr round = MakeRound(deployment, std::move(claims.owned), DigestOf(*deployment), context_.env.gates);
  round->seen = replica_sets_.Revision();
  ReconcileResult result = co_await Step(std::move(round));
  co_return result;
}

// The apiserver lets no such Deployment in; one that is there all the same does nothing, as in Kubernetes.
Task<ReconcileResult> Deployments::RefuseEverything(ObjectPtr deployment) {
  RoundPtr round = MakeRound(deployment, {}, 0, context_.env.gates);
  writes_.Tell(*round, kWarning, "SelectingAll",
               "This deployment is selecting all pods. A non-empty selector is required.");
  if (api::IntAt(*round->document, 0, "status", "observedGeneration") >= round->generation())
    co_return Reconciled::Done();
  Json patch = {{"metadata", {{"uid", deployment->header().uid}}},
                {"status", {{"observedGeneration", round->generation()}}}};
  api::Awaitable<api::Client::Written> patching =
      context_.client.Patch("deployments", round->name, std::move(patch), "status", api::PatchKind::kMerge);
  api::Client::Written written = co_await std::move(patching);
  if (!written) co_return written.status();
  own_.DeploymentWritten(round->uid(), (*written)->revision());
  co_return Reconciled::Done();
}

Deployments::Claims Deployments::FindSets(const api::Object& deployment, const api::LabelSelector& selector) {
  Claims claims;
  for (const ObjectPtr& set : replica_sets_.ByIndex(kByController, deployment.header().uid)) {
    if (selector.Matches(set->header()))
      claims.owned.push_back(facts_.Of(set));
    else if (!deployment.header().deleting)
      claims.to_decide.push_back(set);
  }
  if (deployment.header().deleting) return claims;
  for (const ObjectPtr& set : replica_sets_.ByIndex(kOrphans, SelectorPlace(deployment.header().ns, selector)))
    if (!set->header().deleting && selector.Matches(set->header())) claims.to_decide.push_back(set);
  return claims;
}

// True when a ReplicaSet was adopted: it comes back as an event, and counts from then on. Who is released is gone for
// this look already.
Task<Result<bool>> Deployments::ClaimSets(ObjectPtr deployment, api::LabelSelector selector,
                                          std::vector<ObjectPtr> sets) {
  Claimant claimant{.owner = std::move(deployment),
                    .api_version = "apps/v1",
                    .kind = "Deployment",
                    .owner_resource = "deployments",
                    .selector = std::move(selector)};
  auto claiming = ClaimObjects(context_.client, std::move(claimant), "replicasets", std::move(sets));
  Result<std::vector<ObjectPtr>> claimed = co_await std::move(claiming);
  if (!claimed) co_return claimed.status();
  co_return !claimed->empty();
}

std::uint64_t Deployments::DigestOf(const api::Object& deployment) {
  std::shared_ptr<const Json> document = deployment.Document();
  Digest& known = digests_[{deployment.header().ns, deployment.header().name}];
  const std::int64_t generation = api::IntAt(*document, 0, "metadata", "generation");
  if (known.uid != deployment.header().uid || known.generation != generation)
    known = {deployment.header().uid, generation, TemplateDigest(api::ObjectAt(*document, "spec", "template"))};
  return known.digest;
}

Task<ReconcileResult> Deployments::Step(RoundPtr round) {
  const bool deleting = round->deployment->header().deleting;
  if (!deleting && round->progress_deadline())
    NotePause(round->paused(), context_.env.clock.Now(), round->conditions);
  // Before anything shrinks, so that whoever is asked is the one of now.
  if (!deleting) {
    Result<bool> handed = co_await writes_.HandPicker(round);
    if (!handed) co_return handed.status();
    if (*handed) co_return Reconciled::Done();
  }
  if (round->new_set() != nullptr) {
    if (Json patch = NewSetPatch(*round); !patch.is_null()) {
      Result<bool> patched = co_await writes_.PatchNew(round, std::move(patch));
      if (!patched) co_return patched.status();
      co_return Reconciled::Done();
    }
    NoteNewSet(*round);
  }
  auto next = [&]() -> Task<ReconcileResult> {
    if (deleting) return WriteStatus(round, Judge::kCountsOnly);
    if (round->paused()) return Scale(round);
    if (auto revision = RollbackAskedFor(round->annotations())) return RollBack(round, *revision);
    if (MustScale(round->size, round->sizes)) return Scale(round);
    return round->size.rolling ? Roll(round) : Recreate(round);
  };
  Task<ReconcileResult> stepping = next();
  ReconcileResult result = co_await std::move(stepping);
  co_return result;
}

// The Deployment has the revision of its ReplicaSet. Where nothing is known about progress it counts from now.
void Deployments::NoteNewSet(Round& round) const {
  const ReplicaSetFacts& set = *round.new_set();
  round.revision = api::StringAt(*set.object->Document(), "metadata", "annotations", kRevision);
  if (!round.progress_deadline() || FindCondition(round.conditions, kProgressing) != nullptr) return;
  std::string message = "Found new replica set \"" + set.name() + "\"";
  SetCondition(round.conditions,
               MakeCondition({kProgressing, "True", kSetFound, std::move(message)}, context_.env.clock.Now()));
}

Task<ReconcileResult> Deployments::Scale(RoundPtr round) {
  std::vector<ScaledSet> plan = PlanScale(round->size, round->sizes, round->new_index);
  std::string rule = "for " + std::to_string(round->size.replicas) + " replicas; " + round->RoomText();
  Result<bool> resized = co_await writes_.Resize(round, std::move(plan), std::move(rule));
  if (!resized) co_return resized.status();
  if (*resized) co_return Reconciled::Done();
  if (round->paused() && !RollbackAskedFor(round->annotations())) {
    Result<bool> cleaned = co_await CleanUp(round);
    if (!cleaned) co_return cleaned.status();
  }
  // A scale that waits for terminating pods takes as long as they do, and its rollout with it: pods that go are
  // progress, and lack of it is a failure at the deadline.
  const bool takes_time = round->size.waits_for_termination && !round->paused();
  ReconcileResult written = co_await WriteStatus(round, takes_time ? Judge::kProgress : Judge::kCountsOnly);
  co_return written;
}

Task<ReconcileResult> Deployments::Roll(RoundPtr round) {
  if (round->new_set() == nullptr) {
    ReconcileResult created = co_await CreateNew(round);
    co_return created;
  }
  const std::int64_t replicas = NewReplicas(round->size, round->sizes, round->new_index);
  if (replicas != round->sizes[round->new_index].replicas) {
    std::vector<ScaledSet> grown = {Sized(round->size, round->new_index, replicas)};
    std::string rule = "the new template; " + round->RoomText();
    ReconcileResult resized = co_await ResizeSets(round, std::move(grown), std::move(rule));
    co_return resized;
  }
  std::vector<ScaledSet> shrunk;
  for (const Resize& old : ShrinkOld(round->size, round->sizes, round->new_index))
    shrunk.push_back(Sized(round->size, old.index, old.replicas));
  if (!shrunk.empty()) {
    std::string rule = "an old template; " + std::to_string(round->CountNow().available) + " available, at least " +
                       std::to_string(round->size.replicas - round->size.max_unavailable) + " must be";
    ReconcileResult resized = co_await ResizeSets(round, std::move(shrunk), std::move(rule));
    co_return resized;
  }
  ReconcileResult finished = co_await Finish(round);
  co_return finished;
}

Task<ReconcileResult> Deployments::Recreate(RoundPtr round) {
  std::vector<ScaledSet> sizes;
  for (std::size_t i = 0; i < round->sizes.size(); ++i)
    if (i != round->new_index && round->sizes[i].replicas > 0) sizes.push_back(Sized(round->size, i, 0));
  if (!sizes.empty()) {
    std::string rule = "an old template, which goes first";
    ReconcileResult resized = co_await ResizeSets(round, std::move(sizes), std::move(rule));
    co_return resized;
  }
  if (OldPodsRun(*round)) {
    ReconcileResult waited = co_await WriteStatus(round, Judge::kProgress);
    co_return waited;
  }
  if (round->new_set() == nullptr) {
    ReconcileResult created = co_await CreateNew(round);
    co_return created;
  }
  const std::int64_t replicas = NewReplicas(round->size, round->sizes, round->new_index);
  if (replicas != round->sizes[round->new_index].replicas) {
    sizes.push_back(Sized(round->size, round->new_index, replicas));
    std::string rule = "the new template; " + round->RoomText();
    ReconcileResult resized = co_await ResizeSets(round, std::move(sizes), std::move(rule));
    co_return resized;
  }
  ReconcileResult finished = co_await Finish(round);
  co_return finished;
}

// Whether there are old pods that the new template waits for; under TerminationStarted terminating ones are none.
bool Deployments::OldPodsRun(const Round& round) const {
  for (std::size_t i = 0; i < round.sets.size(); ++i) {
    if (i == round.new_index) continue;
    if (round.sizes[i].status_replicas > 0) return true;
    const PodCounts::Counts pods = pod_counts_.Of(round.sets[i]->uid());
    if (pods.live > 0) return true;
    if (pods.terminating > 0 && round.policy != ReplacementPolicy::kTerminationStarted) return true;
  }
  return false;
}

Task<ReconcileResult> Deployments::ResizeSets(RoundPtr round, std::vector<ScaledSet> sizes, std::string rule) {
  Result<bool> resized = co_await writes_.Resize(round, std::move(sizes), std::move(rule));
  if (!resized) co_return resized.status();
  co_return Reconciled::Done();
}

// Nothing is left to be grown or shrunk.
Task<ReconcileResult> Deployments::Finish(RoundPtr round) {
  const Counters known = CountersOf(api::ObjectAt(*round->document, "status"));
  if (IsComplete(round->size, round->generation(), known)) {
    Result<bool> cleaned = co_await CleanUp(round);
    if (!cleaned) co_return cleaned.status();
  }
  ReconcileResult written = co_await WriteStatus(round, Judge::kProgress);
  co_return written;
}

// Old ReplicaSets are kept to go back to, up to a number.
Task<Result<bool>> Deployments::CleanUp(RoundPtr round) {
  std::optional<std::int64_t> limit = round->history_limit();
  if (!limit) co_return false;
  std::vector<FactsPtr> outdated = Outdated(round->sets, round->new_index, *limit, round->policy_gates);
  if (outdated.empty()) co_return false;
  std::string rule = "the history keeps " + std::to_string(*limit) + " old ReplicaSets";
  Result<bool> deleted = co_await writes_.Delete(round, std::move(outdated), std::move(rule));
  co_return deleted;
}

}  // namespace terrarium::controllers::deployment

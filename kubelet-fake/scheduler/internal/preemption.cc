#include "kubelet-fake/scheduler/internal/preemption.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <tuple>
#include <utility>

#include "api/core_v1/pod.h"
#include "api/json_access.h"
#include "kubelet-fake/scheduler/internal/filters.h"

namespace terrarium::kubelet_fake::scheduling {
namespace {

bool TerminatesByPreemption(const api::Object& pod) {
  if (!pod.header().deleting || !pod.header().disruption_target) return false;
  const auto document = pod.Document();
  const api::Json* condition = api::FindCondition(*document, "DisruptionTarget");
  return condition != nullptr && api::StringAt(*condition, "status") == "True" &&
         api::StringAt(*condition, "reason") == "PreemptionByScheduler";
}

// Added to each priority, so that a sum over fewer pods is smaller also where priorities are negative.
constexpr std::int64_t kPriorityOffset = std::int64_t{1} << 31;

}  // namespace

// mirrors calculateNumCandidates() of plugins/defaultpreemption, 1.36.
std::size_t CandidatesWanted(std::size_t nodes) {
  constexpr std::size_t kPercentage = 10;
  constexpr std::size_t kAtLeast = 100;
  return std::min(nodes, std::max(kAtLeast, nodes * kPercentage / 100));
}

// mirrors Evaluator.Preempt() and DryRunPreemption() of pkg/scheduler/framework/preemption, 1.36. Nodes are
// tried one after the other, so the search ends exactly when enough candidates are known.
PreemptionResult PreemptionSearch::Find(const PodRecord& pod, const std::vector<NodeInfo*>& nodes,
                                        api::Time now) {
  using Kind = PreemptionResult::Kind;
  if (!pod.pod_class->wants.may_preempt) {
    return {.kind = Kind::kNotEligible, .message = "not eligible due to preemptionPolicy=Never."};
  }
  const bool nominated_node_is_hopeless = std::find(nodes.begin(), nodes.end(), pod.nominated) == nodes.end();
  if (pod.nominated != nullptr && !nominated_node_is_hopeless && WaitsForVictims(pod)) {
    return {.kind = Kind::kNotEligible,
            .message = "not eligible due to a terminating pod on the nominated node."};
  }

  const int all = static_cast<int>(cluster_.nodes().size());
  Diagnosis why;
  why.Count(Reason::kPreemptionNoHelp, all - static_cast<int>(nodes.size()));
  if (nodes.empty() || !cluster_.HasLowerPriority(pod.priority())) {
    why.Count(Reason::kNoVictims, static_cast<int>(nodes.size()));
    return {.kind = Kind::kNoCandidate, .message = why.Message(all)};
  }
  const std::size_t wanted = CandidatesWanted(nodes.size());
  const std::size_t offset = prng_.Below(nodes.size());
  std::vector<Candidate> candidates;
  bool any_without_violation = false;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    Candidate candidate = VictimsOn(*nodes[(offset + i) % nodes.size()], pod, now, why);
    if (candidate.victims.empty()) continue;
    any_without_violation |= candidate.violations == 0;
    candidates.push_back(std::move(candidate));
    if (any_without_violation && candidates.size() >= wanted) break;
  }
  if (candidates.empty()) return {.kind = Kind::kNoCandidate, .message = why.Message(all)};
  const int considered = static_cast<int>(candidates.size());
  return {.kind = Kind::kCandidate,
          .message = "",
          .candidate = Best(std::move(candidates), now),
          .considered = considered};
}

bool PreemptionSearch::WaitsForVictims(const PodRecord& pod) const {
  return pod.nominated != nullptr && std::any_of(pod.nominated->residents.begin(),
                                                 pod.nominated->residents.end(), [&](const PodRecord* other) {
                                                   if (other->priority() >= pod.priority()) return false;
                                                   if (other->preempted) return true;
                                                   if (!other->terminating) return false;
                                                   const api::ObjectPtr object = object_of_(*other);
                                                   return object != nullptr &&
                                                          TerminatesByPreemption(*object);
                                                 });
}

std::vector<PodRecord*> PreemptionSearch::LessImportantPods(const NodeInfo& node,
                                                            const PodRecord& pod) const {
  std::vector<PodRecord*> out;
  std::copy_if(node.residents.begin(), node.residents.end(), std::back_inserter(out),
               [&](const PodRecord* other) { return other->priority() < pod.priority(); });
  return out;
}

bool PreemptionSearch::MayHelp(const PodRecord& pod, NodeInfo& node) {
  if (!pod.pod_class->wants.may_preempt || !cluster_.HasLowerPriority(pod.priority())) return false;
  const std::vector<PodRecord*> gone = LessImportantPods(node, pod);
  if (gone.empty()) return false;
  for (const PodRecord* other : gone) cluster_.CountOut(other->pod_class, node, other->terminating);
  Diagnosis unused;
  const bool passes = PassesWithNominated(cluster_, pod, node, unused);
  for (const PodRecord* other : gone) cluster_.CountIn(other->pod_class, node, other->terminating);
  return passes;
}

// mirrors SelectVictimsOnNode() of plugins/defaultpreemption, 1.36.
Candidate PreemptionSearch::VictimsOn(NodeInfo& node, const PodRecord& pod, api::Time now, Diagnosis& why) {
  std::vector<PodRecord*> potential = LessImportantPods(node, pod);
  if (potential.empty()) {
    why.Count(Reason::kNoVictims);
    return {};
  }
  for (const PodRecord* other : potential) cluster_.CountOut(other->pod_class, node, other->terminating);
  if (!PassesWithNominated(cluster_, pod, node, why)) {
    for (const PodRecord* other : potential) cluster_.CountIn(other->pod_class, node, other->terminating);
    return {};
  }
  const auto more_important = [&](PodRecord* a, PodRecord* b) {
    if (a->priority() != b->priority()) return a->priority() > b->priority();
    const api::Time start_a = StartOf(*a, now);
    const api::Time start_b = StartOf(*b, now);
    return start_a != start_b ? start_a < start_b : *a->name < *b->name;
  };
  std::sort(potential.begin(), potential.end(), more_important);

  // As many pods as possible are spared, first of all the ones whose budgets would be violated.
  const std::vector<bool> violating = budgets_.Violating(potential);
  Candidate out{.node = &node, .victims = {}};
  for (const bool turn : {true, false}) {
    for (std::size_t i = 0; i < potential.size(); ++i) {
      if (violating[i] != turn) continue;
      cluster_.CountIn(potential[i]->pod_class, node, potential[i]->terminating);
      Diagnosis unused;
      if (PassesWithNominated(cluster_, pod, node, unused)) continue;
      cluster_.CountOut(potential[i]->pod_class, node, potential[i]->terminating);
      out.victims.push_back(potential[i]);
      out.violations += turn ? 1 : 0;
    }
  }
  for (const PodRecord* victim : out.victims) cluster_.CountIn(victim->pod_class, node, victim->terminating);
  std::sort(out.victims.begin(), out.victims.end(), more_important);
  return out;
}

api::Time PreemptionSearch::StartOf(PodRecord& pod, api::Time now) const {
  if (pod.started) return *pod.started;
  const api::ObjectPtr object = object_of_(pod);
  if (object == nullptr) return now;
  pod.started = api::ParseTime(api::StringAt(*object->Document(), "status", "startTime"));
  return pod.started.value_or(now);
}

// mirrors pickOneNodeForPreemption() of pkg/scheduler/framework/preemption, 1.36. Of equal candidates the
// first one found is taken.
Candidate PreemptionSearch::Best(std::vector<Candidate> candidates, api::Time now) const {
  const auto cost = [&](const Candidate& candidate) {
    const std::int64_t highest = candidate.victims.front()->priority();
    std::int64_t sum = 0;
    api::Time earliest = api::Time::max();
    for (PodRecord* victim : candidate.victims) {
      sum += victim->priority() + kPriorityOffset;
      if (victim->priority() == highest) earliest = std::min(earliest, StartOf(*victim, now));
    }
    return std::tuple(candidate.violations, highest, sum, candidate.victims.size(),
                      -earliest.time_since_epoch());
  };
  std::size_t best = 0;
  auto least = cost(candidates.front());
  for (std::size_t i = 1; i < candidates.size(); ++i) {
    auto other = cost(candidates[i]);
    if (other < least) {
      least = std::move(other);
      best = i;
    }
  }
  return std::move(candidates[best]);
}

}  // namespace terrarium::kubelet_fake::scheduling

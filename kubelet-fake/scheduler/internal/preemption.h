#pragma once

// Which pods to delete so that a more important pod fits.

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "api/base/clock.h"
#include "api/base/prng.h"
#include "api/object.h"
#include "kubelet-fake/scheduler/internal/cluster.h"
#include "kubelet-fake/scheduler/internal/diagnosis.h"
#include "kubelet-fake/scheduler/internal/disruption_budgets.h"
#include "kubelet-fake/scheduler/internal/pod_record.h"

namespace terrarium::kubelet_fake::scheduling {

struct Candidate {
  NodeInfo* node = nullptr;
  std::vector<PodRecord*> victims = {};  // the most important one first
  int violations = 0;                    // victims whose deletion violates a PodDisruptionBudget
};

struct PreemptionResult {
  enum class Kind {
    kNotEligible,  // the pod may not preempt, or waits for its victims
    kNoCandidate,  // preemption would not help
    kCandidate,
  };
  Kind kind = Kind::kNoCandidate;
  std::string message = {};  // of the first two kinds
  Candidate candidate = {};
  int considered = 0;  // candidates
};

// How many candidates are enough: a tenth of the nodes, but at least 100.
std::size_t CandidatesWanted(std::size_t nodes);

// Answers for one pod at a time.
class PreemptionSearch {
 public:
  // The pod as last seen, of which only the status is read; nullptr when it is gone.
  using ObjectOf = std::function<api::ObjectPtr(const PodRecord& pod)>;

  PreemptionSearch(Cluster& cluster, const DisruptionBudgets& budgets, api::Prng& prng, ObjectOf object_of)
      : cluster_(cluster), budgets_(budgets), prng_(prng), object_of_(std::move(object_of)) {}

  // REQUIRES: no node passes the filters; `nodes` are the ones that might if other pods were gone.
  PreemptionResult Find(const PodRecord& pod, const std::vector<NodeInfo*>& nodes, api::Time now);
  // Whether a victim of an earlier preemption for the pod still terminates on its nominated node.
  bool WaitsForVictims(const PodRecord& pod) const;
  // Whether the class would pass the node's filters without all less important pods.
  bool MayHelp(const PodRecord& pod, NodeInfo& node);

 private:
  // The victims on one node; none of them when it is not a candidate, with the reasons in `why`.
  Candidate VictimsOn(NodeInfo& node, const PodRecord& pod, api::Time now, Diagnosis& why);
  std::vector<PodRecord*> LessImportantPods(const NodeInfo& node, const PodRecord& pod) const;
  api::Time StartOf(PodRecord& pod, api::Time now) const;
  // The candidate that disturbs least. REQUIRES: not empty
  Candidate Best(std::vector<Candidate> candidates, api::Time now) const;

  Cluster& cluster_;
  const DisruptionBudgets& budgets_;
  api::Prng& prng_;
  ObjectOf object_of_;
};

}  // namespace terrarium::kubelet_fake::scheduling

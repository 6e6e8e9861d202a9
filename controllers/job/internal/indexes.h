#pragma once

// Completion indexes: sets of them, which are to run next, and what marks a pod as the one of its index. Pure.
// Mirrors pkg/controller/job/indexed_job_utils.go, v1.36.

#include <cstdint>
#include <initializer_list>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "controllers/job/internal/failure_policy.h"
#include "controllers/job/internal/pod_counts.h"
#include "controllers/job/internal/pod_facts.h"

namespace terrarium::controllers::job {

// A set of indexes as few intervals, the way status.completedIndexes and status.failedIndexes hold it. Its size is
// known without counting; looking up costs by the logarithm of the number of intervals.
class IndexSet {
 public:
  struct Interval {
    int first;
    int last;
    friend bool operator==(const Interval&, const Interval&) = default;
  };

  IndexSet() = default;
  IndexSet(std::initializer_list<int> indexes);
  // In any order, repeated or not; kUnknownIndex is left out.
  static IndexSet Of(std::vector<int> indexes);
  // "0-3,5". What cannot be read is left out, and so is what lies at or beyond `completions`: an elastic Job that has
  // become smaller forgets about it.
  static IndexSet Parse(std::string_view text, int completions);

  void Insert(const IndexSet& other);
  bool Has(int index) const;
  int size() const { return size_; }
  bool empty() const { return size_ == 0; }
  // How many indexes both have.
  int SharedWith(const IndexSet& other) const;
  // "0-3,5,6": two neighbours are not a range.
  std::string String() const;
  const std::vector<Interval>& intervals() const { return intervals_; }

  friend bool operator==(const IndexSet&, const IndexSet&) = default;

 private:
  void Append(Interval interval);  // REQUIRES: it begins at or after the last one's beginning

  std::vector<Interval> intervals_;  // ascending; between two of them at least one index is missing
  int size_ = 0;
};

// The `count` lowest indexes below `completions` that are in none of `taken`: those that have succeeded, have failed
// for good, or have an active pod; and with only_replace_failed those with a terminating pod.
std::vector<int> FirstPendingIndexes(int count, int completions, std::span<const IndexSet* const> taken);

// Whether an uncounted pod has made its index fail for good: it counts as failed and by the policy fails the index, or
// its index has had as many failures before as are allowed. `verdict`: see failure_policy.h; of a Job without a policy
// the default one.
bool FailsItsIndex(const PodFacts& pod, const CountingRules& rules, const FailureVerdict& verdict,
                   std::int32_t backoff_limit_per_index);

// With backoffLimitPerIndex the last failed pod of an index keeps its finalizer until the next pod of the index is
// there, because it is the only one to know how often the index has failed. Gives that pod for each index that has
// neither succeeded nor failed nor an active pod. `pods`: all with a finalizer; others are passed over.
std::map<int, const PodFacts*> PodsKeptForTheirIndex(std::span<const PodFacts* const> pods, const CountingRules& rules,
                                                     const Uncounted& uncounted,
                                                     std::span<const IndexSet* const> settled_or_active);

// Active pods to delete, of an indexed Job: those without an index or with one beyond completions, all but one of each
// index, and from the rest as many that there are at least `at_least`. Of a Job that is not indexed
// (`completions` nullopt): just that many. In the order in which they are given up.
std::vector<const PodFacts*> PodsToRemove(std::vector<const PodFacts*> active, std::optional<int> completions,
                                          int at_least);

// What the next pod of an index is told: how often pods of the index have failed before it.
struct IndexFailures {
  std::int32_t failures = 0;
  std::int32_t ignored = 0;
  friend bool operator==(const IndexFailures&, const IndexFailures&) = default;
};
// `replaced`: the pod kept for the index, nullptr when the new one is the first. `counts`: whether that one's failure
// counts by the policy; true without one.
IndexFailures NextIndexFailures(const PodFacts* replaced, bool counts);

// metadata.generateName of a pod of that index: JOB-INDEX-, the Job's name cut so that five more letters fit.
std::string IndexedGenerateName(std::string_view job_name, int index);
// The environment variable JOB_COMPLETION_INDEX for every container that has none of that name; once per template.
void AddCompletionIndexEnv(api::Json& pod_template);
// Annotation, label and hostname of one pod of that index.
void SetCompletionIndex(api::Json& pod_template, std::string_view job_name, int index);
// The annotations that backoffLimitPerIndex counts by; the one of ignored failures only when there are any.
void SetIndexFailures(api::Json& pod_template, const IndexFailures& failures);

}  // namespace terrarium::controllers::job

#pragma once

// Completion indexes: sets of them, the choice of the next ones to run, and the fields that mark a pod's
// index. Pure. Mirrors pkg/controller/job/indexed_job_utils.go, v1.36.

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

// A set of indexes, stored as intervals like status.completedIndexes and status.failedIndexes. size() takes
// constant time; a lookup is logarithmic in the number of intervals.
class IndexSet {
 public:
  struct Interval {
    int first;
    int last;
    friend bool operator==(const Interval&, const Interval&) = default;
  };

  IndexSet() = default;
  IndexSet(std::initializer_list<int> indexes);
  // `indexes` may be unsorted and contain duplicates; kUnknownIndex is skipped.
  static IndexSet Of(std::vector<int> indexes);
  // Parses "0-3,5". Skips malformed intervals, and indexes at or above `completions`: an elastic Job that has
  // been scaled down forgets them.
  static IndexSet Parse(std::string_view text, int completions);

  void Insert(const IndexSet& other);
  bool Has(int index) const;
  int size() const { return size_; }
  bool empty() const { return size_ == 0; }
  // The size of the intersection.
  int SharedWith(const IndexSet& other) const;
  // "0-3,5,6": two adjacent indexes are not written as a range.
  std::string String() const;
  const std::vector<Interval>& intervals() const { return intervals_; }

  friend bool operator==(const IndexSet&, const IndexSet&) = default;

 private:
  void Append(Interval interval);  // REQUIRES: it starts at or after the start of the last one

  std::vector<Interval> intervals_;  // ascending, and never adjacent
  int size_ = 0;
};

// The `count` lowest indexes below `completions` that are in none of the `taken` sets. The caller passes the
// indexes that have succeeded, have failed permanently or have an active pod, and with only_replace_failed
// also those with a terminating pod.
std::vector<int> FirstPendingIndexes(int count, int completions, std::span<const IndexSet* const> taken);

// Whether an uncounted pod makes its index fail permanently: it counts as failed, and either the policy fails
// the index, or the failure counts and the index has no retries left. `verdict`: see failure_policy.h; the
// default one for a Job without a policy.
bool FailsItsIndex(const PodFacts& pod, const CountingRules& rules, const FailureVerdict& verdict,
                   std::int32_t backoff_limit_per_index);

// With backoffLimitPerIndex the last failed pod of an index keeps its finalizer until the next pod of the
// index exists, because only that pod records how often the index has failed. Returns that pod for each index
// that has neither succeeded nor failed and has no active pod. `pods` without a finalizer are skipped.
std::map<int, const PodFacts*> PodsKeptForTheirIndex(std::span<const PodFacts* const> pods,
                                                     const CountingRules& rules, const Uncounted& uncounted,
                                                     std::span<const IndexSet* const> settled_or_active);

// Active pods to delete, in the order of deletion. For an indexed Job: pods without an index or with one
// beyond completions, all but one pod of each index, and then further ones until there are at least
// `at_least`. For a Job that is not indexed (`completions` is nullopt): `at_least` pods.
std::vector<const PodFacts*> PodsToRemove(std::vector<const PodFacts*> active, std::optional<int> completions,
                                          int at_least);

// How often earlier pods of an index have failed; recorded in the annotations of its next pod.
struct IndexFailures {
  std::int32_t failures = 0;
  std::int32_t ignored = 0;
  friend bool operator==(const IndexFailures&, const IndexFailures&) = default;
};
// `replaced`: the pod kept for the index, nullptr when the new pod is the first one. `counts`: whether the
// failure of `replaced` counts under the podFailurePolicy; true without a policy.
IndexFailures NextIndexFailures(const PodFacts* replaced, bool counts);

// metadata.generateName of a pod of that index: JOB-INDEX-, with the Job's name truncated so that the five
// random characters fit.
std::string IndexedGenerateName(std::string_view job_name, int index);
// Adds the environment variable JOB_COMPLETION_INDEX to every container that has none of that name. Call it
// once per template.
void AddCompletionIndexEnv(api::Json& pod_template);
// Sets the annotation, label and hostname of a pod of that index.
void SetCompletionIndex(api::Json& pod_template, std::string_view job_name, int index);
// Sets the annotations that backoffLimitPerIndex counts by; the one for ignored failures only when there are
// any.
void SetIndexFailures(api::Json& pod_template, const IndexFailures& failures);

}  // namespace terrarium::controllers::job

#pragma once

// Running counts of the pods of one owner, so that its status costs the same for ten pods and ten thousand.
// Pure.

#include <map>
#include <optional>

#include "api/base/clock.h"
#include "controllers/replicaset/internal/pod_facts.h"

namespace terrarium::controllers::replicaset {

// The contribution of a pod to the counts of its owner.
struct PodShare {
  bool live = false;
  bool labelled = false;  // live, with all labels of the template
  bool ready = false;     // live and ready
  bool terminating = false;
  api::Time ready_since = kNoTime;

  friend bool operator==(const PodShare&, const PodShare&) = default;
};
PodShare ShareOf(const PodFacts& facts, bool selected, bool labelled);

class PodCounts {
 public:
  explicit PodCounts(api::Duration min_ready = {}) : min_ready_(min_ready) {}

  void Add(const PodShare& pod);
  // REQUIRES: added before.
  void Remove(const PodShare& pod);

  int live() const { return live_; }
  int labelled() const { return labelled_; }
  int ready() const { return ready_; }
  int terminating() const { return terminating_; }
  api::Duration min_ready() const { return min_ready_; }

  // Pods that have been ready for the minimal time. REQUIRES: `now` does not go back from call to call.
  int AvailableAt(api::Time now);
  // When the next ready pod becomes available, as of the last AvailableAt().
  std::optional<api::Time> NextAvailable() const;

 private:
  api::Duration min_ready_;
  int live_ = 0;
  int labelled_ = 0;
  int ready_ = 0;
  int terminating_ = 0;
  // Ready pods by the time since when, split at the last AvailableAt(): those ready since then or earlier are
  // available.
  api::Time split_ = api::Time::min();
  int available_ = 0;
  std::map<api::Time, int> waiting_;
};

}  // namespace terrarium::controllers::replicaset

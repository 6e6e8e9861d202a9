#pragma once

// How fast the nodes of a zone may be tainted for eviction (mirrors the zone states of
// pkg/controller/nodelifecycle).

#include <cstddef>
#include <deque>
#include <map>
#include <optional>
#include <string>

#include "api/base/clock.h"

namespace terrarium::controllers {

enum class ZoneState { kInitial, kNormal, kPartialDisruption, kFullDisruption };

struct ZoneCount {
  int ready = 0;
  int not_ready = 0;
  int size() const { return ready + not_ready; }
};

// Full disruption without a ready node; partial disruption when at least three nodes and 55% of the nodes are
// not ready.
ZoneState StateOf(const ZoneCount& count);
// Nodes per second: 0.1; in partial disruption 0.01, or 0 when the zone has 50 nodes or fewer.
double RateOf(ZoneState state, int zone_size);

// The nodes of a zone that wait for their NoExecute taint, and the token bucket of size 1 that paces them.
class TaintQueue {
 public:
  explicit TaintQueue(api::Time now);

  void Add(const std::string& node);
  void Remove(const std::string& node);
  bool Contains(const std::string& node) const;
  // 0 stops the queue. A new rate does not make up for tokens missed under the old one.
  void SetRate(double per_second, api::Time now);
  // Takes the next node that may be tainted now off the queue.
  std::optional<std::string> TryTake(api::Time now);
  // When TryTake() will return a node; nullopt: never, unless the queue or its rate changes.
  std::optional<api::Time> NextAt(api::Time now) const;

 private:
  double TokensAt(api::Time now) const;

  std::deque<std::string> waiting_;
  double rate_;
  double tokens_ = 1;
  api::Time counted_at_;
};

class Zones {
 public:
  // The zone's queue, created on first use.
  TaintQueue& QueueOf(const std::string& zone, api::Time now);
  std::map<std::string, TaintQueue>& queues() { return queues_; }

  enum class Turn {
    kNone,
    kAllDown,     // no node is ready any more: stop evictions, and cancel those in progress
    kNotAllDown,  // a node is ready again: restart every node's grace period
  };
  // Records the count of every zone that has nodes, and sets the rate of each.
  Turn Update(const std::map<std::string, ZoneCount>& counts, api::Time now);

 private:
  std::map<std::string, ZoneState> states_;
  std::map<std::string, TaintQueue> queues_;
};

}  // namespace terrarium::controllers

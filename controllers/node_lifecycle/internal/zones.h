#pragma once

// How fast the nodes of a zone may be tainted for eviction (mirrors the zone states of pkg/controller/nodelifecycle).

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

// Full without a ready node; partial when at least three and 55% of the nodes are not ready.
ZoneState StateOf(const ZoneCount& count);
// Nodes per second: 0.1, and for a zone in partial disruption 0.01, or none at all when it has 50 nodes or fewer.
double RateOf(ZoneState state, int zone_size);

// The nodes of a zone that wait for their NoExecute taint, and the bucket of one token that paces them.
class TaintQueue {
 public:
  explicit TaintQueue(api::Time now);

  void Add(const std::string& node);
  void Remove(const std::string& node);
  bool Contains(const std::string& node) const;
  // 0 stops the queue. A new rate does not make up for a token that was missing under the old one.
  void SetRate(double per_second, api::Time now);
  // The next node that may be tainted now, taken off the queue.
  std::optional<std::string> TryTake(api::Time now);
  // When TryTake() will give something; nullopt: never as things stand.
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
  // A zone's queue, made with its first node.
  TaintQueue& QueueOf(const std::string& zone, api::Time now);
  std::map<std::string, TaintQueue>& queues() { return queues_; }

  enum class Turn {
    kNone,
    kAllDown,     // nobody is ready any more: evictions stop, and those under way are to be called off
    kNotAllDown,  // somebody is ready again: what was missed meanwhile counts for nobody's silence
  };
  // Takes in the count of every zone that has nodes and sets the pace of each.
  Turn Update(const std::map<std::string, ZoneCount>& counts, api::Time now);

 private:
  std::map<std::string, ZoneState> states_;
  std::map<std::string, TaintQueue> queues_;
};

}  // namespace terrarium::controllers

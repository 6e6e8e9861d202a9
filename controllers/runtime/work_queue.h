#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "api/base/clock.h"
#include "api/base/env.h"
#include "api/object_name.h"
#include "controllers/runtime/metrics.h"

namespace terrarium::controllers {

using api::ObjectName;

// The delays of failed keys: for each key doubling from `base` to `most`; for all retries together a token
// bucket of `burst` tokens, refilled with `per_second`, as in client-go's default limiter (0: no common
// limit).
struct RetryLimits {
  api::Duration base = std::chrono::milliseconds(5);
  api::Duration most = std::chrono::seconds(1000);
  double per_second = 10;
  int burst = 100;
};

// Orders pending reconcile keys. Single-threaded: owned by one ControllerLoop. Invariant: a key is ready at
// most once, and delayed at most once besides; a key in progress that is added again is parked until Done().
class WorkQueue {
 public:
  WorkQueue(const api::Env& env, Metrics& metrics, std::string name, RetryLimits limits = {});
  ~WorkQueue();

  void Add(const ObjectName& key);
  // Makes `key` ready at now + delay; if it is delayed already, the earlier deadline wins.
  void AddAfter(const ObjectName& key, api::Duration delay);
  void AddRateLimited(const ObjectName& key);
  // The key succeeded: its next failure starts from the base delay again.
  void Forget(const ObjectName& key);
  int Requeues(const ObjectName& key) const;

  // The oldest ready key, or nullopt. Ties break by order of arrival, never by hash.
  // REQUIRES: each returned key is passed to Done() exactly once.
  std::optional<ObjectName> TryPop();
  void Done(const ObjectName& key);

  // `ready` is called whenever a key becomes ready while there was none.
  void SetReady(std::function<void()> ready);
  std::size_t depth() const;  // ready keys

 private:
  class Impl;
  std::shared_ptr<Impl> impl_;  // shared with timers, which may fire after the queue is destroyed
};

}  // namespace terrarium::controllers

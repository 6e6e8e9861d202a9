#pragma once

// When the driver tries an operation on an object: after its delay, and again after a failure, with the
// backoff of the sidecars of CSI drivers.

#include <algorithm>
#include <chrono>
#include <functional>
#include <map>
#include <string>
#include <utility>

#include "api/base/env.h"
#include "api/object.h"
#include "api/storage_v1/volume_script.h"
#include "controllers/runtime/key_timers.h"

namespace terrarium::controllers::volume_driver {

class OperationPace {
 public:
  // `retry` is called when an object's turn has come.
  OperationPace(const api::Env& env, std::function<void(const ObjectName&)> retry)
      : env_(env), timers_(env, std::move(retry)) {}

  enum class Turn { kFirst, kNow, kLater };
  // kFirst: the operation begins; its delay runs if it has one. kNow: try it. For another object of that name
  // it begins again.
  Turn Next(const api::Object& object, const api::VolumeOperation& operation) {
    Attempt& attempt = attempts_[object.name()];
    if (attempt.uid != object.header().uid) {
      attempt = {object.header().uid, env_.clock.Now() + operation.delay, 0};
      if (operation.delay > api::Duration::zero()) timers_.Set(object.name(), operation.delay);
      return Turn::kFirst;
    }
    return env_.clock.Now() < attempt.due ? Turn::kLater : Turn::kNow;
  }

  int Failures(const ObjectName& name) const {
    auto it = attempts_.find(name);
    return it == attempts_.end() ? 0 : it->second.failures;
  }

  // A failure that never ends is housekeeping: it does not keep the cluster from being idle.
  void Failed(const ObjectName& name, const api::VolumeOperation& operation) {
    Attempt& attempt = attempts_[name];
    const api::Duration backoff =
        std::min<api::Duration>(kBackoffMost, kBackoffBase * (1 << std::min(attempt.failures, 10)));
    const bool ends = operation.failures && operation.Fails(attempt.failures);
    ++attempt.failures;
    attempt.due = env_.clock.Now() + backoff + operation.delay;
    timers_.Set(name, backoff + operation.delay, ends ? api::TimerKind::kWork : api::TimerKind::kBackground);
  }

  void Forget(const ObjectName& name) {
    attempts_.erase(name);
    timers_.Cancel(name);
  }

 private:
  static constexpr std::chrono::seconds kBackoffBase{1};
  static constexpr std::chrono::seconds kBackoffMost{300};

  struct Attempt {
    std::string uid;
    api::Time due{};
    int failures = 0;
  };

  api::Env env_;
  std::map<ObjectName, Attempt> attempts_;
  KeyTimers timers_;
};

}  // namespace terrarium::controllers::volume_driver

#pragma once

// At most one timer for each key. Unlike a delayed key of a work queue, a timer can be postponed, cancelled
// or set as a background timer, so that a pointless wait does not keep the control plane from being idle.
// Single-threaded, on the lane of `env`.

#include <algorithm>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>

#include "api/base/clock.h"
#include "api/base/env.h"
#include "api/base/executor.h"
#include "api/object_name.h"

namespace terrarium::controllers {

using api::ObjectName;

class KeyTimers {
 public:
  KeyTimers(const api::Env& env, std::function<void(const ObjectName&)> fire)
      : state_(std::make_shared<State>(State{env, std::move(fire), {}, 0})) {}
  KeyTimers(const KeyTimers&) = delete;
  KeyTimers& operator=(const KeyTimers&) = delete;
  ~KeyTimers() {
    for (auto& [key, timer] : state_->timers) state_->env.executor.Cancel(timer.id);
  }

  // Fires once, `delay` from now. Replaces the key's earlier timer.
  void Set(const ObjectName& key, api::Duration delay, api::TimerKind kind = api::TimerKind::kWork) {
    api::Time due = state_->env.clock.Now() + delay;
    auto it = state_->timers.find(key);
    if (it != state_->timers.end()) {
      if (it->second.due == due && it->second.kind == kind) return;
      state_->env.executor.Cancel(it->second.id);
    } else {
      it = state_->timers.emplace(key, Timer{}).first;
    }
    Timer& timer = it->second;
    timer.due = due;
    timer.kind = kind;
    timer.serial = ++state_->serial;
    // A timer that is due may have been posted to the lane already: only the key's newest timer fires.
    timer.id = state_->env.executor.PostTimer(
        kind, delay, [weak = std::weak_ptr<State>(state_), key, serial = timer.serial] {
          auto state = weak.lock();
          if (state == nullptr) return;
          auto mine = state->timers.find(key);
          if (mine == state->timers.end() || mine->second.serial != serial) return;
          state->timers.erase(mine);
          state->fire(key);
        });
  }

  // The same, but keeps a timer that is due earlier, as a work queue does with a delayed key.
  void SetIfEarlier(const ObjectName& key, api::Duration delay, api::TimerKind kind = api::TimerKind::kWork) {
    auto it = state_->timers.find(key);
    if (it == state_->timers.end() || state_->env.clock.Now() + delay < it->second.due) Set(key, delay, kind);
  }

  // Turns a background timer into work, due at the same time.
  void MakeWork(const ObjectName& key) {
    auto it = state_->timers.find(key);
    if (it == state_->timers.end() || it->second.kind == api::TimerKind::kWork) return;
    api::Duration left = it->second.due - state_->env.clock.Now();
    Set(key, std::max(left, api::Duration::zero()), api::TimerKind::kWork);
  }

  void Cancel(const ObjectName& key) {
    auto it = state_->timers.find(key);
    if (it == state_->timers.end()) return;
    state_->env.executor.Cancel(it->second.id);
    state_->timers.erase(it);
  }

 private:
  struct Timer {
    api::TimerId id = 0;
    api::Time due{};
    api::TimerKind kind = api::TimerKind::kWork;
    std::uint64_t serial = 0;
  };
  struct State {
    api::Env env;
    std::function<void(const ObjectName&)> fire;
    std::map<ObjectName, Timer> timers;
    std::uint64_t serial;
  };
  std::shared_ptr<State> state_;
};

}  // namespace terrarium::controllers

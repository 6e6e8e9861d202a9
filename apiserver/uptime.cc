#include "apiserver/uptime.h"

#include <utility>

namespace terrarium::apiserver {

std::unique_ptr<Uptime::Listener> Uptime::OnEnd(std::function<void()> callback) {
  std::uint64_t id = 0;
  bool over = false;
  {
    std::lock_guard lock(mutex_);
    id = ++last_id_;
    over = ended();
    if (!over) callbacks_.emplace(id, std::move(callback));
  }
  if (over) callback();
  return std::make_unique<Listener>(shared_from_this(), id);
}

void Uptime::End(bool crash) {
  std::map<std::uint64_t, std::function<void()>> callbacks;
  {
    std::lock_guard lock(mutex_);
    if (ended()) return;
    state_ = crash ? State::kCrashed : State::kStopped;
    callbacks.swap(callbacks_);
  }
  for (const auto& [id, callback] : callbacks) callback();
}

void Uptime::Forget(std::uint64_t id) {
  std::function<void()> forgotten;  // what it holds is let go without the lock
  std::lock_guard lock(mutex_);
  auto found = callbacks_.find(id);
  if (found == callbacks_.end()) return;
  forgotten = std::move(found->second);
  callbacks_.erase(found);
}

}  // namespace terrarium::apiserver

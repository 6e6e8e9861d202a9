#include "apiserver/uptime.h"

#include <utility>

namespace terrarium::apiserver {

std::unique_ptr<Uptime::Listener> Uptime::OnEnd(std::function<void()> told) {
  std::uint64_t id = 0;
  bool over = false;
  {
    std::lock_guard lock(mutex_);
    id = ++last_id_;
    over = ended();
    if (!over) told_.emplace(id, std::move(told));
  }
  if (over) told();
  return std::make_unique<Listener>(shared_from_this(), id);
}

void Uptime::End(bool crash) {
  std::map<std::uint64_t, std::function<void()>> told;
  {
    std::lock_guard lock(mutex_);
    if (ended()) return;
    state_ = crash ? State::kCrashed : State::kStopped;
    told.swap(told_);
  }
  for (const auto& [id, tell] : told) tell();
}

void Uptime::Forget(std::uint64_t id) {
  std::function<void()> forgotten;  // what it holds is let go without the lock
  std::lock_guard lock(mutex_);
  auto found = told_.find(id);
  if (found == told_.end()) return;
  forgotten = std::move(found->second);
  told_.erase(found);
}

}  // namespace terrarium::apiserver

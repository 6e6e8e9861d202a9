#include "apiserver/http/deadline_queue.h"

namespace terrarium::apiserver {

void DeadlineQueue::Set(Id id, SteadyTime when) {
  auto [it, added] = due_.try_emplace(id, when);
  if (!added) {
    order_.erase({it->second, id});
    it->second = when;
  }
  order_.emplace(when, id);
}

void DeadlineQueue::Remove(Id id) {
  auto it = due_.find(id);
  if (it == due_.end()) return;
  order_.erase({it->second, id});
  due_.erase(it);
}

std::vector<DeadlineQueue::Id> DeadlineQueue::TakeDue(SteadyTime now) {
  std::vector<Id> out;
  while (!order_.empty() && order_.begin()->first <= now) {
    out.push_back(order_.begin()->second);
    due_.erase(order_.begin()->second);
    order_.erase(order_.begin());
  }
  return out;
}

std::optional<SteadyTime> DeadlineQueue::Next() const {
  if (order_.empty()) return std::nullopt;
  return order_.begin()->first;
}

}  // namespace terrarium::apiserver

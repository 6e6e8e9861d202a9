#include "kubelet-fake/kubelet/internal/pod_table.h"

#include <algorithm>

namespace terrarium::kubelet_fake {

bool Pod::IsOwn(std::int64_t revision) const {
  return std::find(own_revisions.begin(), own_revisions.end(), revision) != own_revisions.end();
}

// Example: the kubelet writes (revision 7) while a client deletes the pod (revision 6). The response comes
// first and contains both changes. The informer then delivers 6, which is older than the known object and yet
// unread, and 7, which is the kubelet's own.
bool Pod::Observe(const api::ObjectPtr& observed) {
  const std::int64_t revision = observed->revision();
  if (IsOwn(revision)) return false;
  if (revision > object->revision()) object = observed;
  if (in_flight) {
    ++events_in_flight;
    event_revision = revision;
    return false;  // Wrote() decides whose write it was
  }
  unread = true;
  return true;
}

void Pod::Wrote(const api::ObjectPtr& answer) {
  const std::int64_t revision = answer->revision();
  own_revisions[own_writes++ % own_revisions.size()] = revision;
  if (revision > object->revision()) object = answer;
  const bool echo_only = events_in_flight == 0 || (events_in_flight == 1 && event_revision == revision);
  if (!echo_only || answer->header().deleting != life->deleting()) unread = true;
}

Pod& PodTable::Add(const api::ObjectPtr& object, const std::string& node) {
  auto pod = std::make_unique<Pod>();
  pod->id = ++last_id_;
  pod->name = object->name();
  pod->node = node;
  pod->object = object;
  Pod& out = *pod;
  by_name_[out.name] = &out;
  by_node_[node][out.id] = &out;
  pods_[out.id] = std::move(pod);
  return out;
}

void PodTable::Erase(Pod& pod) {
  Schedule(pod, std::nullopt);
  by_name_.erase(pod.name);
  const auto node = by_node_.find(pod.node);
  node->second.erase(pod.id);
  if (node->second.empty()) by_node_.erase(node);
  pods_.erase(pod.id);
}

Pod* PodTable::Find(const api::ObjectName& name) const {
  const auto found = by_name_.find(name);
  return found != by_name_.end() ? found->second : nullptr;
}

Pod* PodTable::Find(std::uint64_t id) const {
  const auto found = pods_.find(id);
  return found != pods_.end() ? found->second.get() : nullptr;
}

std::vector<std::uint64_t> PodTable::OfNode(const std::string& node) const {
  std::vector<std::uint64_t> out;
  const auto found = by_node_.find(node);
  if (found == by_node_.end()) return out;
  for (const auto& [id, pod] : found->second) out.push_back(id);
  return out;
}

std::vector<std::uint64_t> PodTable::All() const {
  std::vector<std::uint64_t> out;
  for (const auto& [id, pod] : pods_) out.push_back(id);
  return out;
}

std::vector<const Pod*> PodTable::AllByName() const {
  std::vector<const Pod*> out;
  for (const auto& [name, pod] : by_name_) out.push_back(pod);
  return out;
}

void PodTable::Schedule(Pod& pod, std::optional<Time> due) {
  if (pod.due == due) return;
  if (pod.due) schedule_.erase({*pod.due, pod.id});
  pod.due = due;
  if (due) schedule_[{*due, pod.id}] = &pod;
}

std::optional<Time> PodTable::FirstDue() const {
  return schedule_.empty() ? std::nullopt : std::optional(schedule_.begin()->first.first);
}

Pod* PodTable::TakeDue(Time now) {
  if (schedule_.empty() || schedule_.begin()->first.first > now) return nullptr;
  Pod* pod = schedule_.begin()->second;
  Schedule(*pod, std::nullopt);
  return pod;
}

}  // namespace terrarium::kubelet_fake

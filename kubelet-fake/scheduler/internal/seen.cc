// Updates the scheduler's model of the cluster from informer events.

#include <utility>
#include <vector>

#include "api/core_v1/pod.h"
#include "api/json_access.h"
#include "kubelet-fake/scheduler/internal/retry_hints.h"
#include "kubelet-fake/scheduler/internal/scheduler_impl.h"

namespace terrarium::kubelet_fake {

using namespace scheduling;  // NOLINT: the parts that the scheduler is made of
using api::ObjectName;
using api::ObjectPtr;

namespace {

// A handler that does nothing after the scheduler is destroyed.
template <typename Impl>
controllers::EventHandler HandlerOf(const std::weak_ptr<Impl>& weak, void (*seen)(Impl&, const ObjectPtr&),
                                    void (*gone)(Impl&, const ObjectPtr&)) {
  return {.added =
              [weak, seen](const ObjectPtr& object) {
                if (auto self = weak.lock()) seen(*self, object);
              },
          .updated =
              [weak, seen](const ObjectPtr&, const ObjectPtr& object) {
                if (auto self = weak.lock()) seen(*self, object);
              },
          .deleted =
              [weak, gone](const ObjectPtr& object) {
                if (auto self = weak.lock()) gone(*self, object);
              }};
}

}  // namespace

void Scheduler::Impl::Watch(controllers::InformerSet& informers) {
  const std::weak_ptr<Impl> weak = weak_from_this();
  using Object = const ObjectPtr&;
  informers.For("namespaces")
      .AddHandler(HandlerOf<Impl>(
          weak, [](Impl& self, Object object) { self.cluster_.SetNamespace(object); },
          [](Impl& self, Object object) { self.cluster_.RemoveNamespace(object->header().name); }));
  informers.For("nodes").AddHandler(HandlerOf<Impl>(
      weak, [](Impl& self, Object node) { self.NodeSeen(node); },
      [](Impl& self, Object node) { self.cluster_.RemoveNode(node->header().name); }));
  informers.For("pods").AddHandler(HandlerOf<Impl>(
      weak, [](Impl& self, Object pod) { self.PodSeen(pod); },
      [](Impl& self, Object pod) { self.PodGone(pod->name()); }));
}

void Scheduler::Impl::NodeSeen(const ObjectPtr& node) {
  const auto change = cluster_.SetNode(node);
  if (!change) return;
  std::vector<PodClassPtr> helped;
  for (const auto& [number, waiting] : queue_.waiting()) {
    if (NodeMayHelp(*waiting.pod_class, change->before, change->node.facts))
      helped.push_back(waiting.pod_class);
  }
  for (const PodClassPtr& pod_class : helped) queue_.TryOneOf(*pod_class, env_.clock.Now());
  if (!helped.empty()) Wake();
}

void Scheduler::Impl::PodSeen(const ObjectPtr& pod) {
  if (api::IsPodTerminal(*pod)) return PodGone(pod->name());
  if (!api::PodNodeName(*pod).empty()) return AssignedPodSeen(pod);
  if (api::StringAt(*pod->Document(), "spec", "schedulerName") == kSchedulerName) PendingPodSeen(pod);
}

void Scheduler::Impl::AssignedPodSeen(const ObjectPtr& pod) {
  const api::ObjectHeader& header = pod->header();
  PodRecord& record = pods_[pod->name()];
  const bool same_labels = record.pod_class != nullptr && record.pod_class->wants.pod.labels == header.labels;
  const bool as_decided = record.node != nullptr && record.node->name == api::PodNodeName(*pod);
  if (as_decided && same_labels) {
    if (std::exchange(record.object, nullptr) != nullptr) NotePlaced(record.pod_class);
    return;
  }
  // The pod is new to the scheduler, bound by another client, or relabelled.
  const PodClassPtr pod_class = same_labels ? record.pod_class : cluster_.ClassOf(*pod);
  Dequeue(record);
  if (record.node != nullptr) Displace(record);
  record.object = nullptr;
  record.pod_class = pod_class;
  record.node = &cluster_.Place(pod_class, api::PodNodeName(*pod));
  NotePlaced(pod_class);
}

void Scheduler::Impl::PendingPodSeen(const ObjectPtr& pod) {
  const auto [it, is_new] = pods_.try_emplace(pod->name());
  PodRecord& record = it->second;
  record.object = pod;
  if (record.node != nullptr) {
    // The bind is in flight; the apiserver rejects it if the pod is being deleted.
    if (pod->header().deleting) Displace(record);
    return;
  }
  const PodClassPtr pod_class = cluster_.ClassOf(*pod);
  const auto document = pod->Document();
  const bool gated = !api::ListAt(*document, "spec", "schedulingGates").empty();
  if (!is_new) {
    if (record.place == QueuePlace::kNone) return;  // the scheduler has given up on it
    if (record.pod_class == pod_class && gated == (record.place == QueuePlace::kGated)) return;
  }
  queue_.Remove(record);
  record.pod_class = pod_class;
  if (gated) {
    queue_.AddGated(record);
  } else {
    queue_.Add(record);
  }
  Wake();
}

void Scheduler::Impl::PodGone(const ObjectName& name) {
  const auto it = pods_.find(name);
  if (it == pods_.end()) return;
  Dequeue(it->second);
  if (it->second.node != nullptr) Displace(it->second);
  pods_.erase(it);
}

void Scheduler::Impl::Dequeue(PodRecord& pod) {
  if (pod.place == QueuePlace::kNone) return;
  queue_.Remove(pod);
  Wake();  // for the metrics
}

void Scheduler::Impl::NoteFreed(const std::string& node, const PodClassPtr& gone) {
  if (queue_.waiting().empty()) return;
  freed_.try_emplace({node, gone->number}, gone);
  Wake();
}

void Scheduler::Impl::NotePlaced(const PodClassPtr& come) {
  // Waiting pods can only depend on a placed pod that matches an affinity term.
  if (queue_.waiting().empty() || come->matched.empty()) return;
  placed_.try_emplace(come->number, come);
  Wake();
}

void Scheduler::Impl::RetryAfterChanges() {
  if (freed_.empty() && placed_.empty()) return;
  const auto helps = [&](const PodClass& waiting) {
    for (const auto& [number, come] : placed_) {
      if (PlacedPodMayHelp(waiting, *come)) return true;
    }
    if (!freed_.empty()) cluster_.Refresh(waiting);
    for (const auto& [where, gone] : freed_) {
      if (FreedNodeMayHelp(waiting, *gone, cluster_.FindNode(where.first))) return true;
    }
    return false;
  };
  std::vector<PodClassPtr> helped;
  for (const auto& [number, waiting] : queue_.waiting()) {
    if (helps(*waiting.pod_class)) helped.push_back(waiting.pod_class);
  }
  freed_.clear();
  placed_.clear();
  for (const PodClassPtr& pod_class : helped) queue_.TryOneOf(*pod_class, env_.clock.Now());
}

}  // namespace terrarium::kubelet_fake

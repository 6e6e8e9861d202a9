// Updates the scheduler's model of the cluster from informer events.

#include <limits>
#include <map>
#include <utility>
#include <vector>

#include "api/core_v1/pod.h"
#include "api/json_access.h"
#include "kubelet-fake/scheduler/internal/filters.h"
#include "kubelet-fake/scheduler/internal/retry_hints.h"
#include "kubelet-fake/scheduler/internal/scheduler_impl.h"

namespace terrarium::kubelet_fake {

using namespace scheduling;  // NOLINT: the parts that the scheduler is made of
using api::ObjectName;
using api::ObjectPtr;
using api::StringAt;

namespace {

constexpr std::int64_t kLast = std::numeric_limits<std::int64_t>::max();  // after the number of any class

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
      [](Impl& self, Object node) { self.NodeGone(node->header().name); }));
  WatchWorkloads(informers);
  WatchVolumes(informers);
  informers.For("poddisruptionbudgets")
      .AddHandler(HandlerOf<Impl>(
          weak, [](Impl& self, Object budget) { self.budgets_.Set(budget); },
          [](Impl& self, Object budget) { self.budgets_.Remove(budget->name()); }));
  pod_informer_.AddHandler(HandlerOf<Impl>(
      weak, [](Impl& self, Object pod) { self.PodSeen(pod); },
      [](Impl& self, Object pod) { self.PodGone(pod->name()); }));
}

// For the default spread constraints.
void Scheduler::Impl::WatchWorkloads(controllers::InformerSet& informers) {
  const std::weak_ptr<Impl> weak = weak_from_this();
  informers.For("services")
      .AddHandler(HandlerOf<Impl>(
          weak, [](Impl& self, const ObjectPtr& service) { self.cluster_.SetService(service); },
          [](Impl& self, const ObjectPtr& service) { self.cluster_.RemoveService(service->name()); }));
  std::map<std::string, controllers::Informer*, std::less<>> workloads;
  for (const char* resource : {"replicasets", "statefulsets", "replicationcontrollers"}) {
    controllers::Informer& informer = informers.For(resource);
    workloads[resource] = &informer;
    informer.AddHandler({.added =
                             [weak, resource](const ObjectPtr& workload) {
                               if (auto self = weak.lock())
                                 self->cluster_.WorkloadSeen(resource, workload->name());
                             },
                         .updated = {},
                         .deleted = {}});
  }
  cluster_.SetWorkloads([workloads](std::string_view resource, const ObjectName& name) {
    const auto informer = workloads.find(resource);
    return informer == workloads.end() ? nullptr : informer->second->Get(name);
  });
}

void Scheduler::Impl::NodeSeen(const ObjectPtr& node) {
  const auto change = cluster_.SetNode(node);
  if (!change) return;
  RetryClasses(
      [&](const PodClass& waiting) { return NodeMayHelp(waiting, change->before, change->node.facts); });
  if (!change->node.nominated.empty()) RetryNominated(change->node.name);
}

void Scheduler::Impl::RetryClasses(const std::function<bool(const PodClass&)>& may_help) {
  std::vector<PodClassPtr> helped;
  for (const auto& [number, waiting] : queue_.waiting()) {
    if (may_help(*waiting.pod_class)) helped.push_back(waiting.pod_class);
  }
  for (const PodClassPtr& pod_class : helped) queue_.TryOneOf(*pod_class, env_.clock.Now());
  if (!helped.empty()) Wake();
}

void Scheduler::Impl::NodeGone(const std::string& name) {
  const NodeInfo* node = cluster_.FindNode(name);
  if (node == nullptr) return;
  const NodeFacts before = node->facts;
  cluster_.RemoveNode(name);
  RetryClasses([&](const PodClass& waiting) { return RemovedNodeMayHelp(waiting, before); });
  RetryNominated(name);
}

void Scheduler::Impl::PodSeen(const ObjectPtr& pod) {
  if (api::IsPodTerminal(*pod)) return PodGone(pod->name());
  if (!api::PodNodeName(*pod).empty()) return AssignedPodSeen(pod);
  if (StringAt(*pod->Document(), "spec", "schedulerName") == kSchedulerName) PendingPodSeen(pod);
}

void Scheduler::Impl::AssignedPodSeen(const ObjectPtr& pod) {
  const api::ObjectHeader& header = pod->header();
  const auto it = pods_.try_emplace(pod->name()).first;
  PodRecord& record = it->second;
  record.name = &it->first;
  const bool same_labels = record.pod_class != nullptr && record.pod_class->wants.pod.labels == header.labels;
  const bool as_decided = record.node != nullptr && record.node->name == api::PodNodeName(*pod);
  if (as_decided && same_labels) {
    if (header.deleting) cluster_.BeginTermination(record);
    if (std::exchange(record.object, nullptr) == nullptr) return;
    nominations_seen_.erase(pod->name());
    return NotePlaced(record.pod_class);
  }
  // The pod is new to the scheduler, bound by another client, or relabelled.
  const PodClassPtr pod_class = same_labels ? record.pod_class : cluster_.ClassOf(*pod);
  Dequeue(record);
  if (record.node != nullptr) Displace(record);
  if (record.object != nullptr) Nominate(record, "");
  nominations_seen_.erase(pod->name());
  record.object = nullptr;
  record.started.reset();
  record.pod_class = pod_class;
  cluster_.PlacePod(record, api::PodNodeName(*pod));
  if (header.deleting) cluster_.BeginTermination(record);
  NotePlaced(pod_class);
}

void Scheduler::Impl::PendingPodSeen(const ObjectPtr& pod) {
  const auto [it, is_new] = pods_.try_emplace(pod->name());
  PodRecord& record = it->second;
  record.name = &it->first;
  record.object = pod;
  if (record.node != nullptr) {
    // The bind is in flight; the apiserver rejects it if the pod is being deleted.
    if (pod->header().deleting) Displace(record);
    return;
  }
  const PodClassPtr pod_class = cluster_.ClassOf(*pod);
  const auto document = pod->Document();
  const bool gated = !api::ListAt(*document, "spec", "schedulingGates").empty();
  if (record.place == QueuePlace::kPreempting) {
    record.pod_class = pod_class;
    return NominationSeen(record, *document);
  }
  if (!is_new) {
    if (record.place == QueuePlace::kNone) return;  // the scheduler has given up on it
    if (record.pod_class == pod_class && gated == (record.place == QueuePlace::kGated))
      return NominationSeen(record, *document);
  }
  queue_.Remove(record);
  record.pod_class = pod_class;
  NominationSeen(record, *document);
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
  if (it->second.nominated != nullptr) Nominate(it->second, "");
  nominations_seen_.erase(name);
  pods_.erase(it);
}

// Other clients may nominate pods too, and withdraw nominations. An outdated state that does not have this
// scheduler's own nomination yet is not a withdrawal.
void Scheduler::Impl::NominationSeen(PodRecord& record, const api::Json& pod) {
  const std::string_view now = StringAt(pod, "status", "nominatedNodeName");
  const auto seen = nominations_seen_.find(*record.name);
  if (now == (seen == nominations_seen_.end() ? std::string_view() : seen->second)) return;
  const bool withdrawn = now.empty();
  if (withdrawn) {
    nominations_seen_.erase(seen);
  } else {
    nominations_seen_.insert_or_assign(*record.name, std::string(now));
  }
  Nominate(record, std::string(now));
  if (!withdrawn || record.place != QueuePlace::kWaiting) return;
  queue_.Try(record, env_.clock.Now());
  Wake();
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
  // Waiting pods can only depend on a placed pod that matches an affinity term or counts for spreading.
  if (queue_.waiting().empty() || (come->matched.empty() && come->spread_matched.empty())) return;
  placed_.try_emplace(come->number, come);
  Wake();
}

void Scheduler::Impl::RetryAfterChanges() {
  if (freed_.empty() && placed_.empty()) return;
  const auto helps = [&](const SchedulingQueue::WaitingClass& waiting) {
    PodClass& pod_class = *waiting.pod_class;
    for (const auto& [number, come] : placed_) {
      if (PlacedPodMayHelp(pod_class, *come)) return true;
    }
    if (freed_.empty()) return false;
    cluster_.Refresh(pod_class);
    const PodRecord& pod = **(waiting.pods.empty() ? waiting.nominated : waiting.pods).begin();
    for (const auto& [where, gone] : freed_) {
      NodeInfo* node = cluster_.FindNode(where.first);
      if (FreedNodeMayHelp(pod_class, *gone, node)) return true;
      if (node != nullptr && preemption_.MayHelp(pod, *node) && !preemption_.WaitsForVictims(pod))
        return true;
    }
    return false;
  };
  std::vector<PodClassPtr> helped;
  for (const auto& [number, waiting] : queue_.waiting()) {
    if (helps(waiting)) helped.push_back(waiting.pod_class);
  }
  for (auto freed = freed_.begin(); freed != freed_.end();
       freed = freed_.upper_bound({freed->first.first, kLast}))
    RetryNominated(freed->first.first);
  freed_.clear();
  placed_.clear();
  for (const PodClassPtr& pod_class : helped) queue_.TryOneOf(*pod_class, env_.clock.Now());
}

void Scheduler::Impl::RetryNominated(const std::string& node) {
  NodeInfo* info = cluster_.FindWithPods(node);
  if (info == nullptr) return;
  for (PodRecord* pod : info->nominated) {
    if (pod->place != QueuePlace::kWaiting) continue;
    cluster_.Refresh(*pod->pod_class);
    Diagnosis unused;
    if (info->facts.object == nullptr || PassesWithNominated(cluster_, *pod, *info, unused) ||
        !preemption_.WaitsForVictims(*pod)) {
      queue_.Try(*pod, env_.clock.Now());
      Wake();
    }
  }
}

}  // namespace terrarium::kubelet_fake

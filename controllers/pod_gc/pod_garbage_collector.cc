#include "controllers/pod_gc/pod_garbage_collector.h"

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <prometheus/counter.h>
#include <prometheus/registry.h>
#include <spdlog/spdlog.h>

#include "api/base/repeating_timer.h"
#include "api/base/task.h"
#include "api/core_v1/pod.h"
#include "api/core_v1/taint.h"
#include "api/json_access.h"
#include "controllers/pod_gc/internal/ended_pods.h"
#include "controllers/pod_gc/internal/removal.h"

namespace terrarium::controllers {
namespace {

using api::Json;
using api::Task;

constexpr api::Duration kCheckPeriod = std::chrono::seconds(20);
constexpr api::Duration kQuarantine = std::chrono::seconds(40);
constexpr const char* kPodsByNode = "spec.nodeName";

// A node that is tainted out-of-service and is not ready.
bool IsOutOfService(const Json& node) {
  bool tainted = false;
  for (const Json& taint : api::ListAt(node, "spec", "taints"))
    tainted = tainted || api::StringAt(taint, "key") == api::taint::kOutOfService;
  const Json* ready = api::FindCondition(node, "Ready");
  return tainted && (ready == nullptr || api::StringAt(*ready, "status") != "True");
}

class PodGarbageCollector final : public Controller {
 public:
  PodGarbageCollector(const ControllerContext& context, PodGcOptions options)
      : env_(context.env),
        client_(context.client),
        options_(options),
        pods_(context.informers.For("pods")),
        nodes_(context.informers.For("nodes")),
        removals_(
            prometheus::BuildCounter()
                .Name("pod_gc_collector_force_delete_pods_total")
                .Help("Number of pods that are being forcefully deleted since the Pod GC Controller started.")
                .Register(context.metrics.registry())),
        errors_(prometheus::BuildCounter()
                    .Name("pod_gc_collector_force_delete_pod_errors_total")
                    .Help("Number of errors encountered when forcefully deleting the pods since the Pod GC "
                          "Controller "
                          "started.")
                    .Register(context.metrics.registry())) {
    pods_.AddIndex(kPodsByNode, [](const api::Object& pod) {
      const std::string& node = api::PodNodeName(pod);
      return node.empty() ? std::vector<std::string>{} : std::vector{node};
    });
    pods_.AddHandler(
        {.added = [this](const ObjectPtr& pod) { PodSeen(nullptr, *pod); },
         .updated = [this](const ObjectPtr& old, const ObjectPtr& pod) { PodSeen(old.get(), *pod); },
         .deleted = [this](const ObjectPtr& pod) { PodGone(pod->name()); }});
    nodes_.AddHandler({.added = [this](const ObjectPtr& node) { NodeSeen(*node); },
                       .updated = [this](const ObjectPtr&, const ObjectPtr& node) { NodeSeen(*node); },
                       .deleted = [this](const ObjectPtr& node) { NodeGone(node->header().name); }});
  }

  ~PodGarbageCollector() override {
    for (const auto& [node, timer] : quarantine_) env_.executor.Cancel(timer);
  }

  void Start() override {
    started_ = true;
    for (const ObjectPtr& pod : pods_.List()) QuarantineIfMissing(api::PodNodeName(*pod));
    tasks_.Spawn(CheckPeriodically());
  }

 private:
  void PodSeen(const api::Object* old, const api::Object& pod) {
    ended_.Update(pod);
    const std::string& node = api::PodNodeName(pod);
    if (pod.header().deleting && node.empty()) unscheduled_.insert(pod.name());
    if (started_ && (old == nullptr || api::PodNodeName(*old) != node)) QuarantineIfMissing(node);
  }

  void PodGone(const ObjectName& pod) {
    ended_.Remove(pod);
    unscheduled_.erase(pod);
  }

  void NodeSeen(const api::Object& node) {
    const std::string& name = node.header().name;
    if (auto waiting = quarantine_.find(name); waiting != quarantine_.end()) {
      env_.executor.Cancel(waiting->second);
      quarantine_.erase(waiting);
    }
    if (IsOutOfService(*node.Document())) {
      out_of_service_.insert(name);
    } else {
      out_of_service_.erase(name);
    }
  }

  void NodeGone(const std::string& name) {
    out_of_service_.erase(name);
    if (started_ && !pods_.ByIndex(kPodsByNode, name).empty()) Quarantine(name);
  }

  void QuarantineIfMissing(const std::string& node) {
    const ObjectName name{"", node};
    if (!node.empty() && nodes_.Get(name) == nullptr) Quarantine(node);
  }

  // A node may be missing only from this view, or come back: its pods get some time.
  void Quarantine(const std::string& node) {
    if (quarantine_.contains(node)) return;
    quarantine_[node] = env_.executor.PostAfter(kQuarantine, [this, node] {
      quarantine_.erase(node);
      CollectOrphans(node);
    });
  }

  void CollectOrphans(const std::string& node) {
    const ObjectName name{"", node};
    if (auto live = client_.Get("nodes", name); live || !live.status().Is(api::reason::kNotFound)) return;
    for (const ObjectPtr& pod : pods_.ByIndex(kPodsByNode, node))
      Collect(pod->name(), RemovalReason::kOrphaned);
  }

  Task<void> CheckPeriodically() {
    while (true) {
      if (Check()) {
        co_await api::Sleep(env_.executor, kCheckPeriod, api::TimerKind::kBackground);
      } else {
        co_await api::SleepUntilRepeated(env_.executor, kCheckPeriod);
      }
    }
  }

  // Whether there may be pods to collect at the next check too.
  bool Check() {
    const std::size_t keep = options_.terminated_pod_threshold;
    const bool too_many = keep > 0 && ended_.size() > keep;
    if (too_many)
      for (const ObjectName& pod : ended_.First(ended_.size() - keep))
        Collect(pod, RemovalReason::kTerminated);
    for (const std::string& node : out_of_service_)
      for (const ObjectPtr& pod : pods_.ByIndex(kPodsByNode, node))
        if (pod->header().deleting) Collect(pod->name(), RemovalReason::kOutOfService);
    for (const ObjectName& pod : unscheduled_) Collect(pod, RemovalReason::kUnscheduled);
    return too_many || !out_of_service_.empty() || !unscheduled_.empty();
  }

  void Collect(const ObjectName& pod, RemovalReason reason) {
    if (collecting_.insert(pod).second) tasks_.Spawn(RemovePod(pod, reason));
  }

  Task<void> RemovePod(ObjectName pod, RemovalReason reason) {
    auto live = client_.Get("pods", pod);
    if (live && !HeldByFinalizersOnly(*(*live)->Document())) {
      const prometheus::Labels labels = {{"namespace", pod.ns}, {"reason", TextOf(reason)}};
      removals_.Add(labels).Increment();
      auto removed = co_await FailAndDelete(*live, reason);
      if (!removed && !removed.status().Is(api::reason::kNotFound)) {
        errors_.Add(labels).Increment();
        env_.log.error("cannot remove {} pod {}: {}", TextOf(reason), pod.String(), removed.status().message);
        if (reason == RemovalReason::kOrphaned) QuarantineIfMissing(api::PodNodeName(**live));
      }
    }
    collecting_.erase(pod);
  }

  Task<api::Result<void>> FailAndDelete(ObjectPtr pod, RemovalReason reason) {
    const ObjectName name = pod->name();
    auto patch = FailurePatch(*pod->Document(), reason, env_.gates, env_.clock.Now());
    if (patch) {
      auto failed = co_await client_.Patch("pods", name, std::move(*patch), "status");
      if (!failed) co_return failed.status();
    }
    api::DeleteRequest request;
    request.grace_period_seconds = 0;
    request.uid = pod->header().uid;
    auto deleted = co_await client_.Delete("pods", name, std::move(request));
    if (!deleted) co_return deleted.status();
    co_return api::Result<void>();
  }

  api::Env env_;
  api::Client& client_;
  PodGcOptions options_;
  Informer& pods_;
  Informer& nodes_;
  prometheus::Family<prometheus::Counter>& removals_;
  prometheus::Family<prometheus::Counter>& errors_;
  bool started_ = false;
  EndedPods ended_;
  std::set<ObjectName> unscheduled_;                // terminating, without a node
  std::set<std::string> out_of_service_;            // nodes
  std::map<std::string, api::TimerId> quarantine_;  // nodes that are missing
  std::set<ObjectName> collecting_;
  api::TaskScope tasks_;
};

}  // namespace

std::unique_ptr<Controller> MakePodGarbageCollector(const ControllerContext& context) {
  return MakePodGarbageCollector(context, {});
}

std::unique_ptr<Controller> MakePodGarbageCollector(const ControllerContext& context, PodGcOptions options) {
  return std::make_unique<PodGarbageCollector>(context, options);
}

}  // namespace terrarium::controllers

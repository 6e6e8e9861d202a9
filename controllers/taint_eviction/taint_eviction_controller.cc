#include "controllers/taint_eviction/taint_eviction_controller.h"

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <prometheus/counter.h>
#include <prometheus/histogram.h>
#include <prometheus/registry.h>
#include <spdlog/spdlog.h>

#include "api/base/feature_gates.h"
#include "api/base/task.h"
#include "api/core_v1/pod.h"
#include "api/json_access.h"
#include "controllers/taint_eviction/internal/toleration_time.h"

namespace terrarium::controllers {
namespace {

using api::Change;
using api::Duration;
using api::Json;
using api::Task;
using api::Time;

constexpr const char* kName = "taint-eviction-controller";
constexpr const char* kPodsByNode = "spec.nodeName";
constexpr int kTries = 5;
constexpr Duration kRetryAfter = std::chrono::milliseconds(10);
constexpr api::PodCondition kDisruptionTarget = {.type = "DisruptionTarget",
                                                 .status = "True",
                                                 .reason = "DeletionByTaintManager",
                                                 .message = "Taint manager: deleting due to NoExecute taint"};

class TaintEvictionController final : public Controller {
 public:
  explicit TaintEvictionController(const ControllerContext& context)
      : env_(context.env),
        client_(context.client),
        recorder_(context.recorder),
        pods_(context.informers.For("pods")),
        nodes_(context.informers.For("nodes")),
        deletions_(prometheus::BuildCounter()
                       .Name("taint_eviction_controller_pod_deletions_total")
                       .Help("Total number of Pods deleted by TaintEvictionController since its start.")
                       .Register(context.metrics.registry())
                       .Add({})),
        deletion_time_(
            prometheus::BuildHistogram()
                .Name("taint_eviction_controller_pod_deletion_duration_seconds")
                .Help("Latency, in seconds, between the time when a taint effect has been activated for the "
                      "Pod and its deletion via TaintEvictionController.")
                .Register(context.metrics.registry())
                .Add({}, prometheus::Histogram::BucketBoundaries{0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 30, 60,
                                                                 120, 180, 240})) {
    nodes_.AddHandler({.added = [this](const ObjectPtr& node) { NodeSeen(*node); },
                       .updated = [this](const ObjectPtr&, const ObjectPtr& node) { NodeSeen(*node); },
                       // What was scheduled stays so: the pods are still on their way out.
                       .deleted = [this](const ObjectPtr& node) { tainted_.erase(node->header().name); }});
    pods_.AddIndex(kPodsByNode, [](const api::Object& pod) {
      const std::string& node = api::PodNodeName(pod);
      return node.empty() ? std::vector<std::string>{} : std::vector{node};
    });
    pods_.AddHandler({.added = [this](const ObjectPtr& pod) { PodSeen(*pod); },
                      .updated =
                          [this](const ObjectPtr& old, const ObjectPtr& pod) {
                            if (ChangedHome(*old, *pod)) PodSeen(*pod);
                          },
                      .deleted = [this](const ObjectPtr& pod) { CallOff(pod->name()); }});
  }

  ~TaintEvictionController() override {
    for (const auto& [pod, eviction] : evictions_) env_.executor.Cancel(eviction.timer);
  }

  void Start() override {
    started_ = true;
    for (const ObjectPtr& node : nodes_.List()) NodeSeen(*node);
  }

 private:
  struct Eviction {
    std::string uid;
    api::TimerId timer = 0;  // 0: under way, and not to be called off any more
  };

  void NodeSeen(const api::Object& node) {
    if (!started_) return;
    const std::string& name = node.header().name;
    Json taints = NoExecuteTaints(*node.Document());
    auto known = tainted_.find(name);
    if (known == tainted_.end() ? taints.empty() : known->second == taints) return;
    if (taints.empty()) {
      tainted_.erase(known);
      for (const ObjectPtr& pod : pods_.ByIndex(kPodsByNode, name)) CallOff(pod->name());
      return;
    }
    const Json& kept = tainted_[name] = std::move(taints);
    for (const ObjectPtr& pod : pods_.ByIndex(kPodsByNode, name)) Decide(*pod, kept);
  }

  void PodSeen(const api::Object& pod) {
    if (auto tainted = tainted_.find(api::PodNodeName(pod)); tainted != tainted_.end())
      Decide(pod, tainted->second);
  }

  // Whether anything changed by which a pod's time is reckoned. Pods of nodes without taints are not parsed
  // for it.
  bool ChangedHome(const api::Object& old, const api::Object& pod) const {
    if (api::PodNodeName(old) != api::PodNodeName(pod)) return true;
    if (!tainted_.contains(api::PodNodeName(pod))) return false;
    return api::ListAt(*old.Document(), "spec", "tolerations") !=
           api::ListAt(*pod.Document(), "spec", "tolerations");
  }

  void Decide(const api::Object& pod, const Json& taints) {
    const ObjectName name = pod.name();
    const std::optional<Duration> time =
        TolerationTime(api::ListAt(*pod.Document(), "spec", "tolerations"), taints);
    if (!time) return CallOff(name);
    const bool is_immediate = *time == Duration::zero();
    if (auto known = evictions_.find(name); known != evictions_.end()) {
      // As in Kubernetes, an hour once set stands: neither a longer nor a shorter toleration moves it.
      if (known->second.timer == 0 || !is_immediate) return;
      CallOff(name);
    }
    const Time due = env_.clock.Now() + *time;
    Eviction& eviction = evictions_[name];
    eviction.uid = pod.header().uid;
    if (is_immediate) {
      tasks_.Spawn(Evict(name, eviction.uid, due));
      return;
    }
    eviction.timer = env_.executor.PostAfter(*time, [this, name, due] {
      Eviction& now_due = evictions_[name];
      now_due.timer = 0;
      tasks_.Spawn(Evict(name, now_due.uid, due));
    });
  }

  void CallOff(const ObjectName& pod) {
    auto it = evictions_.find(pod);
    if (it == evictions_.end() || it->second.timer == 0) return;
    env_.executor.Cancel(it->second.timer);
    evictions_.erase(it);
    Record(pod, "Cancelling deletion of Pod " + pod.String());
  }

  Task<void> Evict(ObjectName pod, std::string uid, Time due) {
    Record(pod, "Marking for deletion Pod " + pod.String());
    for (int tries = 1;; ++tries) {
      auto deleted = co_await MarkAndDelete(pod, uid);
      if (deleted) {
        if (*deleted == Change::kChanged) CountDeletion(due);
        break;
      }
      if (tries == kTries) {
        env_.log.error("cannot evict pod {}: {}", pod.String(), deleted.status().message);
        break;
      }
      co_await api::Sleep(env_.executor, kRetryAfter);
    }
    evictions_.erase(pod);
    // Another pod may have taken the name meanwhile, and was passed over because of this eviction.
    ObjectPtr successor = pods_.Get(pod);
    if (successor != nullptr && successor->header().uid != uid) PodSeen(*successor);
  }

  // kUnchanged: the pod is gone already.
  Task<api::Result<Change>> MarkAndDelete(ObjectName name, std::string uid) {
    auto live = client_.Get("pods", name);
    if (!live || (*live)->header().uid != uid) co_return Change::kUnchanged;
    if (env_.gates.Enabled(api::gate::kPodDisruptionConditions)) {
      auto condition = api::ConditionChange(*(*live)->Document(), kDisruptionTarget, env_.clock.Now());
      if (condition) {
        Json patch = {{"metadata", {{"uid", uid}}},
                      {"status", {{"conditions", Json::array({std::move(*condition)})}}}};
        auto marked = co_await client_.Patch("pods", name, std::move(patch), "status");
        if (!marked) co_return marked.status();
      }
    }
    api::DeleteRequest request;
    request.uid = uid;
    auto deleted = co_await client_.Delete("pods", name, std::move(request));
    if (!deleted) co_return deleted.status();
    co_return Change::kChanged;
  }

  void CountDeletion(Time due) {
    deletions_.Increment();
    deletion_time_.Observe(std::chrono::duration<double>(env_.clock.Now() - due).count());
  }

  void Record(const ObjectName& pod, std::string message) {
    // Kubernetes names the pod without a uid here.
    ObjectReference about{.api_version = "v1", .kind = "Pod", .ns = pod.ns, .name = pod.name, .uid = ""};
    recorder_.Record({.component = kName}, about, kNormal, "TaintManagerEviction", std::move(message));
  }

  api::Env env_;
  api::Client& client_;
  EventRecorder& recorder_;
  Informer& pods_;
  Informer& nodes_;
  prometheus::Counter& deletions_;
  prometheus::Histogram& deletion_time_;
  bool started_ = false;
  std::map<std::string, Json> tainted_;  // NoExecute taints by node
  std::map<ObjectName, Eviction> evictions_;
  api::TaskScope tasks_;
};

}  // namespace

std::unique_ptr<Controller> MakeTaintEvictionController(const ControllerContext& context) {
  return std::make_unique<TaintEvictionController>(context);
}

}  // namespace terrarium::controllers

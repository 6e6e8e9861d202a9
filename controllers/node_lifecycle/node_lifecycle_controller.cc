#include "controllers/node_lifecycle/node_lifecycle_controller.h"

#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <spdlog/spdlog.h>

#include "api/base/repeating_timer.h"
#include "api/base/task.h"
#include "api/core_v1/pod.h"
#include "api/json_access.h"
#include "controllers/node_lifecycle/internal/node_facts.h"
#include "controllers/node_lifecycle/internal/node_health.h"
#include "controllers/node_lifecycle/internal/node_taints.h"
#include "controllers/node_lifecycle/internal/zones.h"
#include "controllers/runtime/controller_loop.h"

namespace terrarium::controllers {
namespace {

using api::Json;
using api::Result;
using api::Task;
using api::Time;

constexpr api::Duration kMonitorPeriod = std::chrono::seconds(5);
constexpr const char* kLeaseNamespace = "kube-node-lease";
constexpr const char* kPodsByNode = "spec.nodeName";
constexpr int kTries = 5;

class NodeLifecycleController final : public Controller {
 public:
  explicit NodeLifecycleController(const ControllerContext& context)
      : env_(context.env),
        client_(context.client),
        recorder_(context.recorder),
        pods_(context.informers.For("pods")),
        node_loop_(context.env, context.metrics, {.name = "node_lifecycle_controller", .workers = 8},
                   [this](ObjectName key) { return SyncNode(std::move(key)); }),
        pod_loop_(context.env, context.metrics, {.name = "node_lifecycle_controller_pods", .workers = 4},
                  [this](ObjectName key) { return SyncPod(std::move(key)); }) {
    ListenToNodes(context.informers.For("nodes"));
    ListenToLeases(context.informers.For("leases"));
    ListenToPods();
  }

  ~NodeLifecycleController() override {
    if (taint_timer_ != 0) env_.executor.Cancel(taint_timer_);
  }

  void Start() override {
    node_loop_.Start();
    pod_loop_.Start();
    tasks_.Spawn(Monitor());
  }

 private:
  struct Node {
    ObjectPtr object;
    NodeFacts facts;
    NodeHealth health;
    bool registered = false;  // its RegisteredNode event has been recorded
  };
  using PatchOf = std::function<std::optional<Json>(const Json& node)>;

  void ListenToNodes(Informer& nodes) {
    auto seen = [this](const ObjectPtr& node) {
      Take(nodes_[node->header().name], node);
      auto document = node->Document();
      const TaintChange change = NoScheduleChange(*document);
      if (!change.add.empty() || !change.remove.empty() || LabelPatch(*document))
        node_loop_.queue().Add({"", node->header().name});
    };
    nodes.AddHandler({.added = seen,
                      .updated = [seen](const ObjectPtr&, const ObjectPtr& node) { seen(node); },
                      .deleted = [this](const ObjectPtr& node) { Forget(node->header()); }});
  }

  void ListenToLeases(Informer& leases) {
    auto seen = [this](const ObjectPtr& lease) {
      if (lease->header().ns == kLeaseNamespace) renewals_[lease->header().name] = lease->revision();
    };
    leases.AddHandler({.added = seen,
                       .updated = [seen](const ObjectPtr&, const ObjectPtr& lease) { seen(lease); },
                       .deleted =
                           [this](const ObjectPtr& lease) {
                             if (lease->header().ns == kLeaseNamespace) renewals_.erase(lease->header().name);
                           }});
  }

  // Enqueues a pod that is bound to a node which is down. Pods that were on the node before are enqueued when
  // the node goes down.
  void ListenToPods() {
    pods_.AddIndex(kPodsByNode, [](const api::Object& pod) {
      const std::string& node = api::PodNodeName(pod);
      return node.empty() ? std::vector<std::string>{} : std::vector{node};
    });
    auto bound = [this](const ObjectPtr& pod) {
      if (IsDown(api::PodNodeName(*pod))) pod_loop_.queue().Add(pod->name());
    };
    pods_.AddHandler({.added = bound,
                      .updated =
                          [bound](const ObjectPtr& old, const ObjectPtr& pod) {
                            if (api::PodNodeName(*old) != api::PodNodeName(*pod)) bound(pod);
                          },
                      .deleted = {}});
  }

  Node* Find(const std::string& name) {
    auto it = nodes_.find(name);
    return it == nodes_.end() ? nullptr : &it->second;
  }

  bool IsDown(const std::string& name) {
    const Node* node = Find(name);
    return node != nullptr && (node->facts.ready == Ready::kFalse || node->facts.ready == Ready::kUnknown);
  }

  // Keeps the newest known version.
  static void Take(Node& node, const ObjectPtr& object) {
    if (node.object != nullptr && node.object->revision() >= object->revision()) return;
    node.object = object;
    node.facts = FactsOf(*object->Document());
  }

  // The same for an object that this controller has read or written. The informer may have reported the
  // node's deletion since, so this never adds a node.
  void Learn(const ObjectPtr& object) {
    Node* node = Find(object->header().name);
    if (node != nullptr && node->object->header().uid == object->header().uid) Take(*node, object);
  }

  void Forget(const api::ObjectHeader& header) {
    Node* node = Find(header.name);
    if (node == nullptr) return;
    zones_.QueueOf(node->facts.zone, env_.clock.Now()).Remove(header.name);
    if (node->registered) removed_.emplace_back(header.name, header.uid);
    nodes_.erase(header.name);
  }

  Task<void> Monitor() {
    while (true) {
      const bool all_well = co_await CheckNodes();
      const Time checked = env_.clock.Now();
      if (all_well) {
        co_await api::SleepUntilRepeated(env_.executor, kMonitorPeriod);
      } else {
        co_await api::Sleep(env_.executor, kMonitorPeriod, api::TimerKind::kBackground);
      }
      const api::Duration skipped = env_.clock.Now() - checked - kMonitorPeriod;
      // Nodes renew no Leases while the clock skips.
      if (skipped >= kMonitorPeriod)
        for (auto& [name, node] : nodes_) node.health.LeaveOut(skipped);
    }
  }

  // Checks the cached facts of all nodes. A healthy node costs no more than a comparison. Returns whether no
  // node is late with its heartbeat or needs a write.
  Task<bool> CheckNodes() {
    const Time now = env_.clock.Now();
    bool all_well = true;
    ReportRemovedNodes();
    std::vector<std::string> wrong;
    for (auto& [name, node] : nodes_) {
      if (!std::exchange(node.registered, true))
        RecordEvent(name, node.object->header().uid, "RegisteredNode",
                    "Registered Node " + name + " in Controller");
      Observe(name, node, now);
      if (node.facts.ready != Ready::kUnknown && node.health.IsLate(now)) all_well = false;
      TaintQueue& queue = zones_.QueueOf(node.facts.zone, now);
      if (NeedsWrite(node, now)) {
        wrong.push_back(name);
      } else if (node.facts.ready == Ready::kTrue) {
        queue.Remove(name);
      }
    }
    for (const std::string& name : wrong) co_await PutRight(name);
    co_await UpdateZones();
    co_return all_well&& wrong.empty();
  }

  static bool Evicts(const NodeFacts& facts) { return facts.evicts_not_ready || facts.evicts_unreachable; }

  void Observe(const std::string& name, Node& node, Time now) {
    auto renewed = renewals_.find(name);
    node.health.Observe(node.facts, renewed == renewals_.end() ? 0 : renewed->second, now);
  }

  static bool NeedsWrite(const Node& node, Time now) {
    const NodeFacts& facts = node.facts;
    if (node.health.Silent(now) && facts.ready != Ready::kUnknown) return true;
    switch (facts.ready) {
      case Ready::kTrue: return Evicts(facts);
      case Ready::kFalse: return !facts.evicts_not_ready;
      case Ready::kUnknown: return !facts.evicts_unreachable;
      case Ready::kNone: break;
    }
    return false;
  }

  Task<void> PutRight(std::string name) {
    const Time now = env_.clock.Now();
    Node* node = Find(name);
    if (node == nullptr) co_return;
    if (node->health.Silent(now) && node->facts.ready != Ready::kUnknown) {
      co_await MarkSilent(name);
      node = Find(name);
      if (node == nullptr) co_return;
    }
    const Ready ready = node->facts.ready;
    if (ready == Ready::kNone) co_return;
    TaintQueue& queue = zones_.QueueOf(node->facts.zone, now);
    if (ready == Ready::kTrue) {
      queue.Remove(name);
    } else if (!Evicts(node->facts)) {
      queue.Add(name);  // a first taint is rate-limited; replacing one NoExecute taint by the other is not
      co_return;
    }
    co_await ChangeNoExecute(name, ready);
  }

  // On a conflict the node is read again, and may turn out to be reporting.
  Task<void> MarkSilent(std::string name) {
    for (int tries = 0; tries < kTries; ++tries) {
      Node* node = Find(name);
      if (node == nullptr || !node->health.Silent(env_.clock.Now())) co_return;
      auto silent = SilentNode(*node->object->Document(), env_.clock.Now());
      if (!silent) co_return;
      const bool was_ready = node->facts.ready == Ready::kTrue;
      auto written = co_await client_.UpdateStatus("nodes", std::move(*silent));
      if (written) {
        Learn(*written);
        if (was_ready) ReportNotReady((*written)->header());
        co_return;
      }
      if (!written.status().Is(api::reason::kConflict)) {
        env_.log.warn("cannot mark node {} as silent: {}", name, written.status().message);
        co_return;
      }
      ObjectName target{"", name};
      auto live = client_.Get("nodes", target);
      if (!live) co_return;
      Learn(*live);
      if (node = Find(name); node != nullptr) Observe(name, *node, env_.clock.Now());
    }
  }

  void ReportNotReady(const api::ObjectHeader& node) {
    recorder_.Record({.component = "node-controller"}, ReferenceToNode(node.name, node.uid), kNormal,
                     "NodeNotReady", "Node " + node.name + " status is now: NodeNotReady");
    for (const ObjectPtr& pod : pods_.ByIndex(kPodsByNode, node.name)) pod_loop_.queue().Add(pod->name());
  }

  Task<void> UpdateZones() {
    const Time now = env_.clock.Now();
    std::map<std::string, ZoneCount> counts;
    std::vector<std::string> evicting;
    for (const auto& [name, node] : nodes_) {
      if (Evicts(node.facts)) evicting.push_back(name);
      if (!node.facts.counts_for_zone) continue;
      ZoneCount& count = counts[node.facts.zone];
      ++(node.facts.ready == Ready::kTrue ? count.ready : count.not_ready);
    }
    switch (zones_.Update(counts, now)) {
      case Zones::Turn::kNone: break;
      case Zones::Turn::kAllDown:
        env_.log.info("no node is ready: evictions stop");
        for (const std::string& name : evicting) co_await ChangeNoExecute(name, Ready::kTrue);
        break;
      case Zones::Turn::kNotAllDown:
        env_.log.info("a node is ready again: evictions go on");
        for (auto& [name, node] : nodes_) node.health.RestartGracePeriod(now);
        break;
    }
    PaceTaints();
  }

  // Taints the nodes that may be tainted now, and sets a timer for the next one.
  void PaceTaints() {
    if (taint_timer_ != 0) env_.executor.Cancel(std::exchange(taint_timer_, 0));
    const Time now = env_.clock.Now();
    std::optional<Time> next;
    for (auto& [zone, queue] : zones_.queues()) {
      while (auto name = queue.TryTake(now)) {
        const Node* node = Find(*name);
        if (node != nullptr && IsDown(*name)) tasks_.Spawn(ChangeNoExecute(*name, node->facts.ready));
      }
      if (auto at = queue.NextAt(now)) next = next ? std::min(*next, *at) : *at;
    }
    if (!next) return;
    taint_timer_ = env_.executor.PostAfter(*next - now, [this] {
      taint_timer_ = 0;
      PaceTaints();
    });
  }

  // The next check of the nodes retries after a failure.
  Task<void> ChangeNoExecute(std::string name, Ready ready) {
    PatchOf patch = [change = NoExecuteChange(ready), now = env_.clock.Now()](const Json& node) {
      return TaintPatch(node, change, now);
    };
    auto changed = co_await PatchNode(name, std::move(patch));
    if (!changed) env_.log.warn("cannot taint node {}: {}", name, changed.status().message);
  }

  Task<ReconcileResult> SyncNode(ObjectName key) {
    PatchOf taints = [now = env_.clock.Now()](const Json& node) {
      return TaintPatch(node, NoScheduleChange(node), now);
    };
    auto tainted = co_await PatchNode(key.name, std::move(taints));
    if (!tainted) co_return tainted.status();
    PatchOf labels = LabelPatch;
    auto labelled = co_await PatchNode(key.name, std::move(labels));
    if (!labelled) co_return labelled.status();
    co_return Reconciled::Done();
  }

  // Patches the live node, if it exists and the patch changes anything.
  Task<Result<void>> PatchNode(std::string name, PatchOf patch_of) {
    ObjectName target{"", name};
    for (int tries = 1;; ++tries) {
      auto live = client_.Get("nodes", target);
      if (!live) co_return Result<void>();
      auto patch = patch_of(*(*live)->Document());
      if (!patch) co_return Result<void>();
      auto written = co_await client_.Patch("nodes", target, std::move(*patch));
      if (written) {
        Learn(*written);
        co_return Result<void>();
      }
      if (written.status().Is(api::reason::kNotFound)) co_return Result<void>();
      if (!written.status().Is(api::reason::kConflict) || tries == kTries) co_return written.status();
    }
  }

  // Marks a pod on a node that is down as not ready, whatever its kubelet reported last.
  Task<ReconcileResult> SyncPod(ObjectName key) {
    auto live = client_.Get("pods", key);
    if (!live || !IsDown(api::PodNodeName(**live))) co_return Reconciled::Done();
    ObjectPtr pod = *live;
    auto document = pod->Document();
    const Json* ready = api::FindCondition(*document, "Ready");
    if (ready == nullptr || api::StringAt(*ready, "status") == "False") co_return Reconciled::Done();
    Json condition = {
        {"type", "Ready"}, {"status", "False"}, {"lastTransitionTime", api::FormatTime(env_.clock.Now())}};
    Json patch = {{"metadata", {{"uid", pod->header().uid}}},
                  {"status", {{"conditions", Json::array({std::move(condition)})}}}};
    auto patched = co_await client_.Patch("pods", key, std::move(patch), "status");
    if (patched) {
      recorder_.Record({.component = "node-controller"}, ReferenceToPod(*pod), kWarning, "NodeNotReady",
                       "Node is not ready");
    } else if (!patched.status().Is(api::reason::kNotFound)) {
      co_return patched.status();
    }
    co_return Reconciled::Done();
  }

  void ReportRemovedNodes() {
    for (const auto& [name, uid] : std::exchange(removed_, {}))
      RecordEvent(name, uid, "RemovingNode", "Removing Node " + name + " from Controller");
  }

  static ObjectReference ReferenceToNode(const std::string& name, const std::string& uid) {
    return {.api_version = "v1", .kind = "Node", .ns = "", .name = name, .uid = uid};
  }

  void RecordEvent(const std::string& name, const std::string& uid, std::string_view reason,
                   const std::string& event) {
    recorder_.Record({.component = "node-controller"}, ReferenceToNode(name, uid), kNormal, reason,
                     "Node " + name + " event: " + event);
  }

  api::Env env_;
  api::Client& client_;
  EventRecorder& recorder_;
  Informer& pods_;
  std::map<std::string, Node> nodes_;
  std::map<std::string, std::int64_t> renewals_;  // revisions of the nodes' leases
  std::vector<std::pair<std::string, std::string>>
      removed_;  // name and uid of nodes whose RemovingNode event has not been recorded yet
  Zones zones_;
  api::TimerId taint_timer_ = 0;
  ControllerLoop node_loop_;
  ControllerLoop pod_loop_;
  api::TaskScope tasks_;
};

}  // namespace

std::unique_ptr<Controller> MakeNodeLifecycleController(const ControllerContext& context) {
  return std::make_unique<NodeLifecycleController>(context);
}

}  // namespace terrarium::controllers

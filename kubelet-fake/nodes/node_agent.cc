#include "kubelet-fake/nodes/node_agent.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <spdlog/spdlog.h>

#include "api/base/errors.h"
#include "api/base/prng.h"
#include "api/base/repeating_timer.h"
#include "api/base/task.h"
#include "api/core_v1/pod.h"
#include "api/json_access.h"
#include "kubelet-fake/nodes/internal/heartbeat_wheel.h"
#include "kubelet-fake/nodes/internal/node_documents.h"

namespace terrarium::kubelet_fake {
namespace {

using api::Json;
using api::ObjectName;
using api::ObjectPtr;
using api::Task;
using api::Time;

constexpr api::Duration kStatusPeriod = std::chrono::minutes(5);
constexpr const char* kLeaseNamespace = "kube-node-lease";
constexpr int kRenewTries = 3;
constexpr api::Duration kTryAgain = std::chrono::seconds(1);  // after ServiceUnavailable

bool IsReady(const Json& node) {
  const Json* ready = api::FindCondition(node, "Ready");
  return ready != nullptr && api::StringAt(*ready, "status") == "True";
}

// The time of the newest status heartbeat of a node that renews its Lease now and was due to report at `due`:
// now, or earlier if the clock has skipped it.
Time LastHeartbeat(Time due, Time now) {
  const Time first = now - (now - due) / HeartbeatWheel::kPeriod * HeartbeatWheel::kPeriod;
  return first + (now - first) / kStatusPeriod * kStatusPeriod;
}

}  // namespace

class NodeAgent::Impl : public std::enable_shared_from_this<NodeAgent::Impl> {
 public:
  Impl(const api::Env& env, api::Client& client, controllers::InformerSet& informers,
       controllers::EventRecorder& recorder, NodeAgentOptions options)
      : env_(env),
        client_(client),
        recorder_(recorder),
        options_(std::move(options)),
        informer_(informers.For("nodes")),
        wheel_(env.clock.Now()),
        next_number_(options_.nodes) {}

  ~Impl() {
    if (timer_ != 0) env_.executor.Cancel(timer_);
  }

  void Listen() {
    std::weak_ptr<Impl> weak = weak_from_this();
    informer_.AddHandler({.added =
                              [weak](const ObjectPtr& node) {
                                if (auto self = weak.lock()) self->Added(node);
                              },
                          .updated =
                              [weak](const ObjectPtr&, const ObjectPtr& node) {
                                if (auto self = weak.lock()) self->Updated(node);
                              },
                          .deleted =
                              [weak](const ObjectPtr& node) {
                                if (auto self = weak.lock()) self->Deleted(node);
                              }});
  }

  void Start() {
    started_ = true;
    options_.failed.clear();  // the remaining names have no Node object
    for (const auto& [name, node] : nodes_) TakeCareOf(name);
    for (int i = 0; i < options_.nodes; ++i)
      if (!nodes_.contains("node-" + std::to_string(i))) tasks_.Spawn(Register(i));
  }

  api::Result<api::Change> Fail(std::string_view name) {
    auto it = nodes_.find(name);
    if (it == nodes_.end()) return api::NotFound({"", "nodes"}, name);
    if (std::exchange(it->second.failed, true)) return api::Change::kUnchanged;
    Notify(it->first);
    return api::Change::kChanged;
  }

  api::Result<api::Change> Recover(std::string_view name) {
    auto it = nodes_.find(name);
    if (it == nodes_.end()) return api::NotFound({"", "nodes"}, name);
    if (!std::exchange(it->second.failed, false)) return api::Change::kUnchanged;
    tasks_.Spawn(Renew(it->first));
    tasks_.Spawn(Report(it->first, StatusReport::kRecovery));
    Notify(it->first);
    return api::Change::kChanged;
  }

  std::set<std::string> FailedNodes() const {
    std::set<std::string> failed;
    for (const auto& [name, node] : nodes_)
      if (node.failed) failed.insert(name);
    failed.insert(options_.failed.begin(), options_.failed.end());  // not seen yet
    return failed;
  }

  bool IsUp(std::string_view name) const {
    auto it = nodes_.find(name);
    return it != nodes_.end() && !it->second.failed;
  }

  std::string InternalIp(std::string_view name) const {
    auto it = nodes_.find(name);
    return it == nodes_.end() ? "" : it->second.machine.ip;
  }

  void OnChange(std::function<void(const std::string&)> changed) { changed_.push_back(std::move(changed)); }

 private:
  struct Node {
    ObjectPtr object;
    Machine machine;
    int number = 0;  // index of its address and pod range, where the agent chooses them
    bool failed = false;
    bool unschedulable = false;
    Time status_due{};
    Time heartbeat_at{};    // of the status heartbeat that is due or in flight
    Json lease;             // as last known; null: to be created
    bool renewing = false;  // at most one write of each kind is in flight
    bool reporting = false;
    std::optional<StatusReport> pending;  // requested while another report is in flight
  };

  // Call again after every co_await: the node may have been deleted or have failed meanwhile.
  Node* FindUp(const std::string& name) {
    auto it = nodes_.find(name);
    return it == nodes_.end() || it->second.failed ? nullptr : &it->second;
  }

  void Added(const ObjectPtr& object) {
    const std::string& name = object->header().name;
    auto document = object->Document();
    Node& node = nodes_[name];
    node.object = object;
    node.unschedulable = api::BoolAt(*document, "spec", "unschedulable");
    // Only the machine that failed stays down: a node created later under the same name is another machine.
    node.failed = options_.failed.erase(name) > 0;
    node.machine = {std::string(InternalIpOf(*document)), env_.prng.Uuid()};
    if (node.machine.ip.empty() || api::StringAt(*document, "spec", "podCIDR").empty()) {
      do node.number = next_number_++;
      while (addresses_.contains(NodeAddress(node.number)));
      if (node.machine.ip.empty()) node.machine.ip = NodeAddress(node.number);
    }
    addresses_.insert(node.machine.ip);
    if (started_) TakeCareOf(name);
    Notify(name);
  }

  void Updated(const ObjectPtr& object) {
    const std::string& name = object->header().name;
    auto document = object->Document();
    Node& node = nodes_[name];
    node.object = object;
    const std::string_view ip = InternalIpOf(*document);
    if (!ip.empty() && ip != node.machine.ip) {
      addresses_.erase(node.machine.ip);
      node.machine.ip = ip;
      addresses_.insert(node.machine.ip);
      Notify(name);
    }
    const bool unschedulable = api::BoolAt(*document, "spec", "unschedulable");
    if (std::exchange(node.unschedulable, unschedulable) != unschedulable && !node.failed)
      RecordStatus(name, unschedulable ? "NodeNotSchedulable" : "NodeSchedulable");
    if (started_ && !node.failed &&
        StatusPatch(*document, options_, node.machine, StatusReport::kRepair, env_.clock.Now()))
      tasks_.Spawn(Report(name, StatusReport::kRepair));
  }

  void Deleted(const ObjectPtr& object) {
    auto it = nodes_.find(object->header().name);
    if (it == nodes_.end()) return;
    const std::string name = it->first;
    addresses_.erase(it->second.machine.ip);
    wheel_.Remove(name);
    nodes_.erase(it);
    Notify(name);
  }

  void TakeCareOf(const std::string& name) {
    wheel_.Add(name);
    ScheduleBeat(env_.clock.Now());
    Node& node = nodes_.at(name);
    // A random offset spreads the heartbeats of nodes that were created together.
    node.status_due = env_.clock.Now() + kStatusPeriod / 2 +
                      api::Duration(env_.prng.Below(static_cast<std::uint64_t>(kStatusPeriod.count())));
    if (!node.failed) tasks_.Spawn(Adopt(name));
  }

  Task<void> Register(int index) {
    Machine machine{NodeAddress(index), env_.prng.Uuid()};
    Json node = InitialNode(options_, index, machine, env_.clock.Now());
    auto created = co_await client_.Create("nodes", "", node);
    while (!created && created.status().Is(api::reason::kServiceUnavailable)) {
      co_await api::Sleep(env_.executor, kTryAgain);
      created = co_await client_.Create("nodes", "", node);
    }
    if (created) {
      RecordStatus((*created)->header().name, "NodeReady");
    } else if (!created.status().Is(api::reason::kAlreadyExists)) {
      env_.log.error("cannot register node-{}: {}", index, created.status().message);
    }
  }

  Task<void> Adopt(std::string name) {
    Node* node = FindUp(name);
    if (node == nullptr) co_return;
    auto patch = AdoptionPatch(*node->object->Document(), PodRange(node->number));
    if (patch) {
      ObjectName target{"", name};
      auto patched = co_await client_.Patch("nodes", target, *patch);
      while (!patched && patched.status().Is(api::reason::kServiceUnavailable)) {
        co_await api::Sleep(env_.executor, kTryAgain);
        if (FindUp(name) == nullptr) co_return;
        patched = co_await client_.Patch("nodes", target, *patch);
      }
      if (!patched) env_.log.warn("cannot complete node {}: {}", name, patched.status().message);
    }
    co_await Report(name, StatusReport::kRepair);
    co_await Renew(name);
  }

  Task<void> Report(std::string name, StatusReport report) {
    Node* node = FindUp(name);
    if (node == nullptr) co_return;
    if (node->reporting) {
      node->pending = std::max(node->pending.value_or(report), report);
      co_return;
    }
    node->reporting = true;
    for (std::optional<StatusReport> next = report; next;) {
      co_await WriteStatus(name, *next);
      node = FindUp(name);
      if (node == nullptr) break;
      next = std::exchange(node->pending, std::nullopt);
    }
    if (auto it = nodes_.find(name); it != nodes_.end()) it->second.reporting = false;
  }

  Task<void> WriteStatus(std::string name, StatusReport report) {
    ObjectName target{"", name};
    auto live = client_.Get("nodes", target);
    if (!live) {
      // The next heartbeat retries.
      if (live.status().Is(api::reason::kServiceUnavailable)) nodes_.at(name).status_due = AfterNow();
      co_return;
    }
    auto document = (*live)->Document();
    const Node& reporting = nodes_.at(name);
    const Time at = report == StatusReport::kHeartbeat ? reporting.heartbeat_at : env_.clock.Now();
    auto patch = StatusPatch(*document, options_, reporting.machine, report, at);
    if (!patch) co_return;
    const bool was_ready = IsReady(*document);
    auto patched = co_await client_.Patch("nodes", std::move(target), std::move(*patch), "status");
    if (!patched) {
      env_.log.warn("cannot report the status of node {}: {}", name, patched.status().message);
      if (Node* node = FindUp(name)) node->status_due = AfterNow();
    } else if (!was_ready && IsReady(*(*patched)->Document())) {
      RecordStatus(name, "NodeReady");
    }
  }

  // A report that is due then is dated by the next heartbeat.
  Time AfterNow() const { return env_.clock.Now() + api::Duration(1); }

  Task<void> Renew(std::string name) {
    Node* node = FindUp(name);
    if (node == nullptr || std::exchange(node->renewing, true)) co_return;
    bool again = true;
    for (int tries = 0; again && tries < kRenewTries; ++tries) again = co_await WriteLease(name);
    if (auto it = nodes_.find(name); it != nodes_.end()) it->second.renewing = false;
  }

  // True: the agent's copy of the Lease was outdated and has been updated; the caller may try again.
  Task<bool> WriteLease(std::string name) {
    Node* node = FindUp(name);
    if (node == nullptr) co_return false;
    const bool exists = !node->lease.is_null();
    api::WriteRequest request;
    request.verb = exists ? api::WriteRequest::Verb::kUpdate : api::WriteRequest::Verb::kCreate;
    request.resource = "leases";
    request.object.ns = kLeaseNamespace;
    if (exists) request.object.name = name;
    request.body = LeaseOf(*node->object, node->lease, env_.clock.Now());
    // An earlier agent renewed it at this very instant, which is possible with a virtual clock.
    if (request.body == node->lease) co_return false;
    auto written = co_await client_.Sent(std::move(request));
    node = FindUp(name);
    if (node == nullptr) co_return false;
    if (written) {
      if (node->lease.is_null()) node->lease = (*written)->Parse();
      node->lease["metadata"]["resourceVersion"] = std::to_string((*written)->revision());
      co_return false;
    }
    const api::Status& status = written.status();
    if (!status.Is(api::reason::kNotFound) && !status.Is(api::reason::kConflict) &&
        !status.Is(api::reason::kAlreadyExists)) {
      env_.log.warn("cannot renew the lease of node {}: {}", name, status.message);
      co_return false;
    }
    ObjectName lease{kLeaseNamespace, name};
    auto live = client_.Get("leases", lease);
    node->lease = live ? (*live)->Parse() : Json();
    co_return true;
  }

  void ScheduleBeat(Time after) {
    std::optional<Time> next = wheel_.NextDue(after);
    if (timer_ != 0) {
      if (next && *next >= beat_at_) return;
      env_.executor.Cancel(timer_);
      timer_ = 0;
    }
    if (!next) return;
    beat_at_ = *next;
    timer_ = api::PostRepeating(env_.executor, HeartbeatWheel::kSlot, *next - env_.clock.Now(),
                                [weak = weak_from_this()] {
                                  if (auto self = weak.lock()) self->Beat();
                                });
  }

  void Beat() {
    timer_ = 0;
    const Time now = env_.clock.Now();
    // Heartbeats that the clock has skipped, or that are late by more than a full period, are left out.
    if (now - beat_at_ >= HeartbeatWheel::kPeriod)
      beat_at_ += (now - beat_at_) / HeartbeatWheel::kSlot * HeartbeatWheel::kSlot;
    for (const std::string& name : wheel_.DueAt(beat_at_)) {
      Node* node = FindUp(name);
      if (node == nullptr) continue;
      tasks_.Spawn(Renew(name));
      if (now < node->status_due) continue;
      node->heartbeat_at = LastHeartbeat(node->status_due, now);
      node->status_due = node->heartbeat_at + kStatusPeriod;
      tasks_.Spawn(Report(name, StatusReport::kHeartbeat));
    }
    ScheduleBeat(beat_at_);
  }

  void RecordStatus(const std::string& name, std::string_view reason) {
    // The kubelet refers to its node without a uid.
    controllers::ObjectReference about{
        .api_version = "v1", .kind = "Node", .ns = "", .name = name, .uid = ""};
    recorder_.Record({.component = "kubelet", .host = name}, about, controllers::kNormal, reason,
                     "Node " + name + " status is now: " + std::string(reason));
  }

  void Notify(const std::string& name) {
    for (const auto& changed : changed_) changed(name);
  }

  api::Env env_;
  api::Client& client_;
  controllers::EventRecorder& recorder_;
  NodeAgentOptions options_;
  controllers::Informer& informer_;
  bool started_ = false;
  std::map<std::string, Node, std::less<>> nodes_;
  std::set<std::string> addresses_;
  HeartbeatWheel wheel_;
  int next_number_;
  api::TimerId timer_ = 0;
  Time beat_at_{};
  std::vector<std::function<void(const std::string&)>> changed_;
  api::TaskScope tasks_;
};

NodeAgent::NodeAgent(const api::Env& env, api::Client& client, controllers::InformerSet& informers,
                     controllers::EventRecorder& recorder, NodeAgentOptions options)
    : impl_(std::make_shared<Impl>(env, client, informers, recorder, std::move(options))) {
  impl_->Listen();
}
NodeAgent::~NodeAgent() = default;

void NodeAgent::Start() { impl_->Start(); }
api::Result<api::Change> NodeAgent::Fail(std::string_view name) { return impl_->Fail(name); }
api::Result<api::Change> NodeAgent::Recover(std::string_view name) { return impl_->Recover(name); }
std::set<std::string> NodeAgent::FailedNodes() const { return impl_->FailedNodes(); }
bool NodeAgent::IsUp(std::string_view node) const { return impl_->IsUp(node); }
std::string NodeAgent::InternalIp(std::string_view node) const { return impl_->InternalIp(node); }
void NodeAgent::OnChange(std::function<void(const std::string&)> changed) {
  impl_->OnChange(std::move(changed));
}

}  // namespace terrarium::kubelet_fake

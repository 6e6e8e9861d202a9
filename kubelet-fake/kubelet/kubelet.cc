#include "kubelet-fake/kubelet/kubelet.h"

#include <algorithm>
#include <utility>

#include <spdlog/logger.h>

#include "api/base/executor.h"
#include "api/base/feature_gates.h"
#include "api/core_v1/pod.h"
#include "api/json_access.h"
#include "kubelet-fake/kubelet/container_runtime.h"
#include "kubelet-fake/kubelet/internal/address_pool.h"
#include "kubelet-fake/kubelet/internal/container_contents.h"
#include "kubelet-fake/kubelet/internal/pod_table.h"

namespace terrarium::kubelet_fake {
namespace {

constexpr Duration kFirstRetry = std::chrono::seconds(1);
constexpr Duration kLongestRetry = std::chrono::minutes(1);

Duration RetryDelay(int failures) {
  return std::min(kLongestRetry, kFirstRetry * (1 << std::min(failures - 1, 6)));
}

}  // namespace

// Process() handles one pod: it reads a changed document, advances the pod one step and writes the resulting
// status. The response to the write calls Process() again. So each pod has at most one write in flight, and
// each write is computed from the newest state.
class Kubelet::Impl : public PodHost, public std::enable_shared_from_this<Impl> {
 public:
  Impl(const api::Env& env, api::Client& client, controllers::EventRecorder& recorder, NodeView& nodes,
       KubeletOptions options)
      : env_(env),
        client_(client),
        recorder_(recorder),
        nodes_(nodes),
        defaults_(std::make_shared<const api::PodScript>(std::move(options.defaults))),
        record_events_(options.events),
        book_(options.rule_book ? options.rule_book : std::make_shared<RuleBook>()),
        containers_(options.containers ? options.containers : std::make_shared<ContainerRuntime>()),
        rules_(*book_, *this) {}
  ~Impl() override {
    if (timer_) env_.executor.Cancel(*timer_);
  }

  void Register(controllers::Informer& pods);
  void Start();
  // Hands the pods' state over to the container runtime, for the next kubelet.
  void Leave();
  PodRules& rules() { return rules_; }

  api::ObjectPtr FindPod(const api::ObjectName& name) const override;
  std::vector<api::ObjectPtr> AllPods() const override;
  api::HoldPoints HeldAt(const api::ObjectName& name) const override;
  void Redirect(const api::ObjectName& name) override;
  void RedirectAll() override;
  bool Crash(const api::ObjectName& name, const CrashOrder& order) override;
  bool Fail(const api::ObjectName& name, const FailOrder& order) override;
  bool Evict(const api::ObjectName& name, const std::string& message) override;

 private:
  void PodChanged(const api::ObjectPtr& object);
  void Gone(const api::ObjectPtr& object);
  void NodeChanged(const std::string& node);

  void Process(Pod& pod);
  void Read(Pod& pod, Time now);
  void Meet(Pod& pod, const Json& document, Time now);
  void Direct(Pod& pod, Time now);
  void RecordEvents(Pod& pod);
  void FreeAddress(Pod& pod);
  void Write(Pod& pod, Json patch);
  void Remove(Pod& pod);
  void Send(Pod& pod, api::WriteRequest request);
  void Answered(std::uint64_t id, const api::Client::Written& written);
  void Failed(Pod& pod, const api::Status& status);
  // The pod, read and ready to take orders; nullptr: there is no such pod.
  Pod* Reachable(const api::ObjectName& name);

  void Schedule(Pod& pod, std::optional<Time> due);
  void SetTimer();
  void TimerFired();
  LifeGates Gates() const;

  const api::Env env_;
  api::Client& client_;
  controllers::EventRecorder& recorder_;
  const controllers::Informer* informer_ = nullptr;
  NodeView& nodes_;
  const std::shared_ptr<const api::PodScript> defaults_;
  const bool record_events_;
  std::shared_ptr<RuleBook> book_;
  std::shared_ptr<ContainerRuntime> containers_;
  PodRules rules_;

  bool started_ = false;
  PodTable pods_;
  AddressPool addresses_;
  // One timer for all pods, set for the earliest due time.
  std::optional<api::TimerId> timer_;
  std::optional<Time> timer_due_;
};

void Kubelet::Impl::Register(controllers::Informer& pods) {
  informer_ = &pods;
  controllers::EventHandler handler;
  handler.added = [weak = weak_from_this()](const api::ObjectPtr& object) {
    if (auto self = weak.lock()) self->PodChanged(object);
  };
  handler.updated = [weak = weak_from_this()](const api::ObjectPtr&, const api::ObjectPtr& object) {
    if (auto self = weak.lock()) self->PodChanged(object);
  };
  handler.deleted = [weak = weak_from_this()](const api::ObjectPtr& object) {
    if (auto self = weak.lock()) self->Gone(object);
  };
  pods.AddHandler(std::move(handler));
  nodes_.OnChange([weak = weak_from_this()](const std::string& node) {
    if (auto self = weak.lock()) self->NodeChanged(node);
  });
}

// Reads all existing pods first, so that no new pod gets an address that an existing pod has.
void Kubelet::Impl::Start() {
  started_ = true;
  const std::vector<std::uint64_t> all = pods_.All();
  for (const std::uint64_t id : all) Read(*pods_.Find(id), env_.clock.Now());
  for (const std::uint64_t id : all) {
    if (Pod* pod = pods_.Find(id)) Process(*pod);
  }
  containers_->contents().left.clear();  // the pods of the remaining entries no longer exist
}

void Kubelet::Impl::Leave() {
  for (const std::uint64_t id : pods_.All()) {
    Pod& pod = *pods_.Find(id);
    if (pod.life) containers_->contents().Leave(std::move(*pod.life));
    pod.life.reset();
  }
  started_ = false;
}

void Kubelet::Impl::PodChanged(const api::ObjectPtr& object) {
  const std::string& node = api::PodNodeName(*object);
  if (node.empty()) return;
  Pod* pod = pods_.Find(object->name());
  if (pod == nullptr) {
    pod = &pods_.Add(object, node);
  } else if (!pod->Observe(object)) {
    return;
  }
  Process(*pod);
}

void Kubelet::Impl::Gone(const api::ObjectPtr& object) {
  Pod* pod = pods_.Find(object->name());
  if (pod == nullptr) return;
  FreeAddress(*pod);
  book_->Forget(pod->object->header().uid);
  containers_->contents().logs.Forget(pod->name, env_.clock.Now());
  containers_->contents().usage.Forget(pod->name);
  pods_.Erase(*pod);
  SetTimer();
}

void Kubelet::Impl::NodeChanged(const std::string& node) {
  for (const std::uint64_t id : pods_.OfNode(node)) {
    Pod* pod = pods_.Find(id);
    if (pod == nullptr) continue;
    pod->unread = true;  // other clients may have written to the pods while the node was down
    Process(*pod);
  }
}

void Kubelet::Impl::Process(Pod& pod) {
  if (!started_ || pod.in_flight || pod.removal_sent) return;
  if (!nodes_.IsUp(pod.node)) return Schedule(pod, std::nullopt);
  for (;;) {
    const Time now = env_.clock.Now();
    if (pod.retry_at && now < *pod.retry_at) return Schedule(pod, std::nullopt);
    if (pod.unread) Read(pod, now);
    pod.life->Advance(now, Gates());
    RecordEvents(pod);
    if (pod.life->over()) FreeAddress(pod);
    const bool doubt = std::exchange(pod.doubt, false);
    Json patch = doubt ? pod.life->TakePatchAgainst(*pod.object->Document()) : pod.life->TakePatch();
    if (!patch.is_null()) return Write(pod, std::move(patch));
    if (pod.life->WantsRemoval()) return Remove(pod);
    const std::optional<Time> next = pod.life->Next(now);
    if (!next || *next > now) return Schedule(pod, next);
  }
}

// Reads a document that is new or that other clients have changed.
void Kubelet::Impl::Read(Pod& pod, Time now) {
  pod.unread = false;
  const std::shared_ptr<const Json> document = pod.object->Document();
  const Json& annotations = api::ObjectAt(*document, "metadata", "annotations");
  pod.own_script.reset();
  if (api::HasPodScript(annotations)) {
    auto script = std::make_shared<api::PodScript>();
    const api::FieldErrors errors = api::ParsePodScript(annotations, api::ObjectAt(*document, "spec"),
                                                        api::Path("annotations"), script.get());
    // Admission rejects invalid scripts. Those stored before admission checked them are logged, and the
    // invalid fields ignored.
    for (const api::FieldError& error : errors) {
      env_.log.warn("pod {}: {}: {}", pod.name.String(), error.field, error.message);
    }
    pod.own_script = std::move(script);
  }
  if (!pod.life) return Meet(pod, *document, now);
  pod.life->Observe(*document, now);
  Direct(pod, now);
  if (!pod.life->AgreesWith(*document)) pod.doubt = true;
}

void Kubelet::Impl::Meet(Pod& pod, const Json& document, Time now) {
  if (std::optional<PodLife> left = containers_->contents().TakeUp(pod.object->header().uid)) {
    pod.life = std::move(left);
    pod.life->Observe(document, now);
    pod.doubt = true;  // the earlier kubelet may have left changes unreported
  } else {
    pod.life.emplace(document, now);
  }
  Direct(pod, now);
  if (pod.life->NeedsAddresses()) {
    pod.has_address = !pod.life->on_host_network();
    std::string own = pod.has_address ? addresses_.Take(pod.node) : "";
    pod.life->SetAddresses(nodes_.InternalIp(pod.node), std::move(own));
  } else if (!pod.life->over() && !pod.life->on_host_network()) {
    pod.has_address = true;
    addresses_.Reserve(pod.node, pod.life->pod_ip());
  }
  LogBook& logs = containers_->contents().logs;
  for (PastRun& past : pod.life->PastRuns()) logs.Begin(pod.name, std::move(past.run), past.finished);
}

void Kubelet::Impl::Direct(Pod& pod, Time now) {
  PodDirections directions = book_->Directions(pod.object->header(), defaults_, pod.own_script.get());
  containers_->contents().usage.Set(pod.name, directions.script);
  pod.life->Direct(std::move(directions), now);
}

void Kubelet::Impl::RecordEvents(Pod& pod) {
  LogBook& logs = containers_->contents().logs;
  // Ends come before starts: a container may end and restart in one step.
  for (const ContainerEnd& end : pod.life->TakeEnds()) logs.End(pod.name, end.container, end.finished);
  for (PodEvent& event : pod.life->TakeEvents()) {
    if (event.reason == "Started") logs.Begin(pod.name, pod.life->RunOf(event.container));
    if (!record_events_) continue;
    controllers::ObjectReference about = controllers::ReferenceToPod(*pod.object);
    about.field_path = std::move(event.field_path);
    recorder_.Record({.component = "kubelet", .host = pod.node}, about, event.type, event.reason,
                     std::move(event.message));
  }
}

void Kubelet::Impl::FreeAddress(Pod& pod) {
  if (std::exchange(pod.has_address, false)) addresses_.Free(pod.life->pod_ip());
}

void Kubelet::Impl::Write(Pod& pod, Json patch) {
  Send(pod, {.verb = api::WriteRequest::Verb::kPatch,
             .resource = "pods",
             .object = pod.name,
             .subresource = "status",
             .body = std::move(patch),
             .patch = api::PatchKind::kStrategic});
}

void Kubelet::Impl::Remove(Pod& pod) {
  pod.removal_sent = true;
  Json options = {{"gracePeriodSeconds", 0}, {"preconditions", {{"uid", pod.life->uid()}}}};
  Send(pod, {.verb = api::WriteRequest::Verb::kDelete,
             .resource = "pods",
             .object = pod.name,
             .subresource = "",
             .body = std::move(options)});
}

void Kubelet::Impl::Send(Pod& pod, api::WriteRequest request) {
  Schedule(pod, std::nullopt);
  pod.in_flight = true;
  pod.events_in_flight = 0;
  client_.Send(std::move(request),
               [weak = weak_from_this(), id = pod.id](const api::Client::Written& written) {
                 if (auto self = weak.lock()) self->Answered(id, written);
               });
}

void Kubelet::Impl::Answered(std::uint64_t id, const api::Client::Written& written) {
  Pod* pod = pods_.Find(id);
  if (pod == nullptr) return;
  pod->in_flight = false;
  if (!written) return Failed(*pod, written.status());
  pod->failures = 0;
  pod->retry_at.reset();
  pod->Wrote(*written);
  Process(*pod);
}

void Kubelet::Impl::Failed(Pod& pod, const api::Status& status) {
  pod.removal_sent = false;
  pod.unread = pod.doubt = true;
  // The pod is gone, or another pod has its name: the informer will report it.
  if (status.Is(api::reason::kNotFound) || status.Is(api::reason::kConflict)) return;
  env_.log.warn("pod {}: {}", pod.name.String(), status.message);
  // A background timer, so that a write that the apiserver keeps rejecting does not prevent the control plane
  // from being idle. After ServiceUnavailable the write was not rejected: the retry counts as work.
  const bool unavailable = status.Is(api::reason::kServiceUnavailable);
  const Duration delay = RetryDelay(++pod.failures);
  pod.retry_at = env_.clock.Now() + delay;
  const api::TimerKind kind = unavailable ? api::TimerKind::kWork : api::TimerKind::kBackground;
  env_.executor.PostTimer(kind, delay, [weak = weak_from_this(), name = pod.name] {
    auto self = weak.lock();
    if (Pod* again = self == nullptr ? nullptr : self->pods_.Find(name)) self->Process(*again);
  });
  Process(pod);
}

Pod* Kubelet::Impl::Reachable(const api::ObjectName& name) {
  Pod* pod = pods_.Find(name);
  if (pod != nullptr && !pod->life) Read(*pod, env_.clock.Now());
  return pod;
}

api::ObjectPtr Kubelet::Impl::FindPod(const api::ObjectName& name) const {
  const Pod* pod = pods_.Find(name);
  // Pods can be held before they have a node.
  return pod != nullptr ? pod->object : informer_->Get(name);
}

std::vector<api::ObjectPtr> Kubelet::Impl::AllPods() const {
  std::vector<api::ObjectPtr> out;
  for (const Pod* pod : pods_.AllByName()) out.push_back(pod->object);
  return out;
}

api::HoldPoints Kubelet::Impl::HeldAt(const api::ObjectName& name) const {
  const Pod* pod = pods_.Find(name);
  return pod != nullptr && pod->life ? pod->life->HeldAt() : api::HoldPoints{};
}

void Kubelet::Impl::Redirect(const api::ObjectName& name) {
  Pod* pod = Reachable(name);
  if (pod == nullptr) return;
  Direct(*pod, env_.clock.Now());
  Process(*pod);
}

void Kubelet::Impl::RedirectAll() {
  for (const std::uint64_t id : pods_.All()) {
    Pod* pod = pods_.Find(id);
    if (pod == nullptr || !pod->life) continue;
    Direct(*pod, env_.clock.Now());
    Process(*pod);
  }
}

bool Kubelet::Impl::Crash(const api::ObjectName& name, const CrashOrder& order) {
  Pod* pod = Reachable(name);
  if (pod == nullptr || !pod->life->Crash(order, env_.clock.Now())) return false;
  Process(*pod);
  return true;
}

bool Kubelet::Impl::Fail(const api::ObjectName& name, const FailOrder& order) {
  Pod* pod = Reachable(name);
  if (pod == nullptr || !pod->life->Fail(order, env_.clock.Now())) return false;
  Process(*pod);
  return true;
}

bool Kubelet::Impl::Evict(const api::ObjectName& name, const std::string& message) {
  Pod* pod = Reachable(name);
  if (pod == nullptr || !pod->life->Evict(message, env_.clock.Now())) return false;
  Process(*pod);
  return true;
}

void Kubelet::Impl::Schedule(Pod& pod, std::optional<Time> due) {
  pods_.Schedule(pod, due);
  SetTimer();
}

void Kubelet::Impl::SetTimer() {
  const std::optional<Time> due = pods_.FirstDue();
  if (due == timer_due_) return;
  if (timer_) env_.executor.Cancel(*timer_);
  timer_.reset();
  timer_due_ = due;
  if (!due) return;
  const Duration delay = std::max(*due - env_.clock.Now(), Duration::zero());
  timer_ = env_.executor.PostAfter(delay, [weak = weak_from_this()] {
    if (auto self = weak.lock()) self->TimerFired();
  });
}

void Kubelet::Impl::TimerFired() {
  timer_.reset();
  timer_due_.reset();
  while (Pod* pod = pods_.TakeDue(env_.clock.Now())) Process(*pod);
  SetTimer();
}

// With either gate the kubelet reports a terminal phase before it removes the pod (KEP-3939).
LifeGates Kubelet::Impl::Gates() const {
  const bool disruption = env_.gates.Enabled(api::gate::kPodDisruptionConditions);
  return {
      .terminal_phase_before_removal = disruption || env_.gates.Enabled(api::gate::kJobPodReplacementPolicy),
      .disruption_conditions = disruption};
}

Kubelet::Kubelet(const api::Env& env, api::Client& client, controllers::InformerSet& informers,
                 controllers::EventRecorder& recorder, NodeView& nodes, KubeletOptions options)
    : impl_(std::make_shared<Impl>(env, client, recorder, nodes, std::move(options))) {
  impl_->Register(informers.For("pods"));
}

Kubelet::~Kubelet() { impl_->Leave(); }

void Kubelet::Start() { impl_->Start(); }

PodRules& Kubelet::rules() { return impl_->rules(); }

}  // namespace terrarium::kubelet_fake

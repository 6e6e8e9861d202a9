#include "testbed/invariants/monitor.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "api/base/check.h"
#include "api/forwarding_client.h"
#include "testbed/invariants/daemon_pods.h"
#include "testbed/invariants/deployment_bound.h"
#include "testbed/invariants/deployment_status.h"
#include "testbed/invariants/job_counts.h"
#include "testbed/invariants/job_pods.h"
#include "testbed/invariants/replica_status.h"
#include "testbed/invariants/stateful_order.h"

namespace terrarium::testbed::invariants {
namespace {

// The monitor catches up after every request of a component; only a test's own writes can accumulate.
constexpr std::size_t kBufferEvents = 1'000'000;
constexpr std::size_t kEventsPerTake = 1'000;

// kUnknown: the controllers write the counter, but the apiserver drops it unless the stored object has it.
TerminatingCounts TerminatingIn(const Conduct& conduct) {
  constexpr std::string_view kGate = api::gate::kDeploymentReplicaSetTerminatingReplicas;
  if (!conduct.controller_manager.Enabled(kGate)) return TerminatingCounts::kAbsent;
  return conduct.apiserver.Enabled(kGate) ? TerminatingCounts::kReported : TerminatingCounts::kUnknown;
}

std::vector<std::unique_ptr<Rule>> RulesFor(const MonitorOptions& options) {
  std::vector<std::unique_ptr<Rule>> rules;
  auto runs = [&options](const char* controller) { return options.controllers.contains(controller); };
  const TerminatingCounts terminating = TerminatingIn(options.conduct);
  ReplicaStatusOptions status;
  if (runs("replicaset-controller")) status.resources.insert("replicasets");
  if (runs("replicationcontroller-controller")) status.resources.insert("replicationcontrollers");
  status.terminating = terminating;
  if (!status.resources.empty()) rules.push_back(MakeReplicaStatus(std::move(status), options.on_violation));
  if (runs("deployment-controller")) rules.push_back(MakeDeploymentStatus(terminating, options.on_violation));
  if (runs("deployment-controller") && runs("replicaset-controller") &&
      terminating == TerminatingCounts::kReported &&
      options.conduct.controller_manager.Enabled(api::gate::kDeploymentPodReplacementPolicy) &&
      options.conduct.apiserver.Enabled(api::gate::kDeploymentPodReplacementPolicy))
    rules.push_back(MakeDeploymentBound(options.on_violation));
  if (runs("daemonset-controller")) rules.push_back(MakeDaemonPods(options.on_violation));
  if (runs("job-controller")) {
    const api::FeatureGates& on = options.conduct.controller_manager;
    const JobGates gates{.replacement_policy = on.Enabled(api::gate::kJobPodReplacementPolicy),
                         .managed_by = on.Enabled(api::gate::kJobManagedBy)};
    rules.push_back(MakeJobPods(gates, options.on_violation));
    rules.push_back(MakeJobCounts(gates, options.on_violation));
  }
  if (runs("statefulset-controller")) rules.push_back(MakeStatefulOrder(options.on_violation));
  return rules;
}

}  // namespace

// Reports to the monitor which component writes, and the outcome.
class Monitor::WatchedClient : public api::ForwardingClient {
 public:
  WatchedClient(Monitor& monitor, std::unique_ptr<api::Client> client, std::string component)
      : ForwardingClient(std::move(client)), monitor_(monitor), component_(std::move(component)) {}

  void Send(api::WriteRequest request, WriteDone done) override {
    monitor_.Catchup();
    auto sent = std::make_shared<SentWrite>();
    sent->component = component_;
    sent->verb = request.verb;
    sent->object = {request.resource, request.object};
    sent->subresource = request.subresource;
    sent->revision_before = monitor_.store_->CurrentRevision();
    monitor_.writer_ = component_;
    next().Send(std::move(request), [&monitor = monitor_, sent, done = std::move(done)](Written written) {
      if (!monitor.Excuses(*sent)) monitor.unchanged_write_.OnAnswer(*sent, written, monitor.clock_->Now());
      done(std::move(written));
    });
    monitor_.Catchup();
    monitor_.writer_.clear();
    sent->revision_after = monitor_.store_->CurrentRevision();
    monitor_.unchanged_write_.OnSent(*sent, monitor_.clock_->Now());
    if (monitor_.options_.on_write) monitor_.options_.on_write(component_);
  }

 private:
  Monitor& monitor_;
  std::string component_;
};

Monitor::Monitor(MonitorOptions options)
    : options_(std::move(options)), rules_(RulesFor(options_)), unchanged_write_(options_.on_violation) {
  CHECK(options_.on_violation);
}

std::unique_ptr<api::Client> Monitor::Watched(std::unique_ptr<api::Client> client, std::string component) {
  return std::make_unique<WatchedClient>(*this, std::move(client), std::move(component));
}

void Monitor::Follow(storage::Store& store, const api::Clock& clock) {
  CHECK(store_ == nullptr);
  store_ = &store;
  clock_ = &clock;
  if (rules_.empty()) return;
  AddSource("deployments", &Monitor::ApplyDeployment);
  AddSource("replicasets", &Monitor::ApplyReplicaSet);
  AddSource("replicationcontrollers", &Monitor::ApplyReplicaSet);
  AddSource("jobs", &Monitor::ApplyJob);
  AddSource("daemonsets", &Monitor::ApplyDaemonSet);
  AddSource("statefulsets", &Monitor::ApplyStatefulSet);
  AddSource("pods", &Monitor::ApplyPod);
  revision_ = store.CurrentRevision();
}

void Monitor::AddSource(const char* resource, decltype(Source::apply) apply) {
  storage::WatchQuery query;
  query.resource = resource;
  query.buffer_events = kBufferEvents;
  storage::ListAndWatchResult start = store_->ListAndWatch(query);
  Source source{resource, apply, std::move(start.watch)};
  Moment moment{start.listing.revision, clock_->Now()};
  for (const api::ObjectPtr& object : start.listing.items) (this->*apply)(source, moment, object, false);
  sources_.push_back(std::move(source));
}

void Monitor::Catchup() {
  if (sources_.empty()) return;
  std::int64_t current = store_->CurrentRevision();
  if (current == revision_) return;
  revision_ = current;
  for (const Source& source : sources_) TakeFrom(source);
  std::sort(pending_.begin(), pending_.end(),
            [](const auto& a, const auto& b) { return a.second.revision() < b.second.revision(); });
  for (const auto& [source, event] : pending_) {
    Moment moment{event.revision(), clock_->Now(), writer_, event.type == storage::EventType::kAdded};
    (this->*source->apply)(*source, moment, event.object, event.type == storage::EventType::kDeleted);
  }
  pending_.clear();
}

void Monitor::TakeFrom(const Source& source) {
  do {
    taken_.clear();
    CHECK(source.watch->Take(kEventsPerTake, taken_) != storage::Watch::State::kOverflow);
    for (storage::Event& event : taken_) pending_.emplace_back(&source, std::move(event));
  } while (taken_.size() == kEventsPerTake);
}

void Monitor::SetConduct(const Conduct& conduct) {
  Catchup();
  const Conduct before = std::exchange(options_.conduct, conduct);
  const bool other_controllers = before.controller_manager != conduct.controller_manager;
  if (!other_controllers && before.apiserver == conduct.apiserver) return;
  rules_ = RulesFor(options_);
  if (!sources_.empty()) Replay();
  // Controllers whose gates have not changed do not sync again: what they wrote before stays until something
  // changes.
  for (auto& rule : rules_) rule->Excuse(!other_controllers);
}

void Monitor::Replay() {
  const Moment moment{store_->CurrentRevision(), clock_->Now()};
  for (auto& rule : rules_) {
    for (const auto& [uid, deployment] : deployments_) rule->OnDeployment(moment, nullptr, deployment);
    for (const auto& [uid, set] : replica_sets_) rule->OnReplicaSet(moment, nullptr, set);
    for (const auto& [uid, job] : jobs_) rule->OnJob(moment, nullptr, job);
    for (const auto& [uid, set] : daemon_sets_) rule->OnDaemonSet(moment, nullptr, set);
    for (const auto& [uid, set] : stateful_sets_) rule->OnStatefulSet(moment, nullptr, set);
    for (const auto& [uid, pod] : pods_) rule->OnPod(moment, nullptr, pod);
  }
}

bool Monitor::Excuses(const SentWrite& sent) const {
  return sent.component == kControllerManager &&
         options_.conduct.controller_manager != options_.conduct.apiserver;
}

void Monitor::Idle() {
  Catchup();
  if (!options_.conduct.controllers_run) return;
  Moment moment{store_->CurrentRevision(), clock_->Now()};
  for (auto& rule : rules_) rule->OnIdle(moment);
}

namespace {

// Replaces the known facts by the new ones and returns the old ones.
template <typename Facts>
Facts Exchange(std::map<std::string, Facts>& known, const std::string& uid, const Facts& after) {
  auto found = known.find(uid);
  Facts before = found == known.end() ? nullptr : found->second;
  if (after == nullptr && found != known.end())
    known.erase(found);
  else if (found != known.end())
    found->second = after;
  else if (after != nullptr)
    known.emplace(uid, after);
  return before;
}

}  // namespace

void Monitor::ApplyPod(const Source&, const Moment& moment, const api::ObjectPtr& object, bool gone) {
  PodPtr after = gone ? nullptr : ReadPod(object);
  PodPtr before = Exchange(pods_, object->header().uid, after);
  if (before == nullptr && after == nullptr) return;
  for (auto& rule : rules_) rule->OnPod(moment, before, after);
}

void Monitor::ApplyReplicaSet(const Source& source, const Moment& moment, const api::ObjectPtr& object,
                              bool gone) {
  ReplicaSetPtr after = gone ? nullptr : ReadReplicaSet(source.resource, object);
  ReplicaSetPtr before = Exchange(replica_sets_, object->header().uid, after);
  for (auto& rule : rules_) rule->OnReplicaSet(moment, before, after);
}

void Monitor::ApplyJob(const Source&, const Moment& moment, const api::ObjectPtr& object, bool gone) {
  JobPtr after = gone ? nullptr : ReadJob(object);
  JobPtr before = Exchange(jobs_, object->header().uid, after);
  for (auto& rule : rules_) rule->OnJob(moment, before, after);
}

void Monitor::ApplyDaemonSet(const Source&, const Moment& moment, const api::ObjectPtr& object, bool gone) {
  DaemonSetPtr after = gone ? nullptr : ReadDaemonSet(object);
  DaemonSetPtr before = Exchange(daemon_sets_, object->header().uid, after);
  for (auto& rule : rules_) rule->OnDaemonSet(moment, before, after);
}

void Monitor::ApplyStatefulSet(const Source&, const Moment& moment, const api::ObjectPtr& object, bool gone) {
  StatefulSetPtr after = gone ? nullptr : ReadStatefulSet(object);
  StatefulSetPtr before = Exchange(stateful_sets_, object->header().uid, after);
  for (auto& rule : rules_) rule->OnStatefulSet(moment, before, after);
}

void Monitor::ApplyDeployment(const Source&, const Moment& moment, const api::ObjectPtr& object, bool gone) {
  DeploymentPtr after = gone ? nullptr : ReadDeployment(object);
  DeploymentPtr before = Exchange(deployments_, object->header().uid, after);
  for (auto& rule : rules_) rule->OnDeployment(moment, before, after);
}

}  // namespace terrarium::testbed::invariants

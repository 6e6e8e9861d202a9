#include "testbed/components.h"

#include <prometheus/registry.h>
#include <prometheus/text_serializer.h>

#include <deque>
#include <mutex>
#include <utility>
#include <vector>

#include "api/base/check.h"
#include "apiserver/gate_log.h"
#include "kubelet-fake/kubelet/container_runtime.h"
#include "storage/store.h"
#include "testbed/internal/component_run.h"

namespace terrarium::testbed {
namespace {

using RunMaker = std::unique_ptr<ComponentRun> (*)(const Surroundings&, const RunParts&);

// A component's place in the plane, whether it runs or not. What is not said to be thread-safe is its lane's.
class Slot {
 public:
  Slot(std::string_view name, RunMaker make, const api::FeatureGates& gates, Surroundings& at)
      : make_(make),
        at_(at),
        prng_(at.plane.prng.Fork(name)),
        lane_(at.plane.runtime.Lane(std::string(name))),
        events_lane_(at.plane.runtime.Lane(std::string(name) + "-events")) {
    info_.name = name;
    info_.gates = gates;
  }
  ~Slot() { EndNow(); }

  // Thread-safe.
  ComponentInfo Info() const {
    std::lock_guard lock(mutex_);
    return info_;
  }
  std::shared_ptr<controllers::Metrics> Metrics() const {
    std::lock_guard lock(mutex_);
    return metrics_;
  }
  api::Executor& lane() { return lane_; }
  void SetInVain(bool in_vain) {
    std::lock_guard lock(mutex_);
    in_vain_ = in_vain;
    if (!info_.running) return;
    for (InstanceExecutor* executor : {executors_.back().get(), executors_[executors_.size() - 2].get()})
      executor->SetInVain(in_vain);
  }

  ComponentRun* run() { return run_.get(); }
  // Runs `work` when no change is being made.
  void WhenSteady(std::function<void()> work) {
    if (changing_) waiting_.push_back(std::move(work));
    else work();
  }

  // The first start, whose work begins on the lane.
  void Make() {
    Prepare();
    executors_[executors_.size() - 2]->Post([this] { Begin(); });
  }

  ChangeResult ChangeNow(const ComponentChange& change) {
    auto plan = PlanChange(Info(), change);
    if (!plan) return plan.status();
    if (plan->ends) EndNow();
    Complete(*plan);
    return Info();
  }

  // REQUIRES: no other change is being made.
  void Change(const ComponentChange& change, ChangeDone done) {
    auto plan = PlanChange(Info(), change);
    if (!plan) return done(plan.status());
    if (!plan->ends) {
      Complete(*plan);
      return done(Info());
    }
    changing_ = true;
    // From here to its end through both lanes, so that no piece of the run is under way on either when it goes.
    auto ended = [this, plan = *plan, done = std::move(done)] {
      EndNow();
      Complete(plan);
      changing_ = false;
      done(Info());
      for (auto& work : std::exchange(waiting_, {})) WhenSteady(std::move(work));
    };
    if (plan->crash) {
      executors_[executors_.size() - 2]->End();
      events_lane_.Post([this, ended = std::move(ended)] {
        executors_.back()->End();
        lane_.Post(ended);
      });
      return;
    }
    run_->base().client->Close([this, ended = std::move(ended)] {
      events_lane_.Post([this, ended] {
        run_->base().events_client->Close([this, ended] {
          executors_.back()->End();
          lane_.Post(ended);
        });
      });
    });
  }

 private:
  // REQUIRES: nothing of the run is under way.
  void EndNow() {
    if (run_ == nullptr) return;
    for (auto& executor : executors_) executor->End();
    run_->Leave(at_);
    run_.reset();
    std::lock_guard lock(mutex_);
    metrics_.reset();
    info_.running = info_.synced = false;
    info_.since = at_.plane.runtime.Now();
  }

  void Complete(const ChangePlan& plan) {
    {
      std::lock_guard lock(mutex_);
      at_.plane.gate_log.Change(at_.plane.runtime.Now(), at_.plane.store.CurrentRevision(), info_.name, info_.gates,
                                plan.gates);
      info_.gates = plan.gates;
    }
    if (!plan.starts) return;
    Prepare();
    Begin();
  }

  void Prepare() {
    auto metrics = std::make_shared<controllers::Metrics>();
    std::unique_lock lock(mutex_);
    for (api::Executor* lane : {&lane_, &events_lane_}) {
      executors_.push_back(std::make_unique<InstanceExecutor>(*lane, at_.plane.runtime));
      executors_.back()->SetInVain(in_vain_);
    }
    const RunParts parts{info_.name, info_.gates, prng_, *executors_[executors_.size() - 2], *executors_.back(), metrics};
    lock.unlock();
    run_ = make_(at_, parts);
    lock.lock();
    metrics_ = std::move(metrics);
    info_.running = true;
    info_.since = at_.plane.runtime.Now();
    ++info_.starts;
  }

  void Begin() {
    run_->base().informers.OnSynced([this] {
      std::lock_guard lock(mutex_);
      info_.synced = true;
    });
    run_->Begin();
  }

  const RunMaker make_;
  Surroundings& at_;
  api::Prng prng_;  // goes on from run to run
  api::Executor& lane_;
  api::Executor& events_lane_;
  std::unique_ptr<ComponentRun> run_;  // nullptr: stopped
  bool changing_ = false;
  std::deque<std::function<void()>> waiting_;  // for the change to be made

  mutable std::mutex mutex_;
  ComponentInfo info_;
  std::shared_ptr<controllers::Metrics> metrics_;  // of the run; nullptr: stopped
  bool in_vain_ = false;
  // Two for each run, the lane's and that of its Events; the last two are the present run's. Those of runs that have
  // ended stay, since answers and wake-ups for them may be on their way.
  std::deque<std::unique_ptr<InstanceExecutor>> executors_;
};

}  // namespace

class Components::Impl {
 public:
  Impl(const PlaneParts& plane, const ComponentOptions& options) : at{plane, why, options, {}} {
    at.options.pods.rule_book = std::make_shared<kubelet_fake::RuleBook>();
    at.options.pods.containers = std::make_shared<kubelet_fake::ContainerRuntime>();
  }

  void Add(std::string_view name, RunMaker make, const api::FeatureGates& gates) {
    auto slot = std::make_unique<Slot>(name, make, gates, at);
    slot->Make();
    slots.emplace(name, std::move(slot));
  }
  Slot* Find(std::string_view name) const {
    auto found = slots.find(name);
    return found == slots.end() ? nullptr : found->second.get();
  }

  controllers::WhyLog why;
  Surroundings at;
  std::map<std::string, std::unique_ptr<Slot>, std::less<>> slots;  // does not change once made
};

Components::Components(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Components::~Components() = default;

api::Result<std::unique_ptr<Components>> Components::Make(const PlaneParts& plane, const ComponentOptions& options) {
  auto wanted = controllers::SelectControllers(options.controllers);
  if (!wanted) return wanted.status();
  auto impl = std::make_unique<Impl>(plane, options);
  impl->at.controllers = *wanted;
  if (!wanted->empty())
    impl->Add(component::kControllerManager, MakeControllerManager, options.controller_manager_gates);
  if (options.scheduler) impl->Add(component::kScheduler, MakeScheduler, options.scheduler_gates);
  if (options.kubelet) impl->Add(component::kKubelet, MakeKubelet, options.kubelet_gates);
  return std::unique_ptr<Components>(new Components(std::move(impl)));
}

std::vector<ComponentInfo> Components::List() const {
  std::vector<ComponentInfo> out;
  for (const auto& [name, slot] : impl_->slots) out.push_back(slot->Info());
  return out;
}

std::optional<ComponentInfo> Components::Find(std::string_view component) const {
  const Slot* slot = impl_->Find(component);
  if (slot == nullptr) return std::nullopt;
  return slot->Info();
}

void Components::Change(const std::string& component, ComponentChange change, ChangeDone done) {
  Slot* slot = impl_->Find(component);
  if (slot == nullptr) return done(UnknownComponent(component));
  slot->lane().Post([slot, change = std::move(change), done = std::move(done)]() mutable {
    slot->WhenSteady([slot, change = std::move(change), done = std::move(done)]() mutable {
      slot->Change(change, std::move(done));
    });
  });
}

ChangeResult Components::ChangeNow(const std::string& component, const ComponentChange& change) {
  Slot* slot = impl_->Find(component);
  if (slot == nullptr) return UnknownComponent(component);
  return slot->ChangeNow(change);
}

void Components::SetInVain(bool in_vain) {
  for (auto& [name, slot] : impl_->slots) slot->SetInVain(in_vain);
}

std::optional<KubeletControls> Components::kubelet() {
  Slot* slot = impl_->Find(component::kKubelet);
  return slot == nullptr || slot->run() == nullptr ? std::nullopt : slot->run()->kubelet();
}

bool Components::OnKubelet(std::function<void(const KubeletControls*)> work) {
  Slot* slot = impl_->Find(component::kKubelet);
  if (slot == nullptr) return false;
  slot->lane().Post([this, slot, work = std::move(work)]() mutable {
    slot->WhenSteady([this, work = std::move(work)] {
      auto controls = kubelet();
      work(controls ? &*controls : nullptr);
    });
  });
  return true;
}

std::optional<std::string> Components::PodLog(const std::string& ns, const std::string& pod,
                                              const std::string& container) const {
  // Nobody but the kubelet can be asked for it.
  const Slot* slot = impl_->Find(component::kKubelet);
  if (slot == nullptr || !slot->Info().running) return std::nullopt;
  return impl_->at.options.pods.containers->Log({ns, pod}, container);
}

controllers::WhyLog& Components::why() { return impl_->why; }

std::string Components::MetricsText() const {
  // A family that several components have is written once.
  std::map<std::string, prometheus::MetricFamily> families;
  for (const auto& [name, slot] : impl_->slots) {
    auto metrics = slot->Metrics();
    if (metrics == nullptr) continue;
    for (prometheus::MetricFamily& family : metrics->registry().Collect()) {
      auto [known, fresh] = families.try_emplace(family.name, std::move(family));
      if (fresh) continue;
      for (prometheus::ClientMetric& metric : family.metric) known->second.metric.push_back(std::move(metric));
    }
  }
  std::vector<prometheus::MetricFamily> all;
  for (auto& [name, family] : families) all.push_back(std::move(family));
  return prometheus::TextSerializer().Serialize(all);
}

}  // namespace terrarium::testbed

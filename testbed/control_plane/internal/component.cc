#include "testbed/control_plane/internal/component.h"

#include <optional>
#include <utility>

#include "api/base/check.h"
#include "apiserver/gate_log.h"
#include "storage/store.h"

namespace terrarium::testbed {

Component::Component(std::string_view name, const api::FeatureGates& gates,
                     const ControlPlaneParts& control_plane, api::Executor& lane, ComponentProcess& process)
    : control_plane_(control_plane), lane_(lane), process_(process) {
  info_.name = name;
  info_.gates = gates;
}

ComponentInfo Component::Info() const {
  std::lock_guard lock(mutex_);
  return info_;
}

void Component::Start() {
  Make();
  Begin();
}

void Component::StartOnLane() {
  Make();
  process_.executor().Post([this] { Begin(); });
}

void Component::Make() {
  process_.Make(Info().gates);
  std::lock_guard lock(mutex_);
  info_.running = true;
  info_.since = control_plane_.runtime.Now();
  ++info_.starts;
}

void Component::Begin() {
  process_.Begin([this] {
    std::lock_guard lock(mutex_);
    info_.synced = true;
  });
}

void Component::RunBetweenChanges(std::function<void()> work) {
  if (changing_)
    waiting_.push_back(std::move(work));
  else
    work();
}

void Component::PostBetweenChanges(std::function<void()> work) {
  lane_.Post([this, work = std::move(work)]() mutable { RunBetweenChanges(std::move(work)); });
}

void Component::Change(ComponentChange change, ChangeDone done) {
  PostBetweenChanges(
      [this, change = std::move(change), done = std::move(done)] { Apply(change, nullptr, done); });
}

ChangeResult Component::ChangeNow(const ComponentChange& change, const std::function<void()>& drain) {
  std::optional<ChangeResult> result;
  Apply(change, drain, [&result](ChangeResult changed) { result = std::move(changed); });
  CHECK(result.has_value());
  return std::move(*result);
}

void Component::Apply(const ComponentChange& change, const std::function<void()>& drain,
                      const ChangeDone& done) {
  auto plan = PlanChange(Info(), change);
  if (plan && drain) {
    drain();
    plan = PlanChange(Info(), change);  // the work that was drained may have crashed the component
  }
  if (!plan) return done(plan.status());
  if (!plan->ends) {
    Complete(*plan);
    return done(Info());
  }
  changing_ = true;
  process_.End({.crash = plan->crash, .wait = !drain}, [this, plan = *plan, done] {
    {
      std::lock_guard lock(mutex_);
      info_.running = info_.synced = false;
      info_.since = control_plane_.runtime.Now();
    }
    Complete(plan);
    changing_ = false;
    done(Info());
    for (auto& work : std::exchange(waiting_, {})) RunBetweenChanges(std::move(work));
  });
}

void Component::Complete(const ChangePlan& plan) {
  {
    std::lock_guard lock(mutex_);
    control_plane_.gate_log.Change(control_plane_.runtime.Now(), control_plane_.store.CurrentRevision(),
                                   info_.name, info_.gates, plan.gates);
    info_.gates = plan.gates;
  }
  if (plan.starts) Start();
  if (plan.starts != plan.ends && on_start_or_stop_) on_start_or_stop_(plan.starts);
}

}  // namespace terrarium::testbed

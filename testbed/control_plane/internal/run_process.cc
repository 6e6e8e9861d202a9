#include "testbed/control_plane/internal/run_process.h"

#include <utility>

namespace terrarium::testbed {

RunProcess::RunProcess(std::string_view name, RunMaker make, ComponentDeps& deps)
    : name_(name),
      make_(make),
      deps_(deps),
      prng_(deps.control_plane.prng.Fork(name)),
      lane_(deps.control_plane.runtime.Lane(name_)),
      events_lane_(deps.control_plane.runtime.Lane(name_ + "-events")) {}

RunProcess::~RunProcess() { Destroy(); }

void RunProcess::Make(const api::FeatureGates& gates) {
  auto metrics = std::make_shared<controllers::Metrics>();
  std::unique_lock lock(mutex_);
  Executors& executors = executors_.emplace_back(lane_, events_lane_, deps_.control_plane.runtime);
  for (InstanceExecutor* executor : {&executors.main, &executors.events})
    executor->SetHousekeepingOnly(server_down_);
  lock.unlock();
  run_ = make_(deps_, {name_, gates, prng_, executors.main, executors.events, metrics});
  lock.lock();
  metrics_ = std::move(metrics);
  // The apiserver may have stopped or started meanwhile.
  for (InstanceExecutor* executor : {&executors.main, &executors.events})
    executor->SetHousekeepingOnly(server_down_);
}

void RunProcess::Begin(std::function<void()> synced) {
  run_->base().informers.OnSynced(std::move(synced));
  run_->Begin();
}

api::Executor& RunProcess::executor() { return executors_.back().main; }

void RunProcess::End(const Ending& how, std::function<void()> ended) {
  auto finish = [this, ended = std::move(ended)] {
    Destroy();
    ended();
  };
  if (!how.wait) return finish();
  // Through both lanes, so that no piece of the run is in progress on either when it is destroyed.
  Executors& executors = executors_.back();
  auto end_events = [this, &executors, finish = std::move(finish)] {
    executors.events.End();
    lane_.Post(finish);
  };
  if (how.crash) {
    executors.main.End();
    events_lane_.Post(std::move(end_events));
    return;
  }
  run_->base().client->Close([this, end_events = std::move(end_events)] {
    events_lane_.Post([this, end_events] { run_->base().events_client->Close(end_events); });
  });
}

void RunProcess::Destroy() {
  if (run_ == nullptr) return;
  executors_.back().main.End();
  executors_.back().events.End();
  run_->Leave(deps_);
  run_.reset();
  std::lock_guard lock(mutex_);
  metrics_.reset();
}

std::shared_ptr<controllers::Metrics> RunProcess::Metrics() const {
  std::lock_guard lock(mutex_);
  return metrics_;
}

void RunProcess::SetServerDown(bool down) {
  std::lock_guard lock(mutex_);
  server_down_ = down;
  if (metrics_ == nullptr) return;
  executors_.back().main.SetHousekeepingOnly(down);
  executors_.back().events.SetHousekeepingOnly(down);
}

}  // namespace terrarium::testbed

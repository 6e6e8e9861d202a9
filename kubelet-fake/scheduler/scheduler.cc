#include "kubelet-fake/scheduler/scheduler.h"

#include "kubelet-fake/scheduler/internal/scheduler_impl.h"

namespace terrarium::kubelet_fake {

Scheduler::Scheduler(const api::Env& env, api::Client& client, controllers::InformerSet& informers,
                     controllers::EventRecorder& recorder, controllers::Metrics& metrics)
    : impl_(std::make_shared<Impl>(env, client, recorder, metrics)) {
  impl_->Watch(informers);
}

Scheduler::~Scheduler() = default;

void Scheduler::Start() { impl_->Start(); }

}  // namespace terrarium::kubelet_fake

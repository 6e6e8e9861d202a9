#include "kubelet-fake/scheduler/scheduler.h"

#include "kubelet-fake/scheduler/internal/scheduler_impl.h"

namespace terrarium::kubelet_fake {

Scheduler::Scheduler(const api::Env& env, api::Client& client, controllers::InformerSet& informers,
                     controllers::EventRecorder& recorder, controllers::Metrics& metrics,
                     controllers::WhyLog& why)
    : impl_(std::make_shared<Impl>(env, client, informers, recorder, metrics, why)) {
  impl_->Watch(informers);
}

Scheduler::~Scheduler() = default;

void Scheduler::Start() { impl_->Start(); }

}  // namespace terrarium::kubelet_fake

#include "tests/scenarios/deployment_component.h"

#include <utility>

#include "api/base/errors.h"
#include "api/base/executor.h"
#include "apiserver/in_process_client.h"
#include "controllers/deployment/deployment_controller.h"
#include "testbed/control_plane/control_plane.h"
#include "testbed/invariants/monitor.h"

namespace terrarium::scenarios {

void UnreliableClient::Send(api::WriteRequest request, WriteDone done) {
  if (request.resource != "replicasets") return next().Send(std::move(request), std::move(done));
  const int write = writes++;
  if (!fails_at || !fails_at(write)) return next().Send(std::move(request), std::move(done));
  env_.executor.Post([done = std::move(done)] { done(api::ServiceUnavailable("the apiserver is away")); });
}

DeploymentComponent::DeploymentComponent(testbed::Testbed& bed, const api::FeatureGates& gates)
    : bed_(bed),
      gates_(gates),
      prng_(1),
      env_{bed.control_plane().env().clock, bed.control_plane().runtime().Lane("deployment-controller"),
           prng_, gates_, bed.control_plane().env().log} {
  auto client =
      apiserver::MakeInProcessClient(env_, bed.control_plane().handler(), bed.control_plane().store(), {});
  client_ = std::make_unique<UnreliableClient>(
      env_, bed.monitor().Watched(std::move(client), "controller-manager"));
  Start();
}

DeploymentComponent::~DeploymentComponent() { Stop(); }

void DeploymentComponent::Start() {
  informers_ = std::make_unique<controllers::InformerSet>(env_, *client_);
  recorder_ = std::make_unique<controllers::EventRecorder>(env_, *client_);
  const controllers::ControllerContext context{env_, *client_, *informers_, *recorder_, metrics_, bed_.why()};
  controller_ = controllers::MakeDeploymentController(context);
  env_.executor.Post([this] {
    informers_->OnSynced([this] { controller_->Start(); });
    informers_->Start();
  });
  bed_.clock().Settle();
}

void DeploymentComponent::Stop() {
  controller_.reset();
  recorder_.reset();
  informers_.reset();
}

void DeploymentComponent::Restart() {
  Stop();
  client_->fails_at = nullptr;
  Start();
}

}  // namespace terrarium::scenarios

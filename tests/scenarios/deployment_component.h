#pragma once

// A Deployment controller under the test's control, on a cluster without its own. The test can restart it and
// make its client fail in the middle of a sync.

#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "api/base/env.h"
#include "api/base/feature_gates.h"
#include "api/base/prng.h"
#include "api/client.h"
#include "api/forwarding_client.h"
#include "controllers/controller.h"
#include "controllers/runtime/event_recorder.h"
#include "controllers/runtime/informer.h"
#include "controllers/runtime/metrics.h"
#include "controllers/runtime/why.h"
#include "testbed/embedding/testbed.h"

namespace terrarium::scenarios {

// Counts the writes of ReplicaSets and fails some of them before they reach the server.
class UnreliableClient : public api::ForwardingClient {
 public:
  UnreliableClient(const api::Env& env, std::unique_ptr<api::Client> next)
      : ForwardingClient(std::move(next)), env_(env) {}

  void Send(api::WriteRequest request, WriteDone done) override;
  int writes = 0;  // of ReplicaSets, including failed ones
  std::function<bool(int write)>
      fails_at;  // whether the write with that number, from 0, fails; empty: none fails

 private:
  api::Env env_;
};

class DeploymentComponent {
 public:
  // The cluster outlives it. REQUIRES: the cluster runs without a deployment-controller.
  DeploymentComponent(testbed::Testbed& bed, const api::FeatureGates& gates);
  ~DeploymentComponent();

  UnreliableClient& client() { return *client_; }
  // The controller ends in the middle of a sync. Another one takes over, with a client that does not fail.
  void Restart();

 private:
  void Start();
  void Stop();

  testbed::Testbed& bed_;
  api::FeatureGates gates_;
  api::Prng prng_;
  api::Env env_;
  controllers::Metrics metrics_;
  std::unique_ptr<UnreliableClient> client_;
  std::unique_ptr<controllers::InformerSet> informers_;
  std::unique_ptr<controllers::EventRecorder> recorder_;
  std::unique_ptr<controllers::Controller> controller_;
};

}  // namespace terrarium::scenarios

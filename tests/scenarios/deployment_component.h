#pragma once

// A Deployment controller of one's own beside a cluster that has none. It can be restarted, and its client
// can be made to fail in the middle of what the controller does.

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

// Counts the writes of ReplicaSets and lets those fail that it is told to, before they reach the server.
class UnreliableClient : public api::ForwardingClient {
 public:
  UnreliableClient(const api::Env& env, std::unique_ptr<api::Client> next)
      : ForwardingClient(std::move(next)), env_(env) {}

  void Send(api::WriteRequest request, WriteDone done) override;
  int writes = 0;  // of ReplicaSets, failed ones too
  std::function<bool(int write)>
      fails_at;  // whether the write with that number, from 0, fails; empty: none does

 private:
  api::Env env_;
};

class DeploymentComponent {
 public:
  // The cluster outlives it. REQUIRES: it runs without a deployment-controller.
  DeploymentComponent(testbed::Testbed& bed, const api::FeatureGates& gates);
  ~DeploymentComponent();

  UnreliableClient& client() { return *client_; }
  // The controller ends in the middle of what it does; another one takes over, with a client that does not
  // fail.
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

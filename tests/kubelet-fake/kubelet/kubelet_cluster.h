#pragma once

// A kubelet under the test's control on a cluster without any other component, with nodes that can fail and a
// client that records its writes and can be made to fail.

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/base/feature_gates.h"
#include "api/base/prng.h"
#include "api/forwarding_client.h"
#include "controllers/runtime/event_recorder.h"
#include "controllers/runtime/informer.h"
#include "kubelet-fake/kubelet/kubelet.h"
#include "testbed/embedding/testbed.h"

namespace terrarium::kubelet_fake::testing {

class FakeNodes : public NodeView {
 public:
  bool IsUp(std::string_view node) const override { return !down_.contains(node); }
  std::string InternalIp(std::string_view) const override { return "172.18.0.2"; }
  void OnChange(std::function<void(const std::string&)> changed) override {
    changed_.push_back(std::move(changed));
  }
  void Set(const std::string& node, bool up);

 private:
  std::map<std::string, bool, std::less<>> down_;
  std::vector<std::function<void(const std::string&)>> changed_;
};

class RecordingClient : public api::ForwardingClient {
 public:
  using api::ForwardingClient::ForwardingClient;

  void Send(api::WriteRequest request, WriteDone done) override;
  std::vector<api::WriteRequest> writes;  // without events
  int failures_left = 0;                  // as many writes of pods fail with 503 before they reach the server
  std::function<void()> before_next;      // called once, before the next write of a pod is forwarded
};

class KubeletCluster {
 public:
  explicit KubeletCluster(KubeletOptions options = {.events = false});
  ~KubeletCluster();

  testbed::Testbed& bed() { return bed_; }
  FakeNodes& nodes() { return nodes_; }
  RecordingClient& client() { return *client_; }
  PodRules& rules() { return kubelet_->rules(); }
  Kubelet& kubelet() { return *kubelet_; }
  api::FeatureGates& gates() { return gates_; }

  // A pod in `default` that is bound to `node-0` already; `more` is merged over it.
  void AddPod(const std::string& name, const api::Json& script = api::Json::object(),
              const api::Json& more = api::Json::object());
  void DeletePod(const std::string& name, std::optional<std::int64_t> grace = std::nullopt);
  void Pass(api::Duration duration);
  // The kubelet ends in the middle of its work. Another one takes over.
  void RestartKubelet();
  void StopKubelet();
  void StartKubelet();
  // The containers and logs that the next kubelet finds.
  void SetMachines(std::shared_ptr<ContainerRuntime> machines) { options_.containers = std::move(machines); }

  // nullptr if there is no such pod.
  std::shared_ptr<const api::Json> Pod(const std::string& name);
  std::string Phase(const std::string& name);  // "" if there is no such pod
  // "phase" of each status patch of a pod and "DELETE", in the order sent; "-" for a patch without a phase.
  std::vector<std::string> WritesOf(const std::string& name) const;

 private:
  testbed::Testbed bed_;
  api::FeatureGates gates_;
  api::Prng prng_;
  api::Env env_;
  KubeletOptions options_;
  FakeNodes nodes_;
  std::unique_ptr<RecordingClient> client_;
  std::unique_ptr<controllers::InformerSet> informers_;
  std::unique_ptr<controllers::EventRecorder> recorder_;
  std::unique_ptr<Kubelet> kubelet_;
};

}  // namespace terrarium::kubelet_fake::testing

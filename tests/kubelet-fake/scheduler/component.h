#pragma once

// A scheduler under the test's control on a cluster without any other component, with a client that can be
// made to fail.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/base/env.h"
#include "api/base/feature_gates.h"
#include "api/base/prng.h"
#include "api/client.h"
#include "controllers/runtime/event_recorder.h"
#include "controllers/runtime/informer.h"
#include "controllers/runtime/metrics.h"
#include "controllers/runtime/why.h"
#include "kubelet-fake/scheduler/scheduler.h"
#include "testbed/embedding/testbed.h"

namespace terrarium::kubelet_fake {

// Counts, refuses and holds back writes before they reach another client.
class FaultyClient final : public api::Client {
 public:
  explicit FaultyClient(std::unique_ptr<api::Client> next) : next_(std::move(next)) {}

  // Fails the next requests of one subresource ("binding", "status"), each once.
  void Refuse(const std::string& subresource, api::Status status);
  // Fails the next write of a resource.
  void RefuseResource(const std::string& resource, api::Status status);
  // Holds back requests of one subresource until Release().
  void Hold(const std::string& subresource) { held_subresource_ = subresource; }
  void Release();
  int Sent(const std::string& subresource) const;

  void Send(api::WriteRequest request, WriteDone done) override;
  api::Result<api::ObjectPtr> Get(std::string_view resource, const api::ObjectName& name) override;
  api::Result<api::ObjectList> List(std::string_view resource, const std::optional<std::string>& ns) override;
  api::Result<std::unique_ptr<api::ClientWatch>> Watch(std::string_view resource,
                                                       std::int64_t from_revision) override;

 private:
  std::unique_ptr<api::Client> next_;
  std::vector<std::pair<std::string, api::Status>> refusals_;
  std::vector<std::pair<std::string, api::Status>> resource_refusals_;
  std::string held_subresource_;
  std::vector<std::function<void()>> held_;
  std::vector<std::string> sent_;
};

// Names of series.
std::string Attempts(const char* result);
std::string Pending(const char* queue);

class SchedulerCluster {
 public:
  explicit SchedulerCluster(std::uint64_t seed = 1);
  ~SchedulerCluster();

  testbed::Testbed& bed() { return bed_; }
  FaultyClient& client() { return *client_; }
  const controllers::WhyLog& why() const { return why_; }
  // Runs all work that is ready, without advancing the clock.
  void Settle();
  void StopScheduler();

  void AddNode(const std::string& name, const api::Json& more = api::Json::object());
  void PatchNode(const std::string& name, const api::Json& patch);
  // A pod that requests `cpu` ("" for nothing), with `more` merged over it.
  void AddPod(const std::string& name, const std::string& cpu = "",
              const api::Json& more = api::Json::object());
  void DeletePod(const std::string& name);
  void PatchPod(const std::string& name, const api::Json& patch, const std::string& subresource = "");

  std::string NodeOf(const std::string& pod);  // "" without a node
  std::shared_ptr<const api::Json> PodDocument(const std::string& name);
  api::Json ScheduledCondition(const std::string& pod);  // null if absent
  // "REASON: MESSAGE" of the pod's events, in order of their first time.
  std::vector<std::string> EventsOf(const std::string& pod);
  // The value of the metrics line that begins with that text.
  double Metric(const std::string& series);

 private:
  testbed::Testbed bed_;
  api::FeatureGates gates_;
  api::Prng prng_;
  api::Env env_;
  FaultyClient* client_;
  std::unique_ptr<api::Client> owned_client_;
  controllers::Metrics metrics_;
  controllers::WhyLog why_;
  std::unique_ptr<controllers::InformerSet> informers_;
  std::unique_ptr<controllers::EventRecorder> recorder_;
  std::unique_ptr<Scheduler> scheduler_;
};

}  // namespace terrarium::kubelet_fake

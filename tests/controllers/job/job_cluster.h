#pragma once

// A Job controller under the test's control, on a cluster without its own. The test can restart it with other
// gates, make its writes fail, and crash it at any of them. The invariants of Jobs are checked throughout.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/feature_gates.h"
#include "api/base/prng.h"
#include "api/client.h"
#include "api/json_access.h"
#include "controllers/controller.h"
#include "testbed/embedding/testbed.h"
#include "testbed/invariants/monitor.h"

namespace terrarium::controllers::job::testing {

using api::Json;
using api::ObjectPtr;

// Forwards writes until its component dies.
class MortalClient : public api::Client {
 public:
  MortalClient(const api::Env& env, std::unique_ptr<api::Client> next) : env_(env), next_(std::move(next)) {}

  void Send(api::WriteRequest request, WriteDone done) override;
  api::Result<ObjectPtr> Get(std::string_view resource, const api::ObjectName& name) override {
    return next_->Get(resource, name);
  }
  api::Result<api::ObjectList> List(std::string_view resource,
                                    const std::optional<std::string>& ns) override {
    return next_->List(resource, ns);
  }
  api::Result<std::unique_ptr<api::ClientWatch>> Watch(std::string_view resource,
                                                       std::int64_t from) override {
    return next_->Watch(resource, from);
  }

  std::vector<std::string> writes;  // "patch pods web", "update jobs/status j", ..., as sent; without events
  // Called before each write. A Status refuses the write.
  std::function<std::optional<api::Status>(const api::WriteRequest&)> refuse;
  // The component dies with its n-th write from now (1: the next one), which still arrives or does not.
  int dies_at = 0;
  bool last_write_arrives = true;
  std::function<void()> died;

 private:
  api::Env env_;
  std::unique_ptr<api::Client> next_;
  bool dead_ = false;
};

struct JobClusterOptions {
  std::uint64_t seed = 1;
  std::string gates = {};            // of the Job controller
  std::string apiserver_gates = {};  // and of all other components
  // The other components. A cluster without most of them costs a third less, which matters to tests with
  // hundreds of clusters.
  std::string controllers = "*,-job-controller";
  int nodes = 2;
};
inline constexpr const char* kFewControllers =
    "garbage-collector-controller,node-lifecycle-controller,pod-garbage-collector-controller";

class JobCluster {
 public:
  explicit JobCluster(JobClusterOptions options = {});
  ~JobCluster();

  testbed::Testbed& bed() { return bed_; }
  MortalClient& client() { return *clients_.back(); }
  Metrics& metrics() { return metrics_; }
  WhyLog& why() { return why_; }
  InformerSet& informers() { return *informers_; }

  void StopController();
  void StartController(const std::string& gates = "");
  void RestartController(const std::string& gates = "") {
    StopController();
    StartController(gates);
  }
  // Dies in the middle of its n-th write from now, and restarts immediately with the same gates.
  void CrashAt(int nth_write, bool write_arrives);
  int crashes() const { return crashes_; }

  // `spec` is merged over a Job of one completion. Its pods follow the script.
  ObjectPtr AddJob(const Json& spec, const Json& script = Json::object(), const std::string& name = "j");
  void Patch(const Json& patch, const std::string& name = "j");
  void DeletePod(const std::string& name, std::optional<std::int64_t> grace = std::nullopt);
  // Existing and future pods with those labels follow the script.
  void Script(const std::string& selector, const Json& script);
  // Ends the pod's containers now with that code.
  void EndPod(const std::string& name, int exit_code);
  // Pods held in terminating: releases them, or ends them with that code.
  void Release(const std::string& name, std::optional<int> exit_code = std::nullopt);
  void Pass(api::Duration duration) { bed_.clock().Advance(duration); }
  // Runs until the cluster is idle. Then, if the controller runs, the Jobs' statuses must equal a recount of
  // their pods.
  void Idle(api::Duration limit = std::chrono::hours(12));

  std::shared_ptr<const Json> Job(const std::string& name = "j");
  Json Status(const std::string& name = "j");
  // "active 1 ready 1 terminating 0 succeeded 2 failed 1": the counters of the status, without absent ones.
  std::string Counts(const std::string& name = "j");
  // "FailureTarget(BackoffLimitExceeded) Failed(BackoffLimitExceeded)"; a condition that is False has a ! in
  // front.
  std::string Conditions(const std::string& name = "j");
  std::vector<ObjectPtr> Pods(const std::string& job = "j");
  // The names of pods that have neither ended nor are being deleted.
  std::vector<std::string> ActivePods(const std::string& job = "j");
  int FinalizersLeft();
  // "Warning BackoffLimitExceeded: Job has reached ..." of all events about Jobs, sorted.
  std::vector<std::string> Events();
  // The value of a metrics line, "" if absent.
  std::string Metric(const std::string& series);

 private:
  void MakeMonitor();

  testbed::Testbed bed_;
  std::string gates_text_;
  api::FeatureGates gates_;
  api::Prng prng_;
  api::Env env_;
  Metrics metrics_;
  WhyLog why_;
  // One for each set of gates that the controller has run with. The last one is in use.
  std::vector<std::unique_ptr<testbed::invariants::Monitor>> monitors_;
  // Dead controllers are kept: their last responses may be in flight.
  std::vector<std::unique_ptr<MortalClient>> clients_;
  std::unique_ptr<InformerSet> informers_;
  std::unique_ptr<EventRecorder> recorder_;
  std::unique_ptr<Controller> controller_;
  int crashes_ = 0;
  int scripts_ = 0;
};

}  // namespace terrarium::controllers::job::testing

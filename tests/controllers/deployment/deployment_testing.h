#pragma once

// A cluster with one Deployment, for the tests of its controller.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "api/json.h"
#include "api/object.h"
#include "controllers/runtime/why.h"
#include "storage/store.h"
#include "testbed/embedding/testbed.h"

namespace terrarium::controllers::deployment {

// A Deployment's policy and the gates of the components.
struct PolicyCase {
  std::string name;
  std::optional<std::string> policy = {};  // spec.podReplacementPolicy
  bool policy_gate = true;
  bool terminating_gate = true;

  // The policy that takes effect.
  bool Waits() const { return policy == "TerminationComplete" && policy_gate && terminating_gate; }
  bool Starts() const { return policy == "TerminationStarted" && policy_gate && terminating_gate; }
  std::string Gates() const;
};
std::ostream& operator<<(std::ostream& out, const PolicyCase& policy);

// Every value of the policy, and each gate off.
std::vector<PolicyCase> AllPolicies();
const PolicyCase kNoPolicy{.name = "NoPolicy"};
const PolicyCase kTerminationStarted{.name = "TerminationStarted", .policy = "TerminationStarted"};
const PolicyCase kTerminationComplete{.name = "TerminationComplete", .policy = "TerminationComplete"};

// The largest number of pods at any revision, including terminating pods, excluding ended ones.
class PodPeak {
 public:
  explicit PodPeak(testbed::Testbed& bed);
  std::int64_t Most();
  void Restart();  // count from now on

 private:
  void Read();
  std::set<std::string> pods_;
  std::size_t most_ = 0;
  std::unique_ptr<storage::Watch> watch_;
};

// A Deployment named "web" in the namespace "default".
class WebCluster {
 public:
  explicit WebCluster(const PolicyCase& policy = kNoPolicy, testbed::TestbedOptions options = {.nodes = 2});

  testbed::Testbed& bed() { return bed_; }
  PodPeak& peak() { return peak_; }
  const PolicyCase& policy() const { return policy_; }

  // `spec` is merged over the spec of a minimal Deployment. `script` is the pods' script, with keys without
  // their prefix.
  void Create(int replicas, const api::Json& spec = api::Json::object(),
              const api::Json& script = api::Json::object());
  void Patch(const api::Json& patch);
  void PatchSpec(const api::Json& spec);
  void SetImage(const std::string& image);
  // Changes the template to one whose pods have this script.
  void SetImage(const std::string& image, const api::Json& script);
  void ScaleTo(int replicas);

  // Runs all work that is ready, without advancing the clock.
  void Settle();
  void Advance(api::Duration duration);
  // Runs until the cluster is idle. Fails when that takes longer than the limit.
  void RunToTheEnd(api::Duration limit = std::chrono::hours(2));
  // Releases a pod that its script holds, at that point or at any.
  void Release(const std::string& pod, const std::string& point = "");
  // Releases all terminating pods except `keep`.
  void ReleaseTerminating(int keep = 0);

  api::Json Document();
  api::Json Status();
  std::int64_t Counter(std::string_view key);  // of the status; 0 if absent
  // "Progressing=True NewReplicaSetAvailable", in the order of the status.
  std::vector<std::string> Conditions();
  std::string Condition(std::string_view type);
  std::string ConditionMessage(std::string_view type);
  bool Complete() { return Condition("Progressing") == "True NewReplicaSetAvailable"; }

  std::vector<api::Json> Sets();  // by revision
  // spec.replicas of the ReplicaSets by revision: "3 2".
  std::string Sizes();
  std::string Annotation(const api::Json& object, std::string_view key);  // empty if absent
  std::int64_t Pods();                                                    // that have not ended
  std::int64_t LivePods();     // of those, without a deletionTimestamp
  std::int64_t Terminating();  // of those, with a deletionTimestamp
  std::int64_t PodsOf(const api::Json& set, bool terminating);
  std::multiset<std::string> Events(std::string_view reason);  // messages, each as often as it was counted
  std::vector<WhyRecord> Why();

 private:
  PolicyCase policy_;
  testbed::Testbed bed_;
  PodPeak peak_;
};

// Runs a test for each policy and gate setting. The behaviour of terminating pods must hold in all of them.
class EachPolicy : public testing::TestWithParam<PolicyCase> {
 protected:
  WebCluster cluster_{GetParam()};
};
#define TERRARIUM_FOR_EACH_POLICY(Suite)                                      \
  INSTANTIATE_TEST_SUITE_P(Policies, Suite, testing::ValuesIn(AllPolicies()), \
                           [](const auto& info) { return info.param.name; })

}  // namespace terrarium::controllers::deployment

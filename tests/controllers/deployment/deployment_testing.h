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

// What a Deployment asks for and what the components have been told to do about it.
struct PolicyCase {
  std::string name;
  std::optional<std::string> policy = {};  // spec.podReplacementPolicy
  bool policy_gate = true;
  bool terminating_gate = true;

  // What the Deployment does in the end.
  bool Waits() const { return policy == "TerminationComplete" && policy_gate && terminating_gate; }
  bool Starts() const { return policy == "TerminationStarted" && policy_gate && terminating_gate; }
  std::string Gates() const;
};
std::ostream& operator<<(std::ostream& out, const PolicyCase& policy);

// Every value of the policy, and the gates off one after the other.
std::vector<PolicyCase> AllPolicies();
const PolicyCase kNoPolicy{.name = "NoPolicy"};
const PolicyCase kTerminationStarted{.name = "TerminationStarted", .policy = "TerminationStarted"};
const PolicyCase kTerminationComplete{.name = "TerminationComplete", .policy = "TerminationComplete"};

// The most pods that there were at any revision, terminating ones included, ended ones not.
class PodPeak {
 public:
  explicit PodPeak(testbed::Testbed& bed);
  std::int64_t Most();
  void Restart();  // from what there is now

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

  // `spec` is merged over that of the smallest Deployment, `script` is the pods' script without the prefix of
  // its keys.
  void Create(int replicas, const api::Json& spec = api::Json::object(),
              const api::Json& script = api::Json::object());
  void Patch(const api::Json& patch);
  void PatchSpec(const api::Json& spec);
  void SetImage(const std::string& image);
  // Another template whose pods have this script.
  void SetImage(const std::string& image, const api::Json& script);
  void ScaleTo(int replicas);

  // Works off what can be done without time passing.
  void Settle();
  void Advance(api::Duration duration);
  // Until nothing is left to be done; a failure when that takes longer than the limit.
  void RunToTheEnd(api::Duration limit = std::chrono::hours(2));
  // Lets a pod go on if its script holds it, at that point or at any.
  void Release(const std::string& pod, const std::string& point = "");
  // Lets all terminating pods go, but for so many.
  void ReleaseTerminating(int but = 0);

  api::Json Document();
  api::Json Status();
  std::int64_t Counter(std::string_view key);  // of the status; 0 where absent
  // "Progressing=True NewReplicaSetAvailable", in the order of the status.
  std::vector<std::string> Conditions();
  std::string Condition(std::string_view type);
  std::string ConditionMessage(std::string_view type);
  bool Complete() { return Condition("Progressing") == "True NewReplicaSetAvailable"; }

  std::vector<api::Json> Sets();  // by revision
  // spec.replicas of the sets by revision: "3 2".
  std::string Sizes();
  std::string Annotation(const api::Json& object, std::string_view key);  // empty: none
  std::int64_t Pods();                                                    // that have not ended
  std::int64_t LivePods();     // of those, without a deletionTimestamp
  std::int64_t Terminating();  // with one
  std::int64_t PodsOf(const api::Json& set, bool terminating);
  std::multiset<std::string> Events(std::string_view reason);  // messages; counted ones as often
  std::vector<WhyRecord> Why();

 private:
  PolicyCase policy_;
  testbed::Testbed bed_;
  PodPeak peak_;
};

// Runs a test for each policy and gate setting: behaviour that has to do with pods that go must hold in all
// of them.
class EachPolicy : public testing::TestWithParam<PolicyCase> {
 protected:
  WebCluster cluster_{GetParam()};
};
#define TERRARIUM_FOR_EACH_POLICY(Suite)                                      \
  INSTANTIATE_TEST_SUITE_P(Policies, Suite, testing::ValuesIn(AllPolicies()), \
                           [](const auto& info) { return info.param.name; })

}  // namespace terrarium::controllers::deployment

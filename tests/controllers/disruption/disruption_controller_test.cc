#include "controllers/disruption/disruption_controller.h"

#include <gtest/gtest.h>

#include "api/core_v1/pod.h"
#include "api/json_access.h"
#include "testbed/embedding/testbed.h"

namespace terrarium::controllers {
namespace {

using api::Json;
using api::ObjectPtr;
using api::StringAt;
using testbed::RunOutcome;
using testbed::Testbed;
using namespace std::chrono_literals;

const Json kLabels = {{"app", "web"}};

Json PodSpec() { return {{"containers", {{{"name", "c"}, {"image", "nginx"}}}}}; }

Json ReplicaSet(const std::string& name, int replicas) {
  return {{"metadata", {{"name", name}}},
          {"spec",
           {{"replicas", replicas},
            {"selector", {{"matchLabels", kLabels}}},
            {"template", {{"metadata", {{"labels", kLabels}}}, {"spec", PodSpec()}}}}}};
}

Json ControlledBy(const ObjectPtr& owner, const char* kind, const char* api_version = "apps/v1") {
  return {{"apiVersion", api_version},  {"kind", kind},       {"name", owner->header().name},
          {"uid", owner->header().uid}, {"controller", true}, {"blockOwnerDeletion", true}};
}

// Pods run on the fake kubelet. The test acts as their ReplicaSet; nothing else replaces them.
class DisruptionControllerTest : public testing::Test {
 protected:
  void MakePod(const std::string& name, const std::vector<Json>& owners = {},
               const Json& annotations = Json::object()) {
    Json metadata = {
        {"name", name}, {"labels", kLabels}, {"ownerReferences", owners}, {"annotations", annotations}};
    bed_.Must(bed_.Create("pods", "default", {{"metadata", metadata}, {"spec", PodSpec()}}));
  }
  void MakeBudget(const Json& spec) {
    Json whole = spec;
    whole["selector"] = {{"matchLabels", kLabels}};
    bed_.Must(
        bed_.Create("poddisruptionbudgets", "default", {{"metadata", {{"name", "pdb"}}}, {"spec", whole}}));
  }
  void Settle() { EXPECT_EQ(bed_.clock().RunUntilIdle(10min).why, RunOutcome::Why::kIdle); }
  Json Status() {
    return api::ObjectAt(*bed_.Get("poddisruptionbudgets", "default", "pdb")->Document(), "status");
  }
  // "healthy/needed of expected, allowed"
  std::string Counts() {
    Json s = Status();
    return s["currentHealthy"].dump() + "/" + s["desiredHealthy"].dump() + " of " + s["expectedPods"].dump() +
           ", " + s["disruptionsAllowed"].dump();
  }
  std::string Condition() {
    Json status = Status();
    for (const Json& c : api::ListAt(status, "conditions"))
      return std::string(StringAt(c, "status")) + " " + std::string(StringAt(c, "reason"));
    return "none";
  }
  std::string EventMessage(std::string_view reason) {
    for (const ObjectPtr& event : bed_.List("events", "default"))
      if (StringAt(*event->Document(), "reason") == reason)
        return std::string(StringAt(*event->Document(), "message"));
    return "none";
  }
  bool Exists(const std::string& pod) { return bed_.Get("pods", "default", pod) != nullptr; }

  Testbed bed_{{.controllers = "*,-deployment-controller,-job-controller,-replicaset-controller"}};
};

TEST_F(DisruptionControllerTest, TheStatusFollowsThePods) {
  MakeBudget({{"minAvailable", 2}});
  Settle();
  EXPECT_EQ(Counts(), "0/2 of 0, 0");
  EXPECT_EQ(Condition(), "False InsufficientPods");
  EXPECT_EQ(EventMessage("NoPods"), "No matching pods found");
  for (const char* name : {"a", "b", "c"}) MakePod(name);
  Settle();
  EXPECT_EQ(Counts(), "3/2 of 3, 1");
  EXPECT_EQ(Condition(), "True SufficientPods");
  EXPECT_EQ(Status()["observedGeneration"], 1);
  bed_.Must(bed_.Patch("poddisruptionbudgets", {"default", "pdb"}, {{"spec", {{"minAvailable", 1}}}}));
  bed_.Must(bed_.Patch("pods", {"default", "a"}, {{"metadata", {{"labels", {{"app", "other"}}}}}}));
  Settle();
  EXPECT_EQ(Counts(), "2/1 of 2, 1");
  EXPECT_EQ(Status()["observedGeneration"], 2);
}

TEST_F(DisruptionControllerTest, ABudgetThatIsUsedUpRefusesInKubernetesWords) {
  for (const char* name : {"a", "b"}) MakePod(name, {}, {{"terrarium.dev/stop-after", "10s"}});
  MakeBudget({{"minAvailable", 1}});
  Settle();
  bed_.Must(bed_.Evict({"default", "a"}));
  Testbed::Written refused = bed_.Evict({"default", "b"});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code, 429);
  EXPECT_EQ(refused.status().message, "Cannot evict pod as it would violate the pod's disruption budget.");
  ASSERT_TRUE(refused.status().details.has_value());
  ASSERT_EQ(refused.status().details->causes.size(), 1u);
  EXPECT_EQ(refused.status().details->causes[0].reason, "DisruptionBudget");
  EXPECT_EQ(refused.status().details->causes[0].message,
            "The disruption budget pdb does not allow evicting pods currently");
  bed_.clock().Advance(1s);
  EXPECT_EQ(Counts(), "1/1 of 2, 0") << "the evicted pod is going and counts no more";
  EXPECT_FALSE(Status().contains("disruptedPods"));
  refused = bed_.Evict({"default", "b"});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().details->causes[0].message,
            "The disruption budget pdb needs 1 healthy pods and has 1 currently");
  Settle();
  EXPECT_FALSE(Exists("a"));
  EXPECT_TRUE(Exists("b"));
}

TEST_F(DisruptionControllerTest, ADrainEndsAsPodsAreReplaced) {
  ObjectPtr owner = bed_.Must(bed_.Create("replicasets", "default", ReplicaSet("rs", 3)));
  const std::vector<Json> owners = {ControlledBy(owner, "ReplicaSet")};
  for (int i = 0; i < 3; ++i) MakePod("old-" + std::to_string(i), owners);
  MakeBudget({{"maxUnavailable", 1}});
  Settle();
  EXPECT_EQ(Counts(), "3/2 of 3, 1");
  int refusals = 0;
  for (int i = 0; i < 3; ++i) {
    std::string name = "old-" + std::to_string(i);
    Testbed::Written evicted = bed_.Evict({"default", name});
    while (!evicted) {
      ASSERT_EQ(evicted.status().code, 429);
      ASSERT_LT(++refusals, 10);
      MakePod("new-" + std::to_string(i), owners, {{"terrarium.dev/ready-delay", "7s"}});
      Settle();
      evicted = bed_.Evict({"default", name});
    }
    bed_.clock().Settle();
  }
  EXPECT_EQ(refusals, 2) << "the first one is free";
  Settle();
  for (int i = 0; i < 3; ++i) EXPECT_FALSE(Exists("old-" + std::to_string(i)));
}

TEST_F(DisruptionControllerTest, PercentagesAreOfWhatTheControllersWant) {
  Json deployment = ReplicaSet("web", 5);
  ObjectPtr owner = bed_.Must(bed_.Create("deployments", "default", deployment));
  Json of_deployment = ReplicaSet("web-1", 3);
  of_deployment["metadata"]["ownerReferences"] = Json::array({ControlledBy(owner, "Deployment")});
  ObjectPtr new_set = bed_.Must(bed_.Create("replicasets", "default", of_deployment));
  of_deployment["metadata"]["name"] = "web-2";
  ObjectPtr old_set = bed_.Must(bed_.Create("replicasets", "default", of_deployment));
  ObjectPtr lone_set = bed_.Must(bed_.Create("replicasets", "default", ReplicaSet("lone", 2)));
  MakePod("a", {ControlledBy(new_set, "ReplicaSet")});
  MakePod("b", {ControlledBy(old_set, "ReplicaSet")});
  MakePod("c", {ControlledBy(lone_set, "ReplicaSet")});
  MakeBudget({{"minAvailable", "50%"}});
  Settle();
  EXPECT_EQ(Counts(), "3/4 of 7, 0") << "5 of the Deployment, once, and 2 of the other ReplicaSet";
}

TEST_F(DisruptionControllerTest, ControllersWithoutAScaleMakeItFail) {
  Json spec = PodSpec();
  spec["restartPolicy"] = "Never";
  Json job = {{"metadata", {{"name", "job"}}}, {"spec", {{"template", {{"spec", spec}}}}}};
  ObjectPtr owner = bed_.Must(bed_.Create("jobs", "default", job));
  MakePod("a", {ControlledBy(owner, "Job", "batch/v1")});
  MakeBudget({{"maxUnavailable", 1}});
  Settle();
  EXPECT_EQ(Condition(), "False SyncFailed");
  EXPECT_EQ(Status()["disruptionsAllowed"], 0);
  EXPECT_EQ(
      EventMessage("CalculateExpectedPodCountFailed"),
      "Failed to calculate the number of expected pods: jobs.batch does not implement the scale subresource");
}

TEST_F(DisruptionControllerTest, BarePodsCountForAnIntegerAndAreReportedOtherwise) {
  MakePod("bare");
  MakeBudget({{"maxUnavailable", 1}});
  Settle();
  EXPECT_EQ(Counts(), "1/0 of 0, 0");
  EXPECT_EQ(
      EventMessage("UnmanagedPods"),
      "Pods selected by this PodDisruptionBudget (selector: "
      "&LabelSelector{MatchLabels:map[string]string{app: "
      "web,},MatchExpressions:[]LabelSelectorRequirement{},}) were found to be unmanaged. As a result, the "
      "status of the PDB cannot be calculated correctly, which may result in undefined behavior. To account "
      "for "
      "these pods please set \".spec.minAvailable\" field of the PDB to an integer value.");
}

TEST_F(DisruptionControllerTest, AnEvictionThatDeletesNothingIsForgottenAfterTwoMinutes) {
  for (const char* name : {"a", "b"}) MakePod(name);
  MakeBudget({{"minAvailable", 1}});
  Settle();
  // The write of an apiserver that has allowed an eviction and then crashed.
  Json budget = bed_.Get("poddisruptionbudgets", "default", "pdb")->Parse();
  budget["status"]["disruptedPods"] = {{"a", api::FormatTime(bed_.Now())}};
  budget["status"]["disruptionsAllowed"] = 0;
  bed_.Must(bed_.Update("poddisruptionbudgets", budget, "status"));
  bed_.clock().Advance(1min);
  EXPECT_EQ(Counts(), "1/1 of 2, 0");
  EXPECT_TRUE(Status().contains("disruptedPods"));
  bed_.clock().Advance(61s);
  EXPECT_EQ(Counts(), "2/1 of 2, 1");
  EXPECT_FALSE(Status().contains("disruptedPods"));
  EXPECT_EQ(EventMessage("NotDeleted"),
            "Pod was expected by PDB default/default to be deleted but it wasn't");
}

TEST_F(DisruptionControllerTest, AStaleDisruptionTargetConditionIsReset) {
  MakePod("a");
  Settle();
  auto condition = [this] {
    auto document = bed_.Get("pods", "default", "a")->Document();
    const Json* found = api::FindCondition(*document, "DisruptionTarget");
    return found == nullptr ? std::string("none") : std::string(StringAt(*found, "status"));
  };
  bed_.Must(bed_.Patch("pods", {"default", "a"},
                       {{"status",
                         {{"conditions",
                           {{{"type", "DisruptionTarget"},
                             {"status", "True"},
                             {"reason", "PreemptionByScheduler"},
                             {"lastTransitionTime", api::FormatTime(bed_.Now())}}}}}}},
                       "status"));
  bed_.clock().Advance(119s);
  EXPECT_EQ(condition(), "True");
  bed_.clock().Advance(1s);
  EXPECT_EQ(condition(), "False");
}

TEST_F(DisruptionControllerTest, ADeletedPodLeavesNoTimer) {
  for (const char* name : {"a", "b"}) MakePod(name);
  MakeBudget({{"minAvailable", 1}});
  Settle();
  api::Time before = bed_.Now();
  bed_.Must(bed_.Evict({"default", "a"}));
  Settle();
  EXPECT_FALSE(Exists("a"));
  EXPECT_LT(bed_.Now() - before, 1min) << "the expiry of the eviction is not waited for";
}

TEST_F(DisruptionControllerTest, APodOfTwoBudgetsIsReportedAndBothAreKept) {
  MakeBudget({{"minAvailable", 1}});
  Json second = {{"metadata", {{"name", "second"}}},
                 {"spec", {{"minAvailable", 1}, {"selector", {{"matchLabels", kLabels}}}}}};
  bed_.Must(bed_.Create("poddisruptionbudgets", "default", second));
  Settle();
  MakePod("a");
  Settle();
  EXPECT_EQ(EventMessage("MultiplePodDisruptionBudgets"),
            "Pod \"default\"/\"a\" matches multiple PodDisruptionBudgets.  Chose \"pdb\" arbitrarily.");
  EXPECT_EQ(Counts(), "1/1 of 1, 0");
  auto document = bed_.Get("poddisruptionbudgets", "default", "second")->Document();
  EXPECT_EQ(api::IntAt(*document, -1, "status", "currentHealthy"), 1);
}

}  // namespace
}  // namespace terrarium::controllers

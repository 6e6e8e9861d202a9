// A Deployment copies its downscalePodPicker to its ReplicaSets (KEP-3189).

#include <map>
#include <set>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/json_access.h"
#include "controllers/deployment/internal/annotations.h"
#include "testbed/embedding/testbed.h"
#include "tests/controllers/deployment/deployment_alone.h"
#include "tests/controllers/runtime/fake_http_caller.h"

namespace terrarium::controllers::deployment {
namespace {

using controllers_testing::FakeHttpCaller;
using controllers_testing::Picks;
using testing::AllOf;
using testing::Each;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using namespace std::chrono_literals;

Json Picker(const std::string& host) {
  return {{"http", {{"host", host}, {"port", 8080}, {"path", "/pick"}, {"scheme", "HTTP"}}},
          {"maxRetries", 3},
          {"timeoutSeconds", 1}};
}

class DeploymentPicker : public testing::Test {
 protected:
  DeploymentPicker() {
    caller_.answer = [](const api::HttpCall&) { return Picks({}); };
  }
  void Create(int replicas, const Json& picker) {
    const Json labels = {{"app", "web"}};
    Json spec = {{"replicas", replicas},
                 {"selector", {{"matchLabels", labels}}},
                 {"template",
                  {{"metadata", {{"labels", labels}}},
                   {"spec", {{"containers", {{{"name", "c"}, {"image", "web:1"}}}}}}}}};
    if (!picker.is_null()) spec["downscalePodPicker"] = picker;
    bed_.Must(bed_.Create("deployments", "default", {{"metadata", {{"name", "web"}}}, {"spec", spec}}));
    Settle();
  }
  void PatchSpec(const Json& spec) {
    bed_.Must(bed_.Patch("deployments", {"default", "web"}, {{"spec", spec}}));
    Settle();
  }
  void SetImage(const std::string& image) {
    PatchSpec({{"template", {{"spec", {{"containers", {{{"name", "c"}, {"image", image}}}}}}}}});
  }
  void Settle() { ASSERT_EQ(bed_.clock().RunUntilIdle(10min).why, testbed::RunOutcome::Why::kIdle); }

  // The pickers of all ReplicaSets; null for a ReplicaSet without one.
  std::vector<Json> Pickers() {
    std::vector<Json> pickers;
    for (const ObjectPtr& set : bed_.List("replicasets", "default")) {
      std::shared_ptr<const Json> document = set->Document();
      const Json* picker = api::Find(*document, "spec", "downscalePodPicker");
      pickers.push_back(picker == nullptr ? Json() : *picker);
    }
    return pickers;
  }
  // Everything that a rollout would change: names and revisions of the ReplicaSets, and the pods.
  std::set<std::string> Rollout() {
    std::set<std::string> seen;
    for (const ObjectPtr& set : bed_.List("replicasets", "default"))
      seen.insert(set->header().name + " " +
                  std::string(StringAt(*set->Document(), "metadata", "annotations", kRevision)));
    for (const ObjectPtr& pod : bed_.List("pods", "default")) seen.insert(pod->header().name);
    return seen;
  }

  FakeHttpCaller caller_;
  testbed::Testbed bed_{{.feature_gates = "DownscalePodPicker=true", .nodes = 1, .http_caller = &caller_}};
};

TEST_F(DeploymentPicker, GoesToTheReplicaSetsItMakes) {
  Create(2, Picker("a"));
  EXPECT_THAT(Pickers(), ElementsAre(Picker("a")));
  SetImage("web:2");
  EXPECT_THAT(Pickers(), ElementsAre(Picker("a"), Picker("a")));
}

TEST_F(DeploymentPicker, AChangeReachesAllReplicaSetsWithoutARollout) {
  Create(2, nullptr);
  SetImage("web:2");
  SetImage("web:3");
  const std::set<std::string> before = Rollout();
  EXPECT_THAT(Pickers(), ElementsAre(Json(), Json(), Json()));
  PatchSpec({{"downscalePodPicker", Picker("a")}});
  EXPECT_THAT(Pickers(), AllOf(SizeIs(3), Each(Picker("a"))));
  PatchSpec({{"downscalePodPicker", {{"http", {{"host", "b"}}}, {"timeoutSeconds", 7}}}});
  Json changed = Picker("b");
  changed["timeoutSeconds"] = 7;
  EXPECT_THAT(Pickers(), Each(changed));
  PatchSpec({{"downscalePodPicker", nullptr}});
  EXPECT_THAT(Pickers(), ElementsAre(Json(), Json(), Json()));
  EXPECT_EQ(Rollout(), before);
}

TEST_F(DeploymentPicker, RemovedFieldsAreRemovedFromAllReplicaSets) {
  Json with_headers = Picker("a");
  with_headers["http"]["httpHeaders"] = {{{"name", "X-A"}, {"value", "1"}},
                                         {{"name", "X-B"}, {"value", "2"}}};
  Create(1, with_headers);
  EXPECT_THAT(Pickers(), ElementsAre(with_headers));
  PatchSpec({{"downscalePodPicker", {{"http", {{"httpHeaders", nullptr}, {"path", nullptr}}}}}});
  Json plain = Picker("a");
  plain["http"].erase("path");
  EXPECT_THAT(Pickers(), ElementsAre(plain));
}

TEST_F(DeploymentPicker, APausedDeploymentHandsItOn) {
  Create(2, nullptr);
  PatchSpec({{"paused", true}, {"downscalePodPicker", Picker("a")}});
  EXPECT_THAT(Pickers(), ElementsAre(Picker("a")));
}

TEST_F(DeploymentPicker, AReplicaSetOfADeploymentLosesItsOwnPicker) {
  Create(1, Picker("a"));
  const std::string name = bed_.List("replicasets", "default").at(0)->header().name;
  bed_.Must(
      bed_.Patch("replicasets", {"default", name}, {{"spec", {{"downscalePodPicker", Picker("mine")}}}}));
  Settle();
  EXPECT_THAT(Pickers(), ElementsAre(Picker("a")));
  PatchSpec({{"downscalePodPicker", nullptr}});
  bed_.Must(
      bed_.Patch("replicasets", {"default", name}, {{"spec", {{"downscalePodPicker", Picker("mine")}}}}));
  Settle();
  EXPECT_THAT(Pickers(), ElementsAre(Json()));
}

TEST_F(DeploymentPicker, AScaleDownThatComesWithAPickerAsksIt) {
  Create(3, Picker("old"));
  caller_.answer = [](const api::HttpCall& call) {
    return Picks({Json::parse(call.body)["candidate_pods"][0].get<std::string>()});
  };
  const std::string first = bed_.List("pods", "default").at(0)->header().name;
  PatchSpec({{"replicas", 2}, {"downscalePodPicker", {{"http", {{"host", "new"}}}}}});
  ASSERT_THAT(caller_.calls, SizeIs(1));
  EXPECT_EQ(caller_.calls[0].host, "new");
  EXPECT_EQ(bed_.Get("pods", "default", first), nullptr);
}

// In a rolling update each old ReplicaSet that shrinks, but not to 0, calls the picker with its own pods.
TEST_F(DeploymentPicker, ARolloutAsksForThePodsOfTheOldReplicaSet) {
  Create(4, Picker("a"));
  std::set<std::string> old;
  for (const ObjectPtr& pod : bed_.List("pods", "default")) old.insert(pod->header().name);
  SetImage("web:2");
  ASSERT_THAT(caller_.calls, testing::Not(IsEmpty()));
  for (const api::HttpCall& call : caller_.calls) {
    const Json asked = Json::parse(call.body);
    for (const Json& name : asked["candidate_pods"]) EXPECT_TRUE(old.contains(name));
  }
}

using DeploymentPickerGates = DeploymentAlone;

TEST_F(DeploymentPickerGates, WithTheGateOffPickersAreNeitherCopiedNorRemoved) {
  auto set_gate = [this](bool on) {
    runtime_.gates() = *runtime_.gates().With(std::map<std::string, bool>{{"DownscalePodPicker", on}});
  };
  Json deployment = Deployment(2);
  deployment["spec"]["downscalePodPicker"] = Picker("a");
  Put(deployment);
  ReportAll(Set());
  EXPECT_FALSE(Set()["spec"].contains("downscalePodPicker"));
  set_gate(true);
  ReportAll(Set());
  EXPECT_EQ(Set()["spec"]["downscalePodPicker"], Picker("a"));
  set_gate(false);
  SetSpec("downscalePodPicker", Picker("b"));
  EXPECT_EQ(Set()["spec"]["downscalePodPicker"], Picker("a"));
  SetSpec("downscalePodPicker", nullptr);
  EXPECT_EQ(Set()["spec"]["downscalePodPicker"], Picker("a"));
  set_gate(true);
  ReportAll(Set());
  EXPECT_FALSE(Set()["spec"].contains("downscalePodPicker"));
}

// The gate is on in the controller-manager and off in the apiserver, where an existing Deployment has a
// picker.
TEST_F(DeploymentPickerGates, AnApiserverThatTakesNoPickerDoesNotStopTheDeployment) {
  runtime_.gates() = *runtime_.gates().With("DownscalePodPicker=true");
  client_.drops_pickers = true;
  Json deployment = Deployment(2);
  deployment["spec"]["downscalePodPicker"] = Picker("a");
  Put(deployment);
  ReportAll(Set());
  EXPECT_FALSE(Set()["spec"].contains("downscalePodPicker"));
  SetSpec("replicas", 5);
  EXPECT_EQ(Set()["spec"]["replicas"], 5);
  EXPECT_EQ(client_.dropped, 1) << "what is dropped is not sent again";
  client_.drops_pickers = false;
  StartController();
  EXPECT_EQ(Set()["spec"]["downscalePodPicker"], Picker("a"));
}

// The same for an existing ReplicaSet.
TEST_F(DeploymentPickerGates, AnApiserverThatTakesNoPickerIsTriedOnce) {
  runtime_.gates() = *runtime_.gates().With("DownscalePodPicker=true");
  RunOne(2);
  client_.drops_pickers = true;
  SetSpec("downscalePodPicker", Picker("a"));
  SetSpec("replicas", 3);
  SetSpec("replicas", 4);
  EXPECT_EQ(Set()["spec"]["replicas"], 4);
  EXPECT_EQ(client_.dropped, 1);
}

TEST_F(DeploymentPickerGates, APickerThatIsRefusedIsTriedAgain) {
  runtime_.gates() = *runtime_.gates().With("DownscalePodPicker=true");
  RunOne(2);
  client_.write_failures = {api::InternalError("no")};
  SetSpec("downscalePodPicker", Picker("a"));
  EXPECT_FALSE(Set()["spec"].contains("downscalePodPicker"));
  runtime_.Advance(1s);
  EXPECT_EQ(Set()["spec"]["downscalePodPicker"], Picker("a"));
}

}  // namespace
}  // namespace terrarium::controllers::deployment

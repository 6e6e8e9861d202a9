#include "testbed/invariants/monitor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/write_request.h"
#include "apiserver/in_process_client.h"
#include "controllers/runtime/why.h"
#include "testbed/embedding/testbed.h"

namespace terrarium::testbed::invariants {
namespace {

using api::Json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kGates = "DeploymentPodReplacementPolicy=true";
const TestbedOptions kBareApiserver = {
    .feature_gates = kGates, .controllers = "", .kubelet = false, .scheduler = false, .nodes = 0};

Json PodTemplate() {
  return {{"metadata", {{"labels", {{"app", "web"}}}}},
          {"spec", {{"containers", {{{"name", "c"}, {"image", "i"}}}}}}};
}

// A cluster without controllers. The test acts in their place.
class MonitorTest : public testing::Test {
 protected:
  void Watch(std::set<std::string> controllers) {
    MonitorOptions options;
    options.controllers = std::move(controllers);
    const api::FeatureGates gates = *api::FeatureGates().With(kGates);
    options.conduct = {true, gates, gates};
    options.on_violation = [this](const Violation& violation) {
      texts.push_back(violation.rule + ": " + violation.text);
    };
    monitor = std::make_unique<Monitor>(std::move(options));
    client = monitor->Watched(
        apiserver::MakeInProcessClient(bed.control_plane().env(), bed.control_plane().handler(),
                                       bed.control_plane().store(), {}),
        "controller-manager");
    monitor->Follow(bed.control_plane().store(), bed.control_plane().runtime());
  }
  void Send(api::WriteRequest request) {
    client->Send(std::move(request), [](api::Client::Written written) { Testbed::Must(std::move(written)); });
    bed.clock().Settle();
  }
  static Json Spec() {
    return {{"replicas", 1}, {"selector", {{"matchLabels", {{"app", "web"}}}}}, {"template", PodTemplate()}};
  }
  static Json ControlledBy(const api::ObjectPtr& owner, const char* kind) {
    return {{{"apiVersion", "apps/v1"},
             {"kind", kind},
             {"name", owner->header().name},
             {"uid", owner->header().uid},
             {"controller", true}}};
  }
  api::ObjectPtr MakeReplicaSet() {
    return Testbed::Must(
        bed.Create("replicasets", "default", {{"metadata", {{"name", "web"}}}, {"spec", Spec()}}));
  }
  api::ObjectPtr MakeDeployment() {
    Json spec = Spec();
    spec["podReplacementPolicy"] = "TerminationComplete";
    spec["strategy"] = {{"type", "Recreate"}};
    return Testbed::Must(
        bed.Create("deployments", "default", {{"metadata", {{"name", "web"}}}, {"spec", spec}}));
  }
  void MakePod(const std::string& name, const api::ObjectPtr& owner) {
    Json pod = PodTemplate();
    pod["metadata"]["name"] = name;
    pod["metadata"]["ownerReferences"] = ControlledBy(owner, "ReplicaSet");
    Testbed::Must(bed.Create("pods", "default", pod));
  }
  api::WriteRequest Status(int replicas) {
    Json status = {{"replicas", replicas}, {"fullyLabeledReplicas", replicas}, {"terminatingReplicas", 0}};
    return api::RequestToPatch("replicasets", {"default", "web"}, {{"status", status}}, "status");
  }
  std::vector<std::string> Take() { return std::exchange(texts, {}); }

  Testbed bed{kBareApiserver};
  std::vector<std::string> texts;
  std::unique_ptr<Monitor> monitor;
  std::unique_ptr<api::Client> client;
};

TEST_F(MonitorTest, SeesEveryRevisionInOrderHoweverLate) {
  Watch({"replicaset-controller"});
  api::ObjectPtr set = MakeReplicaSet();
  MakePod("a", set);
  MakePod("b", set);
  Testbed::Must(bed.Delete("pods", {"default", "b"}, {.grace_period_seconds = 0}));
  Send(Status(2));
  EXPECT_THAT(Take(), IsEmpty()) << "there were two for one revision";
  Send(Status(1));
  EXPECT_THAT(Take(), IsEmpty());
  Send(Status(2));
  EXPECT_THAT(Take(), ElementsAre(HasSubstr("replica-status: ")));
}

TEST_F(MonitorTest, BeginsWithWhatThereIs) {
  api::ObjectPtr set = MakeReplicaSet();
  MakePod("a", set);
  Watch({"replicaset-controller"});
  Send(Status(1));
  monitor->Idle();
  EXPECT_THAT(Take(), IsEmpty());
}

TEST_F(MonitorTest, WhatTheTestItselfWritesIsCheckedOnlyWhenTheClusterIsIdle) {
  Watch({"replicaset-controller"});
  MakeReplicaSet();
  Testbed::Must(bed.Patch("replicasets", {"default", "web"}, {{"status", {{"replicas", 5}}}}, "status"));
  monitor->Catchup();
  EXPECT_THAT(Take(), IsEmpty());
  monitor->Idle();
  EXPECT_THAT(Take(), ElementsAre(HasSubstr("at rest")));
}

TEST_F(MonitorTest, RulesOfControllersThatDoNotRunAreOff) {
  Watch({"disruption-controller"});
  MakeReplicaSet();
  Send(Status(7));
  monitor->Idle();
  EXPECT_THAT(Take(), IsEmpty());
}

TEST_F(MonitorTest, AWriteThatChangesNothingIsReportedThoughItMakesNoRevision) {
  Watch({});
  MakeReplicaSet();
  Send(Status(1));
  EXPECT_THAT(Take(), IsEmpty());
  std::int64_t revision = bed.control_plane().store().CurrentRevision();
  Send(Status(1));
  EXPECT_EQ(bed.control_plane().store().CurrentRevision(), revision);
  EXPECT_THAT(Take(), ElementsAre(HasSubstr("controller-manager patches replicasets/status default/web")));
}

TEST_F(MonitorTest, FollowsDeploymentsAndTheirReplicaSets) {
  Watch({"deployment-controller"});
  MakeDeployment();
  Send(api::RequestToPatch("deployments", {"default", "web"},
                           {{"status", {{"replicas", 1}, {"terminatingReplicas", 0}}}}, "status"));
  EXPECT_THAT(Take(), ElementsAre(HasSubstr("deployment-status: ")));
}

TEST_F(MonitorTest, FollowsThePodsOfADeploymentThatWaitsForTermination) {
  Watch({"deployment-controller", "replicaset-controller"});
  Json owner = ControlledBy(MakeDeployment(), "Deployment");
  auto create = [&](const char* name) {
    Json metadata = {{"name", name}, {"labels", {{"app", "web"}}}, {"ownerReferences", owner}};
    Send(api::RequestToCreate("replicasets", "default", {{"metadata", metadata}, {"spec", Spec()}}));
  };
  create("old");
  EXPECT_THAT(Take(), IsEmpty());
  create("new");
  EXPECT_THAT(Take(), ElementsAre(HasSubstr("deployment-bound: ")));
}

// -- in a testbed

// Acts as a controller that writes the same twice.
void WriteTwice(Testbed& bed) {
  Testbed::Must(bed.Create("configmaps", "default", {{"metadata", {{"name", "c"}}}}));
  auto client = bed.monitor().Watched(
      apiserver::MakeInProcessClient(bed.control_plane().env(), bed.control_plane().handler(),
                                     bed.control_plane().store(), {}),
      "controller-manager");
  for (int i = 0; i < 2; ++i) {
    client->Send(api::RequestToPatch("configmaps", {"default", "c"}, {{"data", {{"k", "v"}}}}, ""),
                 [](api::Client::Written) {});
    bed.clock().Settle();
  }
}

TEST(TestbedInvariants, AViolationIsPassedToTheTestsCallback) {
  std::vector<Violation> found;
  TestbedOptions options = kBareApiserver;
  options.on_violation = [&found](const Violation& violation) { found.push_back(violation); };
  Testbed bed(options);
  WriteTwice(bed);
  ASSERT_THAT(found, SizeIs(1));
  EXPECT_EQ(found[0].rule, "unchanged-write");
  EXPECT_EQ(found[0].revision, bed.control_plane().store().CurrentRevision());
  EXPECT_EQ(found[0].time, bed.Now());
}

void WriteTwiceWithARecord() {
  Testbed bed(kBareApiserver);
  controllers::WhyRecord record;
  record.action = "scale";
  record.resource = "configmaps";
  record.object = {"default", "c"};
  record.rule = "because of the moon";
  bed.why().Record(record);
  WriteTwice(bed);
}

TEST(TestbedInvariants, AViolationEndsAnyOtherTestAndPrintsWhy) {
  EXPECT_DEATH(WriteTwiceWithARecord(), "invariant broken: unchanged-write(.|\n)*because of the moon");
}

}  // namespace
}  // namespace terrarium::testbed::invariants

#include "controllers/replicaset/replicaset_controller.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/core_v1/pod.h"
#include "api/json_access.h"
#include "controllers/runtime/why.h"
#include "kubelet-fake/kubelet/pod_rules.h"
#include "tests/controllers/replicaset/replica_testing.h"

namespace terrarium::controllers {
namespace {

using api::Json;
using api::ObjectPtr;
using api::StringAt;
using controllers_testing::Pod;
using controllers_testing::ReplicaBed;
using controllers_testing::ReplicaSet;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using testing::UnorderedElementsAre;
using namespace std::chrono_literals;

class ReplicaSetControllerTest : public testing::Test {
 protected:
  ObjectPtr Make(const Json& replica_set) {
    return bed_.Must(bed_.Create("replicasets", "default", replica_set));
  }
  std::string Counts() { return bed_.Counts("replicasets", "web"); }
  ObjectPtr Owner() { return bed_.Get("replicasets", "default", "web"); }

  ReplicaBed bed_;
};

TEST_F(ReplicaSetControllerTest, MakesPodsOfItsTemplate) {
  Json replica_set = ReplicaSet("web", 2, {{"note", "hello"}});
  replica_set["spec"]["template"]["metadata"]["finalizers"] = {"example.com/hold"};
  ObjectPtr owner = Make(replica_set);
  bed_.Settle();
  std::vector<ObjectPtr> pods = bed_.PodsOf(owner);
  ASSERT_THAT(pods, SizeIs(2));
  Json pod = pods[0]->Parse();
  EXPECT_EQ(pod["metadata"]["generateName"], "web-");
  pod["metadata"]["labels"].erase("topology.kubernetes.io/zone");  // set from its node
  EXPECT_EQ(pod["metadata"]["labels"], Json({{"app", "web"}}));
  EXPECT_EQ(pod["metadata"]["annotations"], Json({{"note", "hello"}}));
  EXPECT_EQ(pod["metadata"]["finalizers"], Json::array({"example.com/hold"}));
  EXPECT_EQ(pod["metadata"]["ownerReferences"], Json::array({{{"apiVersion", "apps/v1"},
                                                              {"kind", "ReplicaSet"},
                                                              {"name", "web"},
                                                              {"uid", owner->header().uid},
                                                              {"controller", true},
                                                              {"blockOwnerDeletion", true}}}));
  EXPECT_EQ(pod["spec"]["containers"][0]["image"], "nginx");
  EXPECT_EQ(Counts(), "replicas 2 labelled 2 ready 2 available 2 terminating 0");
  EXPECT_EQ(bed_.StatusOf("replicasets", "web")["observedGeneration"], 1);
  EXPECT_THAT(
      bed_.EventsOf(owner),
      UnorderedElementsAre(
          "Normal SuccessfulCreate Created pod: " + pods[0]->header().name + " replicaset-controller",
          "Normal SuccessfulCreate Created pod: " + pods[1]->header().name + " replicaset-controller"));
}

TEST_F(ReplicaSetControllerTest, ScalesUpAndDown) {
  ObjectPtr owner = Make(ReplicaSet("web", 2));
  bed_.Settle();
  std::vector<std::string> first = bed_.PodNamesOf(owner);
  bed_.Scale("replicasets", "web", 5);
  bed_.Settle();
  EXPECT_EQ(Counts(), "replicas 5 labelled 5 ready 5 available 5 terminating 0");
  EXPECT_THAT(bed_.PodNamesOf(owner), testing::IsSupersetOf(first));
  bed_.Scale("replicasets", "web", 0);
  bed_.Settle();
  EXPECT_EQ(Counts(), "replicas 0 labelled 0 ready 0 available 0 terminating 0");
  EXPECT_THAT(bed_.PodsOf(owner), IsEmpty());
  EXPECT_EQ(bed_.StatusOf("replicasets", "web"),
            Json({{"replicas", 0}, {"terminatingReplicas", 0}, {"observedGeneration", 3}}));
}

TEST_F(ReplicaSetControllerTest, TheScaleSubresourceScalesIt) {
  ObjectPtr owner = Make(ReplicaSet("web", 1));
  bed_.Settle();
  bed_.Must(bed_.Patch("replicasets", {"default", "web"}, {{"spec", {{"replicas", 3}}}}, "scale"));
  bed_.Settle();
  EXPECT_THAT(bed_.PodsOf(owner), SizeIs(3));
}

TEST_F(ReplicaSetControllerTest, APodThatIsDeletedIsReplacedWhileItIsStillGoing) {
  ObjectPtr owner = Make(ReplicaSet("web", 2, {{"terrarium.dev/stop-after", "20s"}}));
  bed_.Settle();
  const std::string victim = bed_.PodNamesOf(owner)[0];
  bed_.Must(bed_.Delete("pods", {"default", victim}));
  bed_.clock().Advance(1s);
  EXPECT_EQ(Counts(), "replicas 2 labelled 2 ready 2 available 2 terminating 1");
  EXPECT_THAT(bed_.PodsOf(owner), SizeIs(3));
  bed_.Settle();
  EXPECT_EQ(Counts(), "replicas 2 labelled 2 ready 2 available 2 terminating 0");
}

TEST_F(ReplicaSetControllerTest, AFailedPodIsReplacedAndStays) {
  ObjectPtr owner = Make(ReplicaSet("web", 2));
  bed_.Settle();
  const std::string victim = bed_.PodNamesOf(owner)[0];
  ASSERT_TRUE(bed_.rules().Fail({{"namespace", "default"}, {"pod", victim}}).ok());
  bed_.Settle();
  EXPECT_EQ(Counts(), "replicas 2 labelled 2 ready 2 available 2 terminating 0");
  EXPECT_THAT(bed_.PodsOf(owner), SizeIs(3));
  EXPECT_EQ(api::PodPhase(*bed_.Get("pods", "default", victim)), "Failed");
  bed_.Scale("replicasets", "web", 0);
  bed_.Settle();
  EXPECT_THAT(bed_.PodNamesOf(owner), ElementsAre(victim))
      << "one that has ended is not among those scaled down";
}

TEST_F(ReplicaSetControllerTest, AdoptsOrphansThatItSelects) {
  bed_.Must(bed_.Create("pods", "default", Pod("orphan", {{"app", "web"}, {"more", "labels"}})));
  bed_.Must(bed_.Create("pods", "default", Pod("stranger", {{"app", "db"}})));
  bed_.Settle();
  ObjectPtr owner = Make(ReplicaSet("web", 2));
  bed_.Settle();
  EXPECT_THAT(bed_.PodNamesOf(owner), testing::Contains("orphan"));
  EXPECT_THAT(bed_.PodsOf(owner), SizeIs(2));
  EXPECT_EQ(Counts(), "replicas 2 labelled 2 ready 2 available 2 terminating 0");
  // One too many, later: it is adopted, and then one pod is deleted.
  bed_.Must(bed_.Create("pods", "default", Pod("late", {{"app", "web"}})));
  bed_.Settle();
  EXPECT_THAT(bed_.PodsOf(owner), SizeIs(2));
  EXPECT_EQ(Counts(), "replicas 2 labelled 2 ready 2 available 2 terminating 0");
}

TEST_F(ReplicaSetControllerTest, AnOrphanThatGetsTheRightLabelsIsAdopted) {
  ObjectPtr owner = Make(ReplicaSet("web", 0));
  bed_.Must(bed_.Create("pods", "default", Pod("stray", {{"app", "db"}})));
  bed_.Settle();
  bed_.Must(bed_.Patch("pods", {"default", "stray"}, {{"metadata", {{"labels", {{"app", "web"}}}}}}));
  bed_.Settle();
  EXPECT_EQ(bed_.Get("pods", "default", "stray"), nullptr) << "adopted, and one too many";
}

TEST_F(ReplicaSetControllerTest, APodWhoseLabelsChangeIsReleasedAndReplaced) {
  ObjectPtr owner = Make(ReplicaSet("web", 2));
  bed_.Settle();
  const std::string released = bed_.PodNamesOf(owner)[0];
  bed_.Must(bed_.Patch("pods", {"default", released}, {{"metadata", {{"labels", {{"app", "debug"}}}}}}));
  bed_.Settle();
  ObjectPtr pod = bed_.Get("pods", "default", released);
  ASSERT_NE(pod, nullptr);
  EXPECT_EQ(api::Find(*pod->Document(), "metadata", "ownerReferences"), nullptr);
  EXPECT_THAT(bed_.PodsOf(owner), SizeIs(2));
  EXPECT_EQ(Counts(), "replicas 2 labelled 2 ready 2 available 2 terminating 0");
}

TEST_F(ReplicaSetControllerTest, PodsWithoutALabelOfTheTemplateAreNotFullyLabelled) {
  Json replica_set = ReplicaSet("web", 2);
  replica_set["spec"]["template"]["metadata"]["labels"]["tier"] = "front";
  ObjectPtr owner = Make(replica_set);
  bed_.Settle();
  EXPECT_EQ(Counts(), "replicas 2 labelled 2 ready 2 available 2 terminating 0");
  bed_.Must(bed_.Patch("pods", {"default", bed_.PodNamesOf(owner)[0]},
                       {{"metadata", {{"labels", {{"tier", nullptr}}}}}}));
  bed_.Settle();
  EXPECT_EQ(Counts(), "replicas 2 labelled 1 ready 2 available 2 terminating 0");
}

TEST_F(ReplicaSetControllerTest, ADeletedOwnerCanLeaveItsPodsToTheNext) {
  ObjectPtr first = Make(ReplicaSet("web", 2));
  bed_.Settle();
  std::vector<std::string> pods = bed_.PodNamesOf(first);
  bed_.Must(bed_.Delete("replicasets", {"default", "web"}, {.propagation_policy = "Orphan"}));
  bed_.Settle();
  EXPECT_EQ(Owner(), nullptr);
  EXPECT_THAT(bed_.List("pods", "default"), SizeIs(2)) << "no pod is adopted, deleted or created";
  ObjectPtr second = Make(ReplicaSet("web", 2));
  bed_.Settle();
  EXPECT_EQ(bed_.PodNamesOf(second), pods);
}

TEST_F(ReplicaSetControllerTest, AnOwnerThatIsBeingDeletedManagesNothing) {
  Json replica_set = ReplicaSet("web", 2);
  replica_set["metadata"]["finalizers"] = {"example.com/hold"};
  ObjectPtr owner = Make(replica_set);
  bed_.Settle();
  bed_.Must(bed_.Delete("replicasets", {"default", "web"}));
  bed_.Must(bed_.Delete("pods", {"default", bed_.PodNamesOf(owner)[0]}));
  bed_.Must(bed_.Create("pods", "default", Pod("orphan", {{"app", "web"}})));
  bed_.Settle();
  EXPECT_THAT(bed_.PodsOf(owner), SizeIs(1));
  EXPECT_EQ(Counts(), "replicas 1 labelled 1 ready 1 available 1 terminating 0")
      << "but the status is current";
}

TEST_F(ReplicaSetControllerTest, TwoThatSelectTheSamePodsKeepTheirOwn) {
  Json other = ReplicaSet("web", 3);
  other["metadata"]["name"] = "other";
  ObjectPtr first = Make(ReplicaSet("web", 2));
  ObjectPtr second = Make(other);
  bed_.Settle();
  EXPECT_THAT(bed_.PodsOf(first), SizeIs(2));
  EXPECT_THAT(bed_.PodsOf(second), SizeIs(3));
  EXPECT_EQ(Counts(), "replicas 2 labelled 2 ready 2 available 2 terminating 0");
}

TEST_F(ReplicaSetControllerTest, APodIsAvailableOnceItHasBeenReadyForTheMinimalTime) {
  Json replica_set = ReplicaSet("web", 2);
  replica_set["spec"]["minReadySeconds"] = 30;
  Make(replica_set);
  bed_.clock().RunUntil([&] { return bed_.StatusOf("replicasets", "web")["readyReplicas"] == 2; }, 1min);
  const api::Time ready = bed_.Now();
  EXPECT_EQ(Counts(), "replicas 2 labelled 2 ready 2 available 0 terminating 0");
  bed_.clock().Advance(10s);
  bed_.Scale("replicasets", "web", 3);
  bed_.clock().Advance(20s - 1us - (bed_.Now() - ready - 10s));
  EXPECT_EQ(Counts(), "replicas 3 labelled 3 ready 3 available 0 terminating 0");
  bed_.clock().Advance(1us);
  EXPECT_EQ(Counts(), "replicas 3 labelled 3 ready 3 available 2 terminating 0");
  bed_.Settle();
  EXPECT_EQ(bed_.Now(), ready + 40s) << "the cluster waits for the last of them, and no longer";
  EXPECT_EQ(Counts(), "replicas 3 labelled 3 ready 3 available 3 terminating 0");
}

TEST_F(ReplicaSetControllerTest, DeletedPodsLeaveNoAvailabilityTimer) {
  Json replica_set = ReplicaSet("web", 2);
  replica_set["spec"]["minReadySeconds"] = 3600;
  Make(replica_set);
  bed_.clock().RunUntil([&] { return bed_.StatusOf("replicasets", "web")["readyReplicas"] == 2; }, 1min);
  bed_.Must(bed_.Delete("replicasets", {"default", "web"}));
  const api::Time before = bed_.Now();
  bed_.Settle();
  EXPECT_LT(bed_.Now() - before, 1min);
}

TEST_F(ReplicaSetControllerTest, AShorterMinReadySecondsTakesEffectImmediately) {
  Json replica_set = ReplicaSet("web", 1);
  replica_set["spec"]["minReadySeconds"] = 3600;
  Make(replica_set);
  bed_.clock().Advance(1min);
  EXPECT_EQ(Counts(), "replicas 1 labelled 1 ready 1 available 0 terminating 0");
  bed_.Must(bed_.Patch("replicasets", {"default", "web"}, {{"spec", {{"minReadySeconds", 50}}}}));
  bed_.clock().Settle();
  EXPECT_EQ(Counts(), "replicas 1 labelled 1 ready 1 available 1 terminating 0");
}

TEST_F(ReplicaSetControllerTest, EveryActionHasAWhyRecord) {
  ObjectPtr owner = Make(ReplicaSet("web", 3));
  bed_.Settle();
  bed_.Scale("replicasets", "web", 1);
  bed_.Settle();
  std::vector<WhyRecord> why = bed_.why().Find("replicasets", {"default", "web"});
  ASSERT_THAT(why, SizeIs(5));
  EXPECT_EQ(why[0].controller, "replicaset-controller");
  EXPECT_EQ(why[0].action, "create");
  EXPECT_EQ(why[0].resource, "pods");
  EXPECT_EQ(why[0].rule, "fewer live pods than spec.replicas");
  EXPECT_GT(why[0].revision, 0);
  EXPECT_EQ(*why[0].saw, Json({{"wanted", 3}, {"live", 0}, {"terminating", 0}}));
  EXPECT_EQ(why[0].saw, why[2].saw) << "one for the whole burst";
  EXPECT_EQ(why[3].action, "delete");
  EXPECT_EQ(why[3].rule, "more live pods than spec.replicas");
  EXPECT_EQ((*why[3].saw)["wanted"], 1);
  EXPECT_EQ((*why[3].saw)["live"], 3);
  EXPECT_EQ((*why[3].saw)["chosen"][0]["pod"], why[3].object.name);
  EXPECT_EQ((*why[3].saw)["chosen"][0]["deletionCost"], 0);
  EXPECT_THAT(bed_.EventsOf(owner), testing::Contains("Normal SuccessfulDelete Deleted pod: " +
                                                      why[3].object.name + " replicaset-controller"));
}

TEST_F(ReplicaSetControllerTest, InATerminatingNamespaceNoPodIsReplaced) {
  bed_.Must(bed_.Create("namespaces", "", {{"metadata", {{"name", "doomed"}}}}));
  bed_.Must(bed_.Create("replicasets", "doomed", ReplicaSet("web", 3)));
  bed_.Settle();
  EXPECT_THAT(bed_.List("pods", "doomed"), SizeIs(3));
  bed_.Must(bed_.Delete("namespaces", {"", "doomed"}));
  bed_.Settle();
  EXPECT_THAT(bed_.List("pods", "doomed"), IsEmpty());
  EXPECT_EQ(bed_.Get("namespaces", "", "doomed"), nullptr);
}

TEST_F(ReplicaSetControllerTest, WhatAQuotaRefusesIsAConditionUntilThereIsRoom) {
  bed_.Must(bed_.Create("resourcequotas", "default",
                        {{"metadata", {{"name", "two"}}}, {"spec", {{"hard", {{"pods", "2"}}}}}}));
  bed_.Settle();
  ObjectPtr owner = Make(ReplicaSet("web", 5));
  bed_.clock().Advance(1min);
  EXPECT_EQ(Counts(), "replicas 2 labelled 2 ready 2 available 2 terminating 0");
  std::shared_ptr<const Json> document = Owner()->Document();
  const Json* condition = api::FindCondition(*document, "ReplicaFailure");
  ASSERT_NE(condition, nullptr);
  EXPECT_EQ(StringAt(*condition, "reason"), "FailedCreate");
  EXPECT_THAT(
      std::string(StringAt(*condition, "message")),
      testing::MatchesRegex("pods \"web-.*\" is forbidden: exceeded quota: two, requested: pods=1, used: "
                            "pods=2, limited: pods=2"));
  EXPECT_THAT(bed_.EventsOf(owner),
              testing::Contains(testing::StartsWith("Warning FailedCreate Error creating: pods \"web-")));
  EXPECT_LT(bed_.StatusWrites("replicasets"), 10) << "retries are not reported again";
  bed_.Must(bed_.Patch("resourcequotas", {"default", "two"}, {{"spec", {{"hard", {{"pods", "9"}}}}}}));
  bed_.Settle();
  EXPECT_EQ(Counts(), "replicas 5 labelled 5 ready 5 available 5 terminating 0");
  document = Owner()->Document();
  EXPECT_EQ(api::FindCondition(*document, "ReplicaFailure"), nullptr);
}

// One status write per pod would be 3000 writes.
TEST(ReplicaSetAtScale, AThousandReplicasAreFewStatusWrites) {
  ReplicaBed bed({.nodes = 20});
  bed.Must(bed.Create("replicasets", "default", ReplicaSet("web", 1000)));
  bed.Settle();
  EXPECT_EQ(bed.Counts("replicasets", "web"),
            "replicas 1000 labelled 1000 ready 1000 available 1000 terminating 0");
  EXPECT_GT(bed.StatusWrites("replicasets"), 1);
  EXPECT_LT(bed.StatusWrites("replicasets"), 200);
}

// For every order in which the components run.
TEST(ReplicaSetSeeds, EverySeedComesToTheSameCounts) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    ReplicaBed bed({.seed = seed});
    ObjectPtr owner = bed.Must(bed.Create("replicasets", "default", ReplicaSet("web", 7)));
    bed.clock().RunUntil([&] { return bed.PodsOf(owner).size() >= 4; }, 1min);
    bed.Scale("replicasets", "web", 3);
    bed.clock().RunUntil([&] { return bed.PodsOf(owner).size() <= 5; }, 1min);
    bed.Scale("replicasets", "web", 5);
    bed.Settle();
    EXPECT_EQ(bed.Counts("replicasets", "web"), "replicas 5 labelled 5 ready 5 available 5 terminating 0")
        << seed;
    EXPECT_THAT(bed.PodsOf(owner), SizeIs(5)) << seed;
  }
}

}  // namespace
}  // namespace terrarium::controllers

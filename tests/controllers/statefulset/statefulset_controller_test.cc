// StatefulSets on a whole cluster: order, scaling, identity, replacement and ownership of pods.

#include "controllers/statefulset/statefulset_controller.h"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/json_access.h"
#include "tests/controllers/statefulset/statefulset_testing.h"

namespace terrarium::controllers_testing {
namespace {

using api::Json;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using namespace std::chrono_literals;

const Json kParallel = {{"podManagementPolicy", "Parallel"}};
const Json kReadyAfter10s = {{"ready-delay", "10s"}};

TEST(StatefulSetController, PodsStartInOrder) {
  SetCluster cluster;
  cluster.CreateSet(3, {}, kReadyAfter10s);
  cluster.Settle();
  EXPECT_EQ(cluster.PodStates(), "0n");
  cluster.Advance(9s);
  EXPECT_EQ(cluster.PodStates(), "0n");
  cluster.Advance(2s);
  EXPECT_EQ(cluster.PodStates(), "0 1n");
  cluster.Idle();
  EXPECT_EQ(cluster.PodStates(), "0 1 2");
  EXPECT_THAT(cluster.Decisions(), ElementsAre("create web-0", "create web-1", "create web-2"));
  EXPECT_EQ(cluster.LastRule(), "ordinal 2 has no pod, and the pods before it are available");
}

TEST(StatefulSetController, StatusIdentityAndEvents) {
  SetCluster cluster;
  cluster.CreateSet(2);
  cluster.Idle();
  ASSERT_THAT(cluster.Revisions(), SizeIs(1));
  const std::string revision = cluster.Revisions()[0];
  EXPECT_EQ(cluster.Status(), (Json{{"observedGeneration", 1},
                                    {"replicas", 2},
                                    {"readyReplicas", 2},
                                    {"availableReplicas", 2},
                                    {"currentReplicas", 2},
                                    {"updatedReplicas", 2},
                                    {"currentRevision", revision},
                                    {"updateRevision", revision},
                                    {"collisionCount", 0}}));
  const testbed::PodView pod = cluster.Pod("web-1");
  EXPECT_EQ(pod.label("statefulset.kubernetes.io/pod-name"), "web-1");
  EXPECT_EQ(pod.label("apps.kubernetes.io/pod-index"), "1");
  EXPECT_EQ(pod.label("controller-revision-hash"), revision);
  EXPECT_EQ(pod.field(".spec.hostname"), "web-1");
  EXPECT_EQ(pod.field(".spec.subdomain"), "web");
  EXPECT_EQ(pod.field(".metadata.generateName"), "web-");
  EXPECT_THAT(cluster.EventTexts(),
              ElementsAre("Normal SuccessfulCreate Create Pod web-0 in StatefulSet web successful",
                          "Normal SuccessfulCreate Create Pod web-1 in StatefulSet web successful"));
  const api::ObjectPtr history = cluster.Get("controllerrevisions", "default", revision);
  EXPECT_EQ(api::IntAt(*history->Document(), 0, "revision"), 1);
  EXPECT_EQ(history->controller()->name, "web");
}

TEST(StatefulSetController, ScalesDownFromTheHighestOrdinalOneByOne) {
  SetCluster cluster;
  cluster.CreateSet(3, {}, {{"stop-after", "10s"}});
  cluster.Idle();
  cluster.ScaleTo(1);
  cluster.Settle();
  EXPECT_EQ(cluster.PodStates(), "0 1 2t");
  EXPECT_EQ(cluster.LastRule(), "the pod's ordinal is not one of the set's: 0 to 0");
  cluster.Advance(11s);
  EXPECT_EQ(cluster.PodStates(), "0 1t");
  cluster.Idle();
  EXPECT_EQ(cluster.PodStates(), "0");
  EXPECT_EQ(cluster.Counter("replicas"), 1);
  cluster.ScaleTo(2);
  cluster.Idle();
  EXPECT_EQ(cluster.PodStates(), "0 1");
  cluster.ScaleTo(0);
  cluster.Idle();
  EXPECT_EQ(cluster.PodStates(), "");
  EXPECT_EQ(cluster.Counter("replicas"), 0);
}

TEST(StatefulSetController, AnyNumberOfReplicasTakesLittleMemory) {
  SetCluster cluster;
  cluster.CreateSet(1, Json::object(), {{"ready-delay", "10s"}});
  cluster.ScaleTo(std::numeric_limits<int>::max());
  cluster.Advance(25s);
  EXPECT_EQ(cluster.PodStates(), "0 1 2n");
  cluster.ScaleTo(2);
  cluster.Idle();
  EXPECT_EQ(cluster.PodStates(), "0 1");
}

TEST(StatefulSetController, ParallelDoesNotWait) {
  SetCluster cluster;
  cluster.CreateSet(4, kParallel, {{"ready-delay", "10s"}, {"stop-after", "10s"}});
  cluster.Settle();
  EXPECT_EQ(cluster.PodStates(), "0n 1n 2n 3n");
  cluster.Idle();
  cluster.ScaleTo(1);
  cluster.Settle();
  EXPECT_EQ(cluster.PodStates(), "0 1t 2t 3t");
  // They are replaced when they have gone, not before: names are unique.
  cluster.ScaleTo(4);
  cluster.Settle();
  EXPECT_EQ(cluster.PodStates(), "0 1t 2t 3t");
  cluster.Advance(11s);
  EXPECT_EQ(cluster.PodStates(), "0 1n 2n 3n");
}

// Scaling down waits while a pod with a lower ordinal is unhealthy.
TEST(StatefulSetController, AnUnhealthyPodStopsScaleDown) {
  SetCluster cluster;
  cluster.CreateSet(3);
  cluster.Idle();
  cluster.Must(cluster.Patch("pods", {"default", "web-0"},
                             {{"metadata", {{"annotations", {{"terrarium.dev/stop-after", "20s"}}}}}}));
  cluster.Must(cluster.Delete("pods", {"default", "web-0"}));
  cluster.ScaleTo(1);
  cluster.Settle();
  EXPECT_EQ(cluster.PodStates(), "0t 1 2");
  cluster.Idle();
  EXPECT_EQ(cluster.PodStates(), "0");
  EXPECT_THAT(cluster.Decisions(), ElementsAre("create web-0", "create web-1", "create web-2", "create web-0",
                                               "delete web-2", "delete web-1"));
}

TEST(StatefulSetController, OrdinalsMayStartElsewhere) {
  SetCluster cluster;
  cluster.CreateSet(2, {{"ordinals", {{"start", 5}}}});
  cluster.Idle();
  EXPECT_EQ(cluster.PodStates(), "5 6");
  cluster.PatchSpec({{"ordinals", {{"start", 4}}}});
  cluster.Idle();
  EXPECT_EQ(cluster.PodStates(), "4 5");
  EXPECT_EQ(cluster.Pod("web-4").label("apps.kubernetes.io/pod-index"), "4");
}

TEST(StatefulSetController, WaitsForMinReadySeconds) {
  SetCluster cluster;
  cluster.CreateSet(2, {{"minReadySeconds", 30}});
  cluster.Advance(29s);
  EXPECT_EQ(cluster.PodStates(), "0");
  EXPECT_EQ(cluster.Counter("readyReplicas"), 1);
  EXPECT_EQ(cluster.Counter("availableReplicas"), 0);
  cluster.Advance(2s);
  EXPECT_EQ(cluster.PodStates(), "0 1");
  EXPECT_EQ(cluster.Counter("availableReplicas"), 1);
  cluster.Idle();
  EXPECT_EQ(cluster.Counter("availableReplicas"), 2);
}

TEST(StatefulSetController, ADeletedPodComesBackUnderItsName) {
  SetCluster cluster;
  cluster.CreateSet(2);
  cluster.Idle();
  const std::string uid = cluster.Pod("web-0").uid();
  cluster.Must(cluster.Delete("pods", {"default", "web-0"}));
  cluster.Idle();
  EXPECT_EQ(cluster.PodStates(), "0 1");
  EXPECT_NE(cluster.Pod("web-0").uid(), uid);
}

// Without a kubelet: the test writes the phases.
class PhaseTest : public testing::TestWithParam<const char*> {};

TEST_P(PhaseTest, AnEndedPodIsReplaced) {
  SetCluster cluster({.kubelet = false, .nodes = 0});
  cluster.CreateSet(1);
  cluster.Settle();
  const std::string uid = cluster.Pod("web-0").uid();
  cluster.Must(cluster.Patch("pods", {"default", "web-0"}, {{"status", {{"phase", GetParam()}}}}, "status"));
  cluster.Settle();
  EXPECT_EQ(cluster.PodStates(), "0n");
  EXPECT_NE(cluster.Pod("web-0").uid(), uid);
  EXPECT_THAT(cluster.Decisions(), ElementsAre("create web-0", "delete web-0", "create web-0"));
  EXPECT_THAT(cluster.EventTexts(),
              ElementsAre("Normal SuccessfulCreate Create Pod web-0 in StatefulSet web successful",
                          "Normal SuccessfulDelete Delete Pod web-0 in StatefulSet web successful"));
}
INSTANTIATE_TEST_SUITE_P(Phases, PhaseTest, testing::Values("Failed", "Succeeded"));

TEST(StatefulSetController, PodsOfADeletedSetAreCollected) {
  SetCluster cluster;
  cluster.CreateSet(2);
  cluster.Idle();
  cluster.Must(cluster.Delete("statefulsets", {"default", "web"}));
  cluster.Idle();
  EXPECT_EQ(cluster.Get("statefulsets", "default", "web"), nullptr);
  EXPECT_THAT(cluster.Pods("app=web"), IsEmpty());
  EXPECT_THAT(cluster.Revisions(), IsEmpty());
}

TEST(StatefulSetController, OrphansAreAdoptedByTheNextSet) {
  SetCluster cluster;
  cluster.CreateSet(2);
  cluster.Idle();
  const std::string uid = cluster.Pod("web-1").uid();
  const std::vector<std::string> revisions = cluster.Revisions();
  cluster.Must(cluster.Delete("statefulsets", {"default", "web"}, {.propagation_policy = "Orphan"}));
  cluster.Idle();
  EXPECT_EQ(cluster.PodStates(), "");
  EXPECT_THAT(cluster.Pods("app=web"), SizeIs(2));
  cluster.CreateSet(2);
  cluster.Idle();
  EXPECT_EQ(cluster.PodStates(), "0 1");
  EXPECT_EQ(cluster.Pod("web-1").uid(), uid);
  EXPECT_EQ(cluster.Revisions(), revisions);
  EXPECT_EQ(cluster.Counter("updatedReplicas"), 2);
}

// A pod without the set's labels is released. Its name is taken until it is gone.
TEST(StatefulSetController, AReleasedPodKeepsItsName) {
  SetCluster cluster;
  cluster.CreateSet(2);
  cluster.Idle();
  cluster.Must(cluster.Patch("pods", {"default", "web-1"}, {{"metadata", {{"labels", {{"app", "x"}}}}}}));
  cluster.Advance(1min);
  EXPECT_EQ(cluster.Pod("web-1").controller(), "");
  EXPECT_EQ(cluster.PodStates(), "0");
  EXPECT_EQ(cluster.Counter("replicas"), 1);
  cluster.Must(cluster.Delete("pods", {"default", "web-1"}));
  cluster.Idle();
  EXPECT_EQ(cluster.PodStates(), "0 1");
}

// An orphan that the selector matches is adopted only if it is named like a pod of the set.
TEST(StatefulSetController, OnlyPodsOfTheSetsNameAreAdopted) {
  SetCluster cluster;
  cluster.CreateSet(1);
  cluster.Idle();
  const Json spec = {{"containers", {{{"name", "c"}, {"image", "web:1"}}}}};
  for (const char* name : {"db-0", "web-5"})
    cluster.Must(cluster.Create(
        "pods", "default", {{"metadata", {{"name", name}, {"labels", {{"app", "web"}}}}}, {"spec", spec}}));
  cluster.Idle();
  EXPECT_EQ(cluster.Pod("db-0").controller(), "");
  EXPECT_FALSE(cluster.Pod("web-5").exists());  // adopted, and surplus
  EXPECT_THAT(cluster.Decisions(), ElementsAre("create web-0", "delete web-5"));
}

TEST(StatefulSetController, ALostIdentityIsRestored) {
  SetCluster cluster;
  cluster.CreateSet(1);
  cluster.Idle();
  cluster.Must(
      cluster.Patch("pods", {"default", "web-0"},
                    {{"metadata", {{"labels", {{"statefulset.kubernetes.io/pod-name", nullptr}}}}}}));
  cluster.Idle();
  EXPECT_EQ(cluster.Pod("web-0").label("statefulset.kubernetes.io/pod-name"), "web-0");
  EXPECT_EQ(cluster.EventTexts().back(),
            "Normal SuccessfulUpdate Update Pod web-0 in StatefulSet web successful");
}

TEST(StatefulSetController, AQuotaStopsCreation) {
  SetCluster cluster;
  cluster.Must(cluster.Create("resourcequotas", "default",
                              {{"metadata", {{"name", "two"}}}, {"spec", {{"hard", {{"pods", "2"}}}}}}));
  cluster.Idle();
  cluster.CreateSet(4, kParallel);
  cluster.Advance(1min);
  EXPECT_EQ(cluster.PodStates(), "0 1");
  EXPECT_EQ(cluster.Counter("replicas"), 2);
  EXPECT_THAT(cluster.EventTexts(),
              testing::Contains(testing::StartsWith(
                  "Warning FailedCreate Create Pod web-2 in StatefulSet web failed error: pods \"web-2\" is "
                  "forbidden: exceeded quota: two")));
  cluster.Must(cluster.Delete("resourcequotas", {"default", "two"}));
  cluster.Idle();
  EXPECT_EQ(cluster.PodStates(), "0 1 2 3");
}

TEST(StatefulSetController, TheScaleSubresourceHasTheSelector) {
  SetCluster cluster;
  cluster.CreateSet(2);
  cluster.Idle();
  apiserver::Request request;
  request.method = "GET";
  request.path = "/apis/apps/v1/namespaces/default/statefulsets/web/scale";
  const Json scale = Json::parse(cluster.Serve(std::move(request)).body);
  EXPECT_EQ(scale["spec"]["replicas"], 2);
  EXPECT_EQ(scale["status"]["replicas"], 2);
  EXPECT_EQ(scale["status"]["selector"], "app=web");
}

}  // namespace
}  // namespace terrarium::controllers_testing

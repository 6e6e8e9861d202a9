// status.terminatingReplicas (KEP-3973), which a ReplicationController does not have.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/json_access.h"
#include "kubelet-fake/kubelet/pod_rules.h"
#include "tests/controllers/replicaset/replica_testing.h"

namespace terrarium::controllers {
namespace {

using api::Json;
using api::ObjectPtr;
using controllers_testing::ReplicaBed;
using controllers_testing::ReplicaSet;
using controllers_testing::ReplicationController;
using testing::IsEmpty;
using testing::SizeIs;
using namespace std::chrono_literals;

constexpr const char* kGateOff =
    "DeploymentReplicaSetTerminatingReplicas=false,DeploymentPodReplacementPolicy=false";

Json HeldReplicaSet(int replicas) {
  return ReplicaSet("web", replicas, {{"terrarium.dev/hold", "terminating"}});
}
void ReleasePod(ReplicaBed& bed, const std::string& pod) {
  ASSERT_TRUE(bed.rules().Release({{"namespace", "default"}, {"pod", pod}, {"point", "terminating"}}).ok());
}
std::string Counts(ReplicaBed& bed) { return bed.Counts("replicasets", "web"); }

// KEP-3973, integration: TestTerminatingReplicas, gate on.
TEST(TerminatingReplicas, TestTerminatingReplicasAreCountedWhenTheGateIsOn) {
  ReplicaBed bed;
  ObjectPtr owner = bed.Must(bed.Create("replicasets", "default", HeldReplicaSet(5)));
  bed.Settle();
  EXPECT_EQ(Counts(bed), "replicas 5 labelled 5 ready 5 available 5 terminating 0");
  bed.Scale("replicasets", "web", 2);
  bed.Settle();
  EXPECT_EQ(Counts(bed), "replicas 2 labelled 2 ready 2 available 2 terminating 3");
  EXPECT_THAT(bed.PodsOf(owner), SizeIs(5)) << "status.replicas does not count them";
  int left = 3;
  for (const ObjectPtr& pod : bed.PodsOf(owner)) {
    if (!pod->header().deleting) continue;
    ReleasePod(bed, pod->header().name);
    bed.Settle();
    --left;
    EXPECT_EQ(Counts(bed), "replicas 2 labelled 2 ready 2 available 2 terminating " + std::to_string(left));
  }
  EXPECT_EQ(left, 0);
  bed.Scale("replicasets", "web", 0);
  bed.Settle();
  EXPECT_EQ(Counts(bed), "replicas 0 labelled 0 ready 0 available 0 terminating 2");
}

// KEP-3973, integration: the current behavior remains unchanged when the gate is off.
TEST(TerminatingReplicas, AreAbsentWhenTheGateIsOff) {
  ReplicaBed bed({.feature_gates = kGateOff});
  ObjectPtr owner = bed.Must(bed.Create("replicasets", "default", HeldReplicaSet(3)));
  bed.Settle();
  EXPECT_EQ(Counts(bed), "replicas 3 labelled 3 ready 3 available 3");
  bed.Scale("replicasets", "web", 1);
  bed.Settle();
  EXPECT_EQ(Counts(bed), "replicas 1 labelled 1 ready 1 available 1");
  const std::int64_t revision = bed.Get("replicasets", "default", "web")->revision();
  const double syncs = bed.Metric("workqueue_adds_total{name=\"replicaset\"}");
  for (const ObjectPtr& pod : bed.PodsOf(owner))
    if (pod->header().deleting) ReleasePod(bed, pod->header().name);
  bed.Settle();
  EXPECT_THAT(bed.PodsOf(owner), SizeIs(1));
  EXPECT_EQ(bed.Get("replicasets", "default", "web")->revision(), revision);
  EXPECT_EQ(bed.Metric("workqueue_adds_total{name=\"replicaset\"}"), syncs);
}

// KEP-3973, unit: an ended pod is not terminating, even if a finalizer delays its deletion.
TEST(TerminatingReplicas, PodsThatHaveEndedAreNotAmongThem) {
  ReplicaBed bed;
  Json replica_set = ReplicaSet("web", 2, {{"terrarium.dev/stop-after", "10s"}});
  replica_set["spec"]["template"]["metadata"]["finalizers"] = {"example.com/hold"};
  ObjectPtr owner = bed.Must(bed.Create("replicasets", "default", replica_set));
  bed.Settle();
  bed.Scale("replicasets", "web", 0);
  bed.clock().Advance(5s);
  EXPECT_EQ(Counts(bed), "replicas 0 labelled 0 ready 0 available 0 terminating 2");
  bed.clock().Advance(10s);
  EXPECT_THAT(bed.PodsOf(owner), SizeIs(2)) << "ended, and held by their finalizers";
  EXPECT_EQ(Counts(bed), "replicas 0 labelled 0 ready 0 available 0 terminating 0");
}

TEST(TerminatingReplicas, APodDeletedByAnotherClientIsCounted) {
  ReplicaBed bed;
  ObjectPtr owner = bed.Must(bed.Create("replicasets", "default", HeldReplicaSet(2)));
  bed.Settle();
  bed.Must(bed.Delete("pods", {"default", bed.PodNamesOf(owner)[0]}));
  bed.Settle();
  EXPECT_EQ(Counts(bed), "replicas 2 labelled 2 ready 2 available 2 terminating 1");
}

// kubernetes#131821: the field does not exist in this status, so that every sync found a difference.
TEST(TerminatingReplicas, AReplicationControllerNeitherSyncsNorWritesForThem) {
  ReplicaBed bed;
  Json controller = ReplicationController("web", 3);
  controller["spec"]["template"]["metadata"]["annotations"] = {{"terrarium.dev/hold", "terminating"}};
  ObjectPtr owner = bed.Must(bed.Create("replicationcontrollers", "default", controller));
  bed.Settle();
  EXPECT_EQ(bed.Counts("replicationcontrollers", "web"), "replicas 3 labelled 3 ready 3 available 3");
  bed.Scale("replicationcontrollers", "web", 1);
  bed.Settle();
  EXPECT_EQ(bed.Counts("replicationcontrollers", "web"), "replicas 1 labelled 1 ready 1 available 1");
  const std::int64_t revision = bed.Get("replicationcontrollers", "default", "web")->revision();
  const double syncs = bed.Metric("workqueue_adds_total{name=\"replicationmanager\"}");
  EXPECT_GT(syncs, 0);
  for (const ObjectPtr& pod : bed.PodsOf(owner))
    if (pod->header().deleting) ReleasePod(bed, pod->header().name);
  bed.Settle();
  bed.clock().Advance(1h);
  EXPECT_THAT(bed.PodsOf(owner), SizeIs(1));
  EXPECT_EQ(bed.Get("replicationcontrollers", "default", "web")->revision(), revision);
  EXPECT_EQ(bed.Metric("workqueue_adds_total{name=\"replicationmanager\"}"), syncs);
}

TEST(ReplicationControllers, DoAsReplicaSetsDo) {
  ReplicaBed bed;
  bed.Must(bed.Create("pods", "default", controllers_testing::Pod("orphan", {{"app", "web"}})));
  ObjectPtr owner =
      bed.Must(bed.Create("replicationcontrollers", "default", ReplicationController("web", 2)));
  bed.Settle();
  EXPECT_THAT(bed.PodNamesOf(owner), testing::Contains("orphan"));
  std::vector<ObjectPtr> pods = bed.PodsOf(owner);
  ASSERT_THAT(pods, SizeIs(2));
  std::shared_ptr<const Json> document = pods[1]->Document();
  const Json& reference = api::ListAt(*document, "metadata", "ownerReferences")[0];
  EXPECT_EQ(api::StringAt(reference, "apiVersion"), "v1");
  EXPECT_EQ(api::StringAt(reference, "kind"), "ReplicationController");
  EXPECT_THAT(bed.EventsOf(owner), testing::ElementsAre("Normal SuccessfulCreate Created pod: " +
                                                        pods[1]->header().name + " replication-controller"));
  bed.Scale("replicationcontrollers", "web", 0);
  bed.Settle();
  EXPECT_THAT(bed.PodsOf(owner), IsEmpty());
}

}  // namespace
}  // namespace terrarium::controllers

#include "testbed/control_plane/state_metrics/state_metrics.h"

#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "api/object.h"
#include "storage/memory_store.h"
#include "testbed/embedding/testbed.h"

namespace terrarium::testbed {
namespace {

using api::Json;

class StateMetrics : public testing::Test {
 protected:
  void Put(std::string_view resource, std::string_view ns, std::string_view name, Json document) {
    api::ObjectHeader header;
    header.ns = ns;
    header.name = name;
    document["metadata"]["namespace"] = ns;
    document["metadata"]["name"] = name;
    storage::Write write;
    write.op = storage::Write::Op::kCreate;
    write.key = {std::string(resource), header.ns, header.name};
    write.object = api::Object::Make(std::move(header), std::move(document));
    store_->Submit(std::move(write), [](storage::WriteOutcome outcome) {
      ASSERT_EQ(outcome.code, storage::WriteOutcome::Code::kOk);
    });
  }

  std::string Text() const { return StateMetricsText(*store_); }

  // HELP, TYPE and samples of one family.
  std::string Family(const std::string& name) const {
    std::string found;
    std::string text = Text();
    for (std::size_t at = 0; at < text.size();) {
      const std::size_t end = text.find('\n', at) + 1;
      const std::string line = text.substr(at, end - at);
      if (line.starts_with("# HELP " + name + " ") || line.starts_with("# TYPE " + name + " ") ||
          line.starts_with(name + "{")) {
        found += line;
      }
      at = end;
    }
    return found;
  }

  std::unique_ptr<storage::Store> store_ = storage::OpenMemoryStore();
};

Json SomeDeployment() {
  return {
      {"metadata", {{"creationTimestamp", "2017-07-14T02:40:00Z"}, {"generation", 21}}},
      {"spec",
       {{"replicas", 5},
        {"strategy",
         {{"type", "RollingUpdate"}, {"rollingUpdate", {{"maxSurge", "25%"}, {"maxUnavailable", "25%"}}}}}}},
      {"status",
       {{"observedGeneration", 20},
        {"replicas", 6},
        {"readyReplicas", 4},
        {"availableReplicas", 3},
        {"unavailableReplicas", 2},
        {"updatedReplicas", 1},
        {"terminatingReplicas", 7}}}};
}

TEST_F(StateMetrics, AStoreWithoutWorkloadsHasNoLines) {
  Put("pods", "default", "web", {});
  EXPECT_EQ(Text(), "");
}

TEST_F(StateMetrics, ADeploymentWithoutConditionsIsPrintedWhole) {
  Put("deployments", "ns1", "web", SomeDeployment());
  EXPECT_EQ(Text(), R"(# HELP kube_deployment_owner Information about the Deployment's owner.
# TYPE kube_deployment_owner gauge
kube_deployment_owner{namespace="ns1",deployment="web",owner_kind="",owner_name=""} 1
# HELP kube_deployment_created [STABLE] Unix creation timestamp
# TYPE kube_deployment_created gauge
kube_deployment_created{namespace="ns1",deployment="web"} 1.5e+09
# HELP kube_deployment_status_replicas [STABLE] The number of replicas per deployment.
# TYPE kube_deployment_status_replicas gauge
kube_deployment_status_replicas{namespace="ns1",deployment="web"} 6
# HELP kube_deployment_status_replicas_ready [STABLE] The number of ready replicas per deployment.
# TYPE kube_deployment_status_replicas_ready gauge
kube_deployment_status_replicas_ready{namespace="ns1",deployment="web"} 4
# HELP kube_deployment_status_replicas_available [STABLE] The number of available replicas per deployment.
# TYPE kube_deployment_status_replicas_available gauge
kube_deployment_status_replicas_available{namespace="ns1",deployment="web"} 3
# HELP kube_deployment_status_replicas_unavailable [STABLE] The number of unavailable replicas per deployment.
# TYPE kube_deployment_status_replicas_unavailable gauge
kube_deployment_status_replicas_unavailable{namespace="ns1",deployment="web"} 2
# HELP kube_deployment_status_replicas_updated [STABLE] The number of updated replicas per deployment.
# TYPE kube_deployment_status_replicas_updated gauge
kube_deployment_status_replicas_updated{namespace="ns1",deployment="web"} 1
# HELP kube_deployment_status_replicas_terminating The number of terminating replicas per deployment.
# TYPE kube_deployment_status_replicas_terminating gauge
kube_deployment_status_replicas_terminating{namespace="ns1",deployment="web"} 7
# HELP kube_deployment_status_terminating_replicas The number of terminating replicas per deployment.
# TYPE kube_deployment_status_terminating_replicas gauge
kube_deployment_status_terminating_replicas{namespace="ns1",deployment="web"} 7
# HELP kube_deployment_status_observed_generation [STABLE] The generation observed by the deployment controller.
# TYPE kube_deployment_status_observed_generation gauge
kube_deployment_status_observed_generation{namespace="ns1",deployment="web"} 20
# HELP kube_deployment_status_condition [STABLE] The current status conditions of a deployment.
# TYPE kube_deployment_status_condition gauge
# HELP kube_deployment_spec_replicas [STABLE] Number of desired pods for a deployment.
# TYPE kube_deployment_spec_replicas gauge
kube_deployment_spec_replicas{namespace="ns1",deployment="web"} 5
# HELP kube_deployment_spec_paused [STABLE] Whether the deployment is paused and will not be processed by the deployment controller.
# TYPE kube_deployment_spec_paused gauge
kube_deployment_spec_paused{namespace="ns1",deployment="web"} 0
# HELP kube_deployment_spec_strategy_rollingupdate_max_unavailable [STABLE] Maximum number of unavailable replicas during a rolling update of a deployment.
# TYPE kube_deployment_spec_strategy_rollingupdate_max_unavailable gauge
kube_deployment_spec_strategy_rollingupdate_max_unavailable{namespace="ns1",deployment="web"} 1
# HELP kube_deployment_spec_strategy_rollingupdate_max_surge [STABLE] Maximum number of replicas that can be scheduled above the desired number of replicas during a rolling update of a deployment.
# TYPE kube_deployment_spec_strategy_rollingupdate_max_surge gauge
kube_deployment_spec_strategy_rollingupdate_max_surge{namespace="ns1",deployment="web"} 2
# HELP kube_deployment_metadata_generation [STABLE] Sequence number representing a specific generation of the desired state.
# TYPE kube_deployment_metadata_generation gauge
kube_deployment_metadata_generation{namespace="ns1",deployment="web"} 21
# HELP kube_deployment_deletion_timestamp Unix deletion timestamp
# TYPE kube_deployment_deletion_timestamp gauge
)");
}

// KEP-3973: with the gate off the field is absent, and so is the series.
TEST_F(StateMetrics, TerminatingReplicasHaveNoSampleWhenTheFieldIsAbsent) {
  Json absent = SomeDeployment();
  absent["status"].erase("terminatingReplicas");
  Json none = SomeDeployment();
  none["status"]["terminatingReplicas"] = 0;
  Put("deployments", "ns1", "gate-off", absent);
  Put("deployments", "ns1", "gate-on", none);
  Put("replicasets", "ns1", "gate-off", {{"status", {{"replicas", 1}}}});
  Put("replicasets", "ns1", "gate-on", {{"status", {{"replicas", 1}, {"terminatingReplicas", 0}}}});
  EXPECT_EQ(Family("kube_deployment_status_replicas_terminating"),
            "# HELP kube_deployment_status_replicas_terminating The number of terminating replicas per "
            "deployment.\n"
            "# TYPE kube_deployment_status_replicas_terminating gauge\n"
            "kube_deployment_status_replicas_terminating{namespace=\"ns1\",deployment=\"gate-on\"} 0\n");
  EXPECT_EQ(Family("kube_replicaset_status_terminating_replicas"),
            "# HELP kube_replicaset_status_terminating_replicas The number of terminating replicas per "
            "ReplicaSet.\n"
            "# TYPE kube_replicaset_status_terminating_replicas gauge\n"
            "kube_replicaset_status_terminating_replicas{namespace=\"ns1\",replicaset=\"gate-on\"} 0\n");
}

TEST_F(StateMetrics, AConditionHasASampleForEachStatusAndKeepsOnlyReasonsThatAreKnown) {
  Json deployment = SomeDeployment();
  deployment["status"]["conditions"] = {
      {{"type", "Available"}, {"status", "True"}, {"reason", "MinimumReplicasAvailable"}},
      {{"type", "Progressing"}, {"status", "Unknown"}, {"reason", "SomethingElse"}}};
  Put("deployments", "ns1", "web", deployment);
  EXPECT_EQ(Family("kube_deployment_status_condition"),
            R"(# HELP kube_deployment_status_condition [STABLE] The current status conditions of a deployment.
# TYPE kube_deployment_status_condition gauge
kube_deployment_status_condition{namespace="ns1",deployment="web",reason="MinimumReplicasAvailable",condition="Available",status="true"} 1
kube_deployment_status_condition{namespace="ns1",deployment="web",reason="MinimumReplicasAvailable",condition="Available",status="false"} 0
kube_deployment_status_condition{namespace="ns1",deployment="web",reason="MinimumReplicasAvailable",condition="Available",status="unknown"} 0
kube_deployment_status_condition{namespace="ns1",deployment="web",reason="unknown",condition="Progressing",status="true"} 0
kube_deployment_status_condition{namespace="ns1",deployment="web",reason="unknown",condition="Progressing",status="false"} 0
kube_deployment_status_condition{namespace="ns1",deployment="web",reason="unknown",condition="Progressing",status="unknown"} 1
)");
}

TEST_F(StateMetrics, RecreateHasNoRollingUpdateLimitsAndNumbersArePrintedAsTheyAre) {
  Json recreate = SomeDeployment();
  recreate["spec"]["strategy"] = {{"type", "Recreate"}};
  Json numbers = SomeDeployment();
  numbers["spec"]["paused"] = true;
  numbers["spec"]["strategy"]["rollingUpdate"] = {{"maxSurge", 10}, {"maxUnavailable", 0}};
  Put("deployments", "ns1", "numbers", numbers);
  Put("deployments", "ns1", "recreate", recreate);
  const std::string text = Text();
  EXPECT_NE(text.find("max_surge{namespace=\"ns1\",deployment=\"numbers\"} 10\n"), std::string::npos);
  EXPECT_NE(text.find("max_unavailable{namespace=\"ns1\",deployment=\"numbers\"} 0\n"), std::string::npos);
  EXPECT_NE(text.find("spec_paused{namespace=\"ns1\",deployment=\"numbers\"} 1\n"), std::string::npos);
  EXPECT_EQ(text.find("max_surge{namespace=\"ns1\",deployment=\"recreate\"}"), std::string::npos);
}

TEST_F(StateMetrics, AReplicaSetIsPrintedWithItsOwner) {
  Json set = {
      {"metadata",
       {{"creationTimestamp", "2026-01-01T00:00:00Z"},
        {"generation", 3},
        {"ownerReferences", {{{"kind", "Deployment"}, {"name", "web"}, {"controller", true}}}}}},
      {"spec", {{"replicas", 4}}},
      {"status",
       {{"replicas", 3}, {"fullyLabeledReplicas", 2}, {"readyReplicas", 1}, {"observedGeneration", 2}}}};
  Put("replicasets", "ns1", "web-1", set);
  EXPECT_EQ(Text(), R"(# HELP kube_replicaset_created [STABLE] Unix creation timestamp
# TYPE kube_replicaset_created gauge
kube_replicaset_created{namespace="ns1",replicaset="web-1"} 1.7672256e+09
# HELP kube_replicaset_status_replicas [STABLE] The number of replicas per ReplicaSet.
# TYPE kube_replicaset_status_replicas gauge
kube_replicaset_status_replicas{namespace="ns1",replicaset="web-1"} 3
# HELP kube_replicaset_status_fully_labeled_replicas [STABLE] The number of fully labeled replicas per ReplicaSet.
# TYPE kube_replicaset_status_fully_labeled_replicas gauge
kube_replicaset_status_fully_labeled_replicas{namespace="ns1",replicaset="web-1"} 2
# HELP kube_replicaset_status_ready_replicas [STABLE] The number of ready replicas per ReplicaSet.
# TYPE kube_replicaset_status_ready_replicas gauge
kube_replicaset_status_ready_replicas{namespace="ns1",replicaset="web-1"} 1
# HELP kube_replicaset_status_terminating_replicas The number of terminating replicas per ReplicaSet.
# TYPE kube_replicaset_status_terminating_replicas gauge
# HELP kube_replicaset_status_observed_generation [STABLE] The generation observed by the ReplicaSet controller.
# TYPE kube_replicaset_status_observed_generation gauge
kube_replicaset_status_observed_generation{namespace="ns1",replicaset="web-1"} 2
# HELP kube_replicaset_spec_replicas [STABLE] Number of desired pods for a ReplicaSet.
# TYPE kube_replicaset_spec_replicas gauge
kube_replicaset_spec_replicas{namespace="ns1",replicaset="web-1"} 4
# HELP kube_replicaset_metadata_generation [STABLE] Sequence number representing a specific generation of the desired state.
# TYPE kube_replicaset_metadata_generation gauge
kube_replicaset_metadata_generation{namespace="ns1",replicaset="web-1"} 3
# HELP kube_replicaset_owner [STABLE] Information about the ReplicaSet's owner.
# TYPE kube_replicaset_owner gauge
kube_replicaset_owner{namespace="ns1",replicaset="web-1",owner_kind="Deployment",owner_name="web",owner_is_controller="true"} 1
)");
}

TEST_F(StateMetrics, AReplicationControllerHasItsAvailableReplicasAndNoTerminatingOnes) {
  Put("replicationcontrollers", "ns1", "rc",
      {{"spec", {{"replicas", 2}}}, {"status", {{"availableReplicas", 1}}}});
  const std::string text = Text();
  EXPECT_NE(text.find("kube_replicationcontroller_status_available_replicas"
                      "{namespace=\"ns1\",replicationcontroller=\"rc\"} 1\n"),
            std::string::npos);
  EXPECT_NE(
      text.find(
          "kube_replicationcontroller_owner{namespace=\"ns1\",replicationcontroller=\"rc\",owner_kind=\"\","
          "owner_name=\"\",owner_is_controller=\"\"} 1\n"),
      std::string::npos);
  EXPECT_EQ(text.find("terminating"), std::string::npos);
}

TEST_F(StateMetrics, AStatefulSetShowsRevisionsOrdinalsAndRetention) {
  Json set = {
      {"spec",
       {{"replicas", 3},
        {"ordinals", Json::object()},
        {"persistentVolumeClaimRetentionPolicy", {{"whenDeleted", "Retain"}, {"whenScaled", "Delete"}}}}},
      {"status", {{"currentRevision", "db-1"}, {"updateRevision", "db-2"}, {"currentReplicas", 2}}}};
  Put("statefulsets", "ns1", "db", set);
  const std::string text = Text();
  for (const char* sample :
       {"kube_statefulset_replicas{namespace=\"ns1\",statefulset=\"db\"} 3\n",
        "kube_statefulset_ordinals_start{namespace=\"ns1\",statefulset=\"db\"} 0\n",
        "kube_statefulset_persistentvolumeclaim_retention_policy{namespace=\"ns1\",statefulset=\"db\","
        "when_deleted=\"Retain\",when_scaled=\"Delete\"} 1\n",
        "kube_statefulset_status_current_revision{namespace=\"ns1\",statefulset=\"db\",revision=\"db-1\"} "
        "1\n",
        "kube_statefulset_status_update_revision{namespace=\"ns1\",statefulset=\"db\",revision=\"db-2\"} 1\n",
        "kube_statefulset_status_replicas_current{namespace=\"ns1\",statefulset=\"db\"} 2\n"}) {
    EXPECT_NE(text.find(sample), std::string::npos) << sample;
  }
}

TEST_F(StateMetrics, ADaemonSetCountsItsNodes) {
  Put("daemonsets", "kube-system", "agent",
      {{"status", {{"desiredNumberScheduled", 3}, {"updatedNumberScheduled", 2}, {"numberUnavailable", 1}}}});
  const std::string labels = "{namespace=\"kube-system\",daemonset=\"agent\"} ";
  const std::string text = Text();
  EXPECT_NE(text.find("kube_daemonset_status_desired_number_scheduled" + labels + "3\n"), std::string::npos);
  EXPECT_NE(text.find("kube_daemonset_status_updated_number_scheduled" + labels + "2\n"), std::string::npos);
  EXPECT_NE(text.find("kube_daemonset_status_number_unavailable" + labels + "1\n"), std::string::npos);
  EXPECT_NE(text.find("kube_daemonset_status_number_ready" + labels + "0\n"), std::string::npos);
}

TEST_F(StateMetrics, AFailedJobHasItsReasonWhenItIsKnown) {
  Put("jobs", "ns1", "known",
      {{"status",
        {{"failed", 3},
         {"conditions", {{{"type", "Failed"}, {"status", "True"}, {"reason", "DeadlineExceeded"}}}}}}});
  Put("jobs", "ns1", "running", {{"status", {{"active", 1}, {"failed", 2}}}});
  Put("jobs", "ns1", "well", {{"status", {{"succeeded", 1}}}});
  EXPECT_EQ(
      Family("kube_job_status_failed"),
      R"(# HELP kube_job_status_failed [STABLE] The number of pods which reached Phase Failed and the reason for failure.
# TYPE kube_job_status_failed gauge
kube_job_status_failed{namespace="ns1",job_name="known",reason="BackoffLimitExceeded"} 0
kube_job_status_failed{namespace="ns1",job_name="known",reason="DeadlineExceeded"} 1
kube_job_status_failed{namespace="ns1",job_name="known",reason="Evicted"} 0
kube_job_status_failed{namespace="ns1",job_name="running",reason=""} 2
kube_job_status_failed{namespace="ns1",job_name="well"} 0
)");
  EXPECT_EQ(Family("kube_job_failed"), R"(# HELP kube_job_failed [STABLE] The job has failed its execution.
# TYPE kube_job_failed gauge
kube_job_failed{namespace="ns1",job_name="known",condition="true"} 1
kube_job_failed{namespace="ns1",job_name="known",condition="false"} 0
kube_job_failed{namespace="ns1",job_name="known",condition="unknown"} 0
)");
}

TEST_F(StateMetrics, AJobHasTimesAndLimitsOnlyWhenTheyAreSet) {
  Put("jobs", "ns1", "batch",
      {{"spec", {{"parallelism", 2}}},
       {"status",
        {{"startTime", "2017-05-26T12:00:07Z"},
         {"conditions", {{{"type", "Suspended"}, {"status", "False"}}}}}}});
  const std::string text = Text();
  const std::string labels = "{namespace=\"ns1\",job_name=\"batch\"} ";
  EXPECT_NE(text.find("kube_job_status_start_time" + labels + "1.495800007e+09\n"), std::string::npos);
  EXPECT_NE(text.find("kube_job_spec_parallelism" + labels + "2\n"), std::string::npos);
  EXPECT_NE(text.find("kube_job_status_suspended" + labels + "0\n"), std::string::npos);
  EXPECT_NE(text.find("kube_job_status_ready" + labels + "0\n"), std::string::npos);
  EXPECT_EQ(text.find("kube_job_status_completion_time{"), std::string::npos);
  EXPECT_EQ(text.find("kube_job_spec_completions{"), std::string::npos);
}

TEST_F(StateMetrics, LabelValuesAreEscaped) {
  Put("statefulsets", "ns1", "db", {{"status", {{"currentRevision", "a\"b\\c\nd"}}}});
  EXPECT_NE(Text().find(R"(current_revision{namespace="ns1",statefulset="db",revision="a\"b\\c\nd"} 1)"),
            std::string::npos);
}

TEST_F(StateMetrics, ValuesArePrintedAsGoPrintsFloats) {
  for (int generation : {0, 1, 999'999, 1'000'000, 1'234'567}) {
    Put("replicasets", "ns1", "g" + std::to_string(generation), {{"metadata", {{"generation", generation}}}});
  }
  const std::string text = Family("kube_replicaset_metadata_generation");
  for (const char* sample : {"\"g0\"} 0\n", "\"g1\"} 1\n", "\"g999999\"} 999999\n", "\"g1000000\"} 1e+06\n",
                             "\"g1234567\"} 1.234567e+06\n"}) {
    EXPECT_NE(text.find(sample), std::string::npos) << sample;
  }
}

TEST(StateMetricsOfACluster, AreOnTheMetricsPageBesideTheWorkqueues) {
  Testbed bed({.controllers = "-*", .kubelet = false, .scheduler = false, .nodes = 0});
  bed.Must(bed.Create("deployments", "default",
                      {{"metadata", {{"name", "web"}}},
                       {"spec",
                        {{"replicas", 3},
                         {"selector", {{"matchLabels", {{"app", "web"}}}}},
                         {"template",
                          {{"metadata", {{"labels", {{"app", "web"}}}}},
                           {"spec", {{"containers", {{{"name", "c"}, {"image", "i"}}}}}}}}}}}));
  apiserver::Request request;
  request.method = "GET";
  request.path = "/metrics";
  const std::string text = bed.Serve(std::move(request)).body;
  EXPECT_NE(text.find("\nkube_deployment_created{namespace=\"default\",deployment=\"web\"} 1.7672256e+09\n"),
            std::string::npos);
  EXPECT_NE(text.find("\nkube_deployment_spec_replicas{namespace=\"default\",deployment=\"web\"} 3\n"),
            std::string::npos);
  EXPECT_EQ(text.find("kube_replicaset_"), std::string::npos);
  EXPECT_NE(text.find("\n# TYPE apiserver_"), std::string::npos);
}

}  // namespace
}  // namespace terrarium::testbed

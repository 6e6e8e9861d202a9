// Lines of KEP-5882 and KEP-3973 that concern a whole cluster: risks, readiness answers, criteria. Each test
// names its line of docs/kep-coverage.md.

#include <chrono>
#include <cstdlib>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "api/json_access.h"
#include "apiserver/request.h"
#include "storage/store.h"
#include "tests/controllers/deployment/deployment_testing.h"

namespace terrarium::scenarios {
namespace {

using api::Json;
using controllers::deployment::kNoPolicy;
using controllers::deployment::kTerminationComplete;
using controllers::deployment::kTerminationStarted;
using controllers::deployment::PolicyCase;
using controllers::deployment::WebCluster;
using testbed::RunOutcome;
using namespace std::chrono_literals;

Json Rolling(int surge, int unavailable) {
  return {{"strategy", {{"rollingUpdate", {{"maxSurge", surge}, {"maxUnavailable", unavailable}}}}}};
}

std::string MetricsOf(WebCluster& cluster) {
  apiserver::Request request;
  request.method = "GET";
  request.path = "/metrics";
  return "\n" + cluster.bed().Serve(std::move(request)).body;
}
// The value of a series; -1 if absent.
double Metric(WebCluster& cluster, const std::string& series) {
  const std::string text = MetricsOf(cluster);
  const std::size_t found = text.find("\n" + series + " ");
  return found == std::string::npos ? -1 : std::strtod(text.c_str() + found + series.size() + 2, nullptr);
}

struct Rollout {
  api::Duration took{};
  std::int64_t most_pods = 0;
  friend bool operator==(const Rollout&, const Rollout&) = default;
};
Rollout RollOut(const PolicyCase& policy) {
  WebCluster cluster(policy);
  cluster.Create(4, Rolling(1, 1), {{"stop-after", "20s"}});
  cluster.RunToTheEnd();
  cluster.peak().Restart();
  const api::Time start = cluster.bed().Now();
  cluster.SetImage("web:2");
  auto complete = [&] { return cluster.Complete() && cluster.Sizes() == "0 4"; };
  EXPECT_EQ(cluster.bed().clock().RunUntil(complete, 1h).why, RunOutcome::Why::kDone);
  return {cluster.bed().Now() - start, cluster.peak().Most()};
}

// Feature Impact: slower with TerminationComplete, more resources with TerminationStarted, and opt-in.
TEST(Kep5882, RiskFeatureImpactIsTimeOrPodsAndOptIn) {
  const Rollout none = RollOut(kNoPolicy);
  const Rollout started = RollOut(kTerminationStarted);
  const Rollout complete = RollOut(kTerminationComplete);
  EXPECT_GT(complete.took, started.took + 20s);
  EXPECT_GT(started.most_pods, complete.most_pods);
  EXPECT_EQ(complete.most_pods, 5);
  EXPECT_EQ(none, RollOut({.name = "GateOff", .policy_gate = false}))
      << "who sets no policy sees no difference";
}

// "Will enabling / using this feature result in increasing time taken by any operations?": no, without a
// policy.
TEST(Kep5882, Prr20TheGateAloneTakesNoTime) {
  EXPECT_EQ(RollOut(kNoPolicy).took, RollOut({.name = "GateOff", .policy_gate = false}).took);
}

// "... in non-negligible increase of resource usage?": the controllers do no more syncs than without it.
TEST(Kep5882, Prr21TheGateAloneMakesForNoMoreSyncs) {
  auto syncs = [](const PolicyCase& policy) {
    WebCluster cluster(policy);
    cluster.Create(20, Rolling(5, 5), {{"stop-after", "20s"}});
    cluster.RunToTheEnd();
    cluster.SetImage("web:2");
    cluster.RunToTheEnd();
    std::map<std::string, double> counts;
    for (const char* queue : {"deployment", "replicaset"})
      counts[queue] = Metric(cluster, "workqueue_adds_total{name=\"" + std::string(queue) + "\"}");
    return counts;
  };
  const std::map<std::string, double> with_gate = syncs(kNoPolicy);
  EXPECT_EQ(with_gate, syncs({.name = "GateOff", .policy_gate = false}));
  EXPECT_GT(with_gate.at("deployment"), 10);
}

// Version skew: "Workloads that have the .spec.podReplacementPolicy field set will use the new behavior". The
// apiserver does not store terminatingReplicas either, in new ReplicaSets.
class Kep5882Skew : public testing::Test {
 protected:
  Kep5882Skew() {
    cluster_.Create(4, Rolling(1, 1), {{"hold", "terminating"}});
    cluster_.RunToTheEnd();
    cluster_.bed().Must(cluster_.bed().SetGates(
        "apiserver",
        {{"DeploymentPodReplacementPolicy", false}, {"DeploymentReplicaSetTerminatingReplicas", false}}));
    cluster_.Advance(1s);
    cluster_.peak().Restart();
  }
  // Releases one pod at a time until none is left.
  void LetAllGo() {
    for (int i = 0; i < 100 && cluster_.Terminating() > 0; ++i) {
      cluster_.ReleaseTerminating(static_cast<int>(cluster_.Terminating()) - 1);
      cluster_.Advance(1s);
    }
  }
  bool NewestReports() { return cluster_.Sets().back()["status"].contains("terminatingReplicas"); }

  WebCluster cluster_{kTerminationComplete};
};

TEST_F(Kep5882Skew, Skew4RolloutsOfWhatWasMadeInTheSkewKeepToTheBound) {
  for (const char* image : {"web:2", "web:3", "web:4"}) {
    cluster_.SetImage(image);
    cluster_.Advance(1s);
    EXPECT_FALSE(cluster_.Complete());
    EXPECT_FALSE(NewestReports());
    EXPECT_GT(cluster_.Terminating(), 0);
    LetAllGo();
    EXPECT_TRUE(cluster_.Complete());
    EXPECT_EQ(cluster_.LivePods(), 4);
  }
  EXPECT_EQ(cluster_.peak().Most(), 5);
}

TEST_F(Kep5882Skew, Skew4ScalingUpWaitsForPodsThatNoStatusReports) {
  cluster_.SetImage("web:2");
  cluster_.Advance(1s);
  LetAllGo();
  ASSERT_FALSE(NewestReports());
  cluster_.ScaleTo(2);
  cluster_.Advance(1s);
  cluster_.ScaleTo(4);
  cluster_.Advance(1s);
  EXPECT_EQ(cluster_.Terminating(), 2);
  EXPECT_EQ(cluster_.LivePods(), 3) << "3 and 2 that go are 4 + 1";
  LetAllGo();
  EXPECT_EQ(cluster_.LivePods(), 4);
  EXPECT_EQ(cluster_.peak().Most(), 5);
}

// Recreate uses the pods in any case.
TEST_F(Kep5882Skew, Skew4RecreateWaitsForPodsThatNoStatusReports) {
  cluster_.PatchSpec({{"strategy", {{"type", "Recreate"}, {"rollingUpdate", nullptr}}}});
  for (const char* image : {"web:2", "web:3"}) {
    cluster_.SetImage(image);
    cluster_.Advance(1s);
    EXPECT_EQ(cluster_.LivePods(), 0);
    LetAllGo();
    EXPECT_EQ(cluster_.LivePods(), 4);
  }
  EXPECT_EQ(cluster_.peak().Most(), 4);
}

// Both texts, beta: the metrics of kube-state-metrics, with terminating pods.
TEST(Kep5882, Beta5TerminatingPodsAreMetricsOfKubeStateMetrics) {
  WebCluster cluster(kNoPolicy);
  cluster.Create(3, Json::object(), {{"hold", "terminating"}});
  cluster.RunToTheEnd();
  cluster.ScaleTo(1);
  cluster.Settle();
  const std::string set(api::StringAt(cluster.Sets()[0], "metadata", "name"));
  const std::string of_set =
      "kube_replicaset_status_terminating_replicas{namespace=\"default\",replicaset=\"" + set + "\"}";
  const std::string of_deployment =
      "kube_deployment_status_replicas_terminating{namespace=\"default\",deployment=\"web\"}";
  EXPECT_EQ(Metric(cluster, of_set), 2);
  EXPECT_EQ(Metric(cluster, of_deployment), 2);
  cluster.ReleaseTerminating();
  cluster.RunToTheEnd();
  EXPECT_EQ(Metric(cluster, of_set), 0);
  EXPECT_EQ(Metric(cluster, of_deployment), 0);
}

// The whole Deployment at every stop of a sequence, without the field and random values.
std::vector<Json> Story(const PolicyCase& policy) {
  WebCluster cluster(policy);
  std::vector<Json> stops;
  auto stop = [&] {
    cluster.Advance(1s);
    Json seen = {{"status", cluster.Status()}, {"sizes", cluster.Sizes()}, {"pods", cluster.Pods()}};
    EXPECT_EQ(seen["status"].contains("terminatingReplicas"), policy.terminating_gate);
    seen["status"].erase("terminatingReplicas");
    for (Json& condition : seen["status"]["conditions"]) condition.erase("message");
    stops.push_back(std::move(seen));
  };
  cluster.Create(4, Rolling(1, 1), {{"stop-after", "10s"}});
  stop();
  cluster.SetImage("web:2");
  for (int i = 0; i < 15; ++i) stop();
  cluster.ScaleTo(2);
  stop();
  cluster.ScaleTo(6);
  for (int i = 0; i < 15; ++i) stop();
  return stops;
}

// Unit tests, Deployment: "The current behavior remains unchanged when the gate is disabled".
TEST(Kep3973, Unit3WithTheGateOffADeploymentDoesWhatItAlwaysDid) {
  const std::vector<Json> off = Story({.name = "Off", .policy_gate = false, .terminating_gate = false});
  const std::vector<Json> on = Story({.name = "On", .policy_gate = false});
  ASSERT_EQ(on.size(), off.size());
  for (std::size_t i = 0; i < on.size(); ++i) EXPECT_EQ(on[i], off[i]) << "stop " << i;
}

// Of the Deployment, its ReplicaSets and its pods, read from the store: an apiserver that is down serves
// nothing.
std::vector<Json> StoredDocuments(WebCluster& cluster) {
  std::vector<Json> documents;
  for (const char* resource : {"deployments", "replicasets", "pods"}) {
    storage::ListQuery query;
    query.resource = resource;
    const storage::Listing listing = *cluster.bed().control_plane().store().List(query);
    for (const api::ObjectPtr& object : listing.items) documents.push_back(object->Parse());
  }
  return documents;
}

// "How does this feature react if the API server and/or etcd is unavailable?": changes meanwhile are counted
// afterwards.
TEST(Kep3973, Prr23WithoutAnApiserverNothingIsCountedAndAfterwardsAllIs) {
  WebCluster cluster(kNoPolicy);
  cluster.Create(4, Rolling(1, 1), {{"hold", "terminating"}});
  cluster.RunToTheEnd();
  cluster.ScaleTo(2);
  cluster.Advance(1s);
  ASSERT_EQ(cluster.Counter("terminatingReplicas"), 2);
  cluster.ScaleTo(1);
  ASSERT_EQ(cluster.Terminating(), 2) << "the controllers have not reacted to the last scale";
  const std::vector<Json> before = StoredDocuments(cluster);
  ASSERT_EQ(before.size(), 1u + 1u + 4u);
  cluster.bed().Must(cluster.bed().Crash("apiserver"));
  cluster.Advance(10min);
  EXPECT_EQ(StoredDocuments(cluster), before) << "2 terminating pods, and a status that counts them";
  cluster.bed().Must(cluster.bed().Start("apiserver"));
  cluster.Advance(1min);
  EXPECT_EQ(cluster.Terminating(), 3);
  EXPECT_EQ(cluster.Counter("terminatingReplicas"), 3);
  EXPECT_EQ(api::IntAt(cluster.Sets()[0], 0, "status", "terminatingReplicas"), 3);
  cluster.ReleaseTerminating();
  cluster.RunToTheEnd();
  EXPECT_EQ(cluster.Status()["terminatingReplicas"], 0);
}

}  // namespace
}  // namespace terrarium::scenarios

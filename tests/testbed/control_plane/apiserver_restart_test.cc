// An apiserver that stops and restarts, as seen by clients and other components.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/core_v1/pod.h"
#include "tests/testbed/control_plane/component_testing.h"

namespace terrarium::testbed {
namespace {

using namespace std::chrono_literals;
using api::IntAt;
using api::Json;
using apiserver::ResponseStream;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

apiserver::Request Get(const std::string& path, std::vector<std::pair<std::string, std::string>> query = {}) {
  apiserver::Request request;
  request.method = "GET";
  request.path = path;
  request.query = std::move(query);
  return request;
}

// The events of a watch: types and names, in order.
class WatchClient {
 public:
  WatchClient(Testbed& bed, const std::string& path, const std::string& revision) {
    response_ = bed.Serve(Get(path, {{"watch", "true"}, {"resourceVersion", revision}}));
    if (response_.stream) response_.stream->SetWake([this] { ++wakes; });
  }
  ResponseStream::State Read() {
    std::string text;
    const ResponseStream::State state = response_.stream->Read(1 << 20, text);
    std::size_t begin = 0;
    for (std::size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1) {
      const Json event = Json::parse(text.substr(begin, end - begin));
      seen.push_back(std::string(event["type"]) + " " +
                     std::string(api::StringAt(event, "object", "metadata", "name")));
      last_revision = std::string(api::StringAt(event, "object", "metadata", "resourceVersion"));
    }
    return state;
  }
  const apiserver::Response& response() const { return response_; }

  std::vector<std::string> seen;
  std::string last_revision;
  int wakes = 0;

 private:
  apiserver::Response response_;
};

Json ConfigMap(const std::string& name) { return {{"metadata", {{"name", name}}}}; }

TEST(ApiServer, RequestsAreUnavailableWhileItIsDown) {
  Testbed bed;
  Testbed::Must(bed.Stop("apiserver"));
  for (const char* path : {"/api/v1/namespaces/default/pods", "/healthz", "/apis", "/metrics"}) {
    apiserver::Response answer = bed.Serve(Get(path));
    EXPECT_EQ(answer.code, 503) << path;
    const Json status = Json::parse(answer.body);
    EXPECT_EQ(status["kind"], "Status");
    EXPECT_EQ(status["reason"], "ServiceUnavailable");
    EXPECT_EQ(status["code"], 503);
  }
  auto written = bed.Create("configmaps", "default", ConfigMap("a"));
  ASSERT_FALSE(written.ok());
  EXPECT_EQ(written.status().code, 503);
  Testbed::Must(bed.Start("apiserver"));
  EXPECT_EQ(bed.Serve(Get("/healthz")).code, 200);
  EXPECT_EQ(bed.Get("configmaps", "default", "a"), nullptr);
}

TEST(ApiServer, ItsWatchesEndAbruptlyAndContinueWhereTheyWere) {
  for (const bool crash : {false, true}) {
    Testbed bed;
    const std::string path = "/api/v1/namespaces/default/configmaps";
    WatchClient watch(bed, path, std::to_string(bed.control_plane().store().CurrentRevision()));
    Testbed::Must(bed.Create("configmaps", "default", ConfigMap("a")));
    EXPECT_EQ(watch.Read(), ResponseStream::State::kOpen);
    EXPECT_THAT(watch.seen, ElementsAre("ADDED a"));
    Testbed::Must(bed.Create("configmaps", "default", ConfigMap("b")));
    const int wakes = watch.wakes;
    Testbed::Must(crash ? bed.Crash("apiserver") : bed.Stop("apiserver"));
    EXPECT_GT(watch.wakes, wakes);
    EXPECT_EQ(watch.Read(), crash ? ResponseStream::State::kCut : ResponseStream::State::kEnd);
    EXPECT_THAT(watch.seen, ElementsAre("ADDED a"));
    WatchClient refused(bed, path, watch.last_revision);
    EXPECT_EQ(refused.response().code, 503);
    Testbed::Must(bed.Start("apiserver"));
    WatchClient again(bed, path, watch.last_revision);
    Testbed::Must(bed.Create("configmaps", "default", ConfigMap("c")));
    EXPECT_EQ(again.Read(), ResponseStream::State::kOpen);
    EXPECT_THAT(again.seen, ElementsAre("ADDED b", "ADDED c"));
  }
}

TEST(ApiServer, GatesRuleTheRequestsAfterItsRestart) {
  Testbed bed({.feature_gates = kPolicyGates, .controllers = "-*"});
  Json deployment = TestDeployment(1, "i:1");
  deployment["spec"]["podReplacementPolicy"] = "TerminationComplete";
  const auto stored = [&](const std::string& name) {
    const Json document = DocumentOf(bed, "deployments", name);
    return std::string(api::StringAt(document, "spec", "podReplacementPolicy"));
  };
  Testbed::Must(bed.Create("deployments", "default", deployment));
  EXPECT_EQ(stored("web"), "TerminationComplete");
  Testbed::Must(bed.SetGates("apiserver", {{"DeploymentPodReplacementPolicy", false}}));
  EXPECT_EQ(bed.Component("apiserver").starts, 2);
  EXPECT_EQ(stored("web"), "TerminationComplete");
  deployment["metadata"]["name"] = "other";
  Testbed::Must(bed.Create("deployments", "default", deployment));
  EXPECT_EQ(stored("other"), "");
  Testbed::Must(bed.SetGates("apiserver", {{"DeploymentPodReplacementPolicy", true}}));
  Testbed::Must(bed.Patch("deployments", {"default", "other"},
                          {{"spec", {{"podReplacementPolicy", "TerminationStarted"}}}}));
  EXPECT_EQ(stored("other"), "TerminationStarted");
}

// As with kube-apiserver, /metrics has series before the first request of a client.
TEST(ApiServer, CountsTheRequestsThatItMakesToItselfWhenItStarts) {
  const auto series = [](const std::string& verb, const std::string& code) {
    return "apiserver_request_total{code=\"" + code +
           "\",component=\"apiserver\",dry_run=\"\",group=\"\",resource=\"services\",scope=\"resource\","
           "subresource=\"\",verb=\"" +
           verb + "\",version=\"v1\"} 1\n";
  };
  Testbed bed;
  const std::string first = bed.Serve(Get("/metrics")).body;
  EXPECT_THAT(first, HasSubstr(series("GET", "404")));
  EXPECT_THAT(first, HasSubstr(series("POST", "201")));
  Testbed::Must(bed.Restart("apiserver"));
  const std::string again = bed.Serve(Get("/metrics")).body;
  EXPECT_THAT(again, HasSubstr(series("GET", "200")));
  EXPECT_THAT(again, Not(HasSubstr(series("POST", "201"))));
}

TEST(ApiServer, RevisionsAndObjectsSurvive) {
  Testbed bed;
  Testbed::Must(bed.Create("configmaps", "default", ConfigMap("a")));
  const std::int64_t revision = bed.control_plane().store().CurrentRevision();
  const std::string text = bed.Get("configmaps", "default", "a")->body();
  Testbed::Must(bed.Crash("apiserver"));
  Testbed::Must(bed.Start("apiserver"));
  EXPECT_EQ(bed.control_plane().store().CurrentRevision(), revision);
  EXPECT_EQ(bed.Get("configmaps", "default", "a")->body(), text);
}

TEST(ApiServer, AClusterWithoutItIsIdleAndGoesOnWithIt) {
  Testbed bed({.feature_gates = kPolicyGates});
  Testbed::Must(bed.Create("deployments", "default", TestDeployment(4, "i:1")));
  bed.clock().RunUntil([&] { return LivePods(bed) >= 1; }, 1min);
  Testbed::Must(bed.Crash("apiserver"));
  const api::Time crashed = bed.Now();
  EXPECT_EQ(bed.clock().RunUntilIdle(1h).why, RunOutcome::Why::kIdle);
  EXPECT_EQ(bed.Now(), crashed);
  bed.clock().Advance(10s);
  EXPECT_FALSE(RolledOut(bed, 4, "i:1"));
  Testbed::Must(bed.Start("apiserver"));
  EXPECT_EQ(bed.clock().RunUntilIdle(10min).why, RunOutcome::Why::kIdle);
  EXPECT_TRUE(RolledOut(bed, 4, "i:1"));
}

TEST(ApiServer, HeartbeatsGoOnAfterAShortOutage) {
  Testbed bed;
  bed.clock().Advance(1min);
  Testbed::Must(bed.Stop("apiserver"));
  bed.clock().Advance(20s);
  Testbed::Must(bed.Start("apiserver"));
  bed.clock().Advance(1min);
  for (const api::ObjectPtr& lease : bed.List("leases", "kube-node-lease"))
    EXPECT_GE(*api::ParseTime(api::StringAt(lease->Parse(), "spec", "renewTime")), bed.Now() - 10s);
  for (const api::ObjectPtr& node : bed.List("nodes")) {
    const Json document = node->Parse();
    EXPECT_EQ(api::StringAt(*api::FindCondition(document, "Ready"), "status"), "True");
  }
}

// The apiserver stops at every moment of a rollout and of a Job, with responses in flight.
TEST(ApiServer, WorkIsNeitherLostNorDoubledWhereverItCrashes) {
  for (int at = 0; at < 12; ++at) {
    Testbed bed({.seed = static_cast<std::uint64_t>(at) + 1, .feature_gates = kPolicyGates});
    Testbed::Must(bed.Create("deployments", "default", TestDeployment(3, "i:1")));
    Testbed::Must(bed.Create("jobs", "default", TestJob(4, 2)));
    const std::int64_t before = bed.control_plane().store().CurrentRevision();
    for (const int change : {at * 3 + 1, at * 5 + 20}) {
      bed.clock().RunUntil([&] { return bed.control_plane().store().CurrentRevision() >= before + change; },
                           20s);
      Testbed::Must(bed.Crash("apiserver"));
      bed.clock().Advance(at % 3 == 0 ? 0s : 2s);
      Testbed::Must(bed.Start("apiserver"));
    }
    bed.clock().RunUntilIdle(10min);
    const Json job = DocumentOf(bed, "jobs", "sum");
    EXPECT_EQ(IntAt(job, 0, "status", "succeeded"), 4) << at;
    int jobs_pods = 0;
    int web_pods = 0;
    for (const api::ObjectPtr& pod : bed.List("pods"))
      (pod->header().name.starts_with("sum") ? jobs_pods : web_pods)++;
    EXPECT_EQ(jobs_pods, 4) << at;
    EXPECT_EQ(web_pods, 3) << at;
    EXPECT_EQ(bed.List("replicasets").size(), 1u) << at;
    EXPECT_EQ(IntAt(DocumentOf(bed, "deployments", "web"), 0, "status", "availableReplicas"), 3) << at;
  }
}

}  // namespace
}  // namespace terrarium::testbed

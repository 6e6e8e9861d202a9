#include "testbed/server/cluster_set.h"

#include <atomic>
#include <future>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <spdlog/sinks/null_sink.h>
#include <spdlog/spdlog.h>

#include "testbed/runtime/real_runtime.h"

namespace terrarium::testbed {
namespace {

using namespace std::chrono_literals;
using api::Json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class ClusterSetTest : public testing::Test {
 protected:
  explicit ClusterSetTest(int nodes_max = kServerNodesMax) {
    ClusterSettings settings;
    settings.clock = "virtual";
    settings.nodes = 1;
    settings.feature_gates = "JobManagedBy=false";
    settings.pod_defaults = {{"start-delay", "1s"}};
    apiserver::HandlerOptions handler;
    handler.connection_clock = &wall;
    handler.connection_executor = &connections;
    ClusterSetOptions options{
        pool,
        wall,
        log,
        settings,
        handler,
        [] { return std::uint64_t{7}; },
        [](const std::string& name, const std::string& url) { return name + " at " + url; }};
    options.nodes_max = nodes_max;
    auto made = ClusterSet::Make(std::move(options));
    set = std::move(*made);
    set->SetUrl("http://127.0.0.1:1");
  }
  ~ClusterSetTest() override {
    set = nullptr;
    pool.Stop();
    connections.Stop();
  }

  apiserver::Response Send(std::string method, std::string path, const Json& body = nullptr,
                           std::vector<std::pair<std::string, std::string>> query = {}) {
    apiserver::Request request;
    request.method = std::move(method);
    request.path = std::move(path);
    request.query = std::move(query);
    request.content_type = "application/json";
    if (!body.is_null()) request.body = body.dump();
    std::promise<apiserver::Response> answer;
    auto scope = apiserver::RequestScope::Make(
        request, [&answer](apiserver::Response response) { answer.set_value(std::move(response)); });
    set->Serve(std::move(request), std::move(scope));
    return answer.get_future().get();
  }
  Json Must(std::string method, std::string path, const Json& body = nullptr) {
    apiserver::Response response = Send(std::move(method), path, body);
    EXPECT_THAT(response.code, testing::AnyOf(200, 201)) << path << ": " << response.body;
    return Json::parse(response.body);
  }
  std::string Refused(int code, std::string method, std::string path, const Json& body = nullptr) {
    apiserver::Response response = Send(std::move(method), path, body);
    EXPECT_EQ(response.code, code) << path << ": " << response.body;
    return Json::parse(response.body)["message"];
  }
  Json Create(const Json& body) { return Must("POST", "/terrarium/v1/clusters", body); }
  std::string Refused(const Json& body, int code = 400) {
    return Refused(code, "POST", "/terrarium/v1/clusters", body);
  }
  void Delete(const std::string& name) { Must("DELETE", "/terrarium/v1/clusters/" + name); }
  std::vector<std::string> Names() {
    std::vector<std::string> names;
    Json answer = Must("GET", "/terrarium/v1/clusters");
    for (const Json& cluster : answer["clusters"]) names.push_back(cluster["name"]);
    return names;
  }
  void CreatePod(const std::string& at, const std::string& name) {
    Must("POST", at + "/api/v1/namespaces/default/pods",
         {{"metadata", {{"name", name}}}, {"spec", {{"containers", {{{"name", "c"}, {"image", "i"}}}}}}});
  }
  std::size_t Pods(const std::string& at) { return Must("GET", at + "/api/v1/pods")["items"].size(); }

  spdlog::logger log{"test", std::make_shared<spdlog::sinks::null_sink_mt>()};
  RealClock wall;
  ThreadExecutor connections;
  LivePool pool{2};
  std::unique_ptr<ClusterSet> set;
};

TEST_F(ClusterSetTest, ANewClusterIsReturnedWithItsAddressAndHasItsNodes) {
  Json made = Create({{"name", "a"}});
  EXPECT_EQ(made["url"], "http://127.0.0.1:1/clusters/a");
  EXPECT_EQ(made["kubeconfig"], "a at http://127.0.0.1:1/clusters/a");
  EXPECT_EQ(made["clock"]["mode"], "virtual");
  EXPECT_EQ(made["seed"], 7);
  EXPECT_EQ(Must("GET", "/clusters/a/api/v1/nodes")["items"].size(), 1);
  EXPECT_THAT(Names(), ElementsAre("a"));
  EXPECT_EQ(Must("GET", "/terrarium/v1/clusters/a")["url"], made["url"]);
}

TEST_F(ClusterSetTest, EverythingOfAClusterIsServedBelowItsPrefix) {
  Create({{"name", "a"}});
  for (const char* path :
       {"", "/", "/healthz", "/readyz", "/metrics", "/version", "/api", "/apis", "/openapi/v2", "/openapi/v3",
        "/terrarium/v1", "/terrarium/v1/clock", "/api/v1/namespaces/default"})
    EXPECT_EQ(Send("GET", std::string("/clusters/a") + path).code, 200) << path;
  EXPECT_EQ(Send("GET", "/clusters/a/nothing").code, 404);
  EXPECT_THAT(Refused(404, "GET", "/clusters/b/api/v1/pods"), HasSubstr("\"b\" not found"));
  EXPECT_EQ(Send("GET", "/clusters").code, 404);
  EXPECT_EQ(Send("GET", "/clusters/").code, 404);
}

TEST_F(ClusterSetTest, ClustersShareNeitherObjectsNorTime) {
  Create({{"name", "a"}});
  Create({{"name", "b"}});
  CreatePod("/clusters/a", "web");
  Json before = Must("GET", "/clusters/b/terrarium/v1/clock");
  Json move = Must("POST", "/clusters/a/terrarium/v1/clock/advance", {{"duration", "30m"}});
  EXPECT_EQ(move["advanced"], "30m0s");
  EXPECT_EQ(Must("GET", "/clusters/b/terrarium/v1/clock"), before);
  EXPECT_EQ(Pods("/clusters/a"), 1);
  EXPECT_EQ(Pods("/clusters/b"), 0);
  EXPECT_EQ(Pods(""), 0);
}

TEST_F(ClusterSetTest, SettingsDefaultToThoseOfTheServer) {
  Create({{"name", "same"}});
  Create({{"name", "other"},
          {"clock", "auto"},
          {"nodes", 2},
          {"featureGates", {{"DownscalePodPicker", true}}},
          {"controllerManagerFeatureGates", {{"JobManagedBy", true}}},
          {"scheduler", false},
          {"podDefaults", {{"stop-after", "5s"}}},
          {"seed", 9}});
  auto gate = [&](const std::string& cluster, const std::string& component, const std::string& name) -> bool {
    return Must("GET",
                "/clusters/" + cluster + "/terrarium/v1/components/" + component + "/feature-gates")[name];
  };
  EXPECT_FALSE(gate("same", "apiserver", "JobManagedBy"));
  EXPECT_FALSE(gate("same", "apiserver", "DownscalePodPicker"));
  EXPECT_TRUE(gate("other", "apiserver", "DownscalePodPicker"));
  EXPECT_FALSE(gate("other", "apiserver", "JobManagedBy"));
  EXPECT_TRUE(gate("other", "controller-manager", "JobManagedBy"));
  EXPECT_EQ(Must("GET", "/clusters/other/api/v1/nodes")["items"].size(), 2);
  EXPECT_EQ(Must("GET", "/clusters/other/terrarium/v1/clock")["mode"], "auto");
  EXPECT_EQ(Must("GET", "/terrarium/v1/clusters/other")["seed"], 9);
  EXPECT_EQ(Send("GET", "/clusters/other/terrarium/v1/components/scheduler/feature-gates").code, 404);
  // A pod that takes the server's default second to start.
  CreatePod("/clusters/same", "web");
  Json move =
      Must("POST", "/clusters/same/terrarium/v1/clock/run-until",
           {{"resource", "pods"}, {"namespace", "default"}, {"name", "web"}, {"for", "condition=Ready"}});
  EXPECT_EQ(move["advanced"], "1s");
}

TEST_F(ClusterSetTest, ErrorsNameTheSetting) {
  EXPECT_THAT(Refused(Json{{"name", "Not A Label"}}),
              HasSubstr("name: \"Not A Label\": a lowercase RFC 1123 label"));
  EXPECT_THAT(Refused(Json{{"name", ""}}), HasSubstr("name"));
  EXPECT_THAT(Refused(Json{{"name", 1}}), HasSubstr("name must be a string"));
  EXPECT_THAT(Refused(Json{{"bogus", 1}}), HasSubstr("unknown field \"bogus\""));
  EXPECT_THAT(Refused(Json{{"clock", "fast"}}), HasSubstr("clock: clock mode fast must be one of"));
  EXPECT_THAT(Refused(Json{{"nodes", -1}}), HasSubstr("nodes must be a whole number from 0 to 10000"));
  EXPECT_THAT(Refused(Json{{"nodes", 1.5}}), HasSubstr("nodes must be a whole number"));
  EXPECT_THAT(Refused(Json{{"seed", "x"}}), HasSubstr("seed must be a whole number"));
  EXPECT_THAT(Refused(Json{{"kubelet", "no"}}), HasSubstr("kubelet must be true or false"));
  EXPECT_THAT(Refused(Json{{"featureGates", {{"Bogus", true}}}}), HasSubstr("featureGates: "));
  EXPECT_THAT(Refused(Json{{"featureGates", {{"JobManagedBy", "on"}}}}),
              HasSubstr("featureGates.JobManagedBy must be true or false"));
  EXPECT_THAT(Refused(Json{{"featureGates", "JobManagedBy=true"}}),
              HasSubstr("featureGates must be an object"));
  EXPECT_THAT(Refused(Json{{"kubeletFeatureGates", {{"Bogus", true}}}}), HasSubstr("kubeletFeatureGates: "));
  EXPECT_THAT(Refused(Json{{"controllers", "*,-bogus"}}), HasSubstr("controllers: "));
  EXPECT_THAT(Refused(Json{{"podDefaults", {{"start-delay", "soon"}}}}), HasSubstr("podDefaults"));
  EXPECT_THAT(Refused(Json{{"podDefaults", 1}}), HasSubstr("podDefaults must be an object"));
  EXPECT_THAT(Refused(Json{{"durability", "some"}}), HasSubstr("durability: some must be one of"));
  EXPECT_THAT(Refused(Json{{"eventTtl", "soon"}}), HasSubstr("eventTtl: soon must be a duration above zero"));
  EXPECT_THAT(Refused(Json{{"disableAdmissionPlugins", "Bogus"}}),
              HasSubstr("disableAdmissionPlugins: \"Bogus\" is not one of the plugins"));
  EXPECT_THAT(Refused(Json{{"nodes", 10'001}}), HasSubstr("nodes must be a whole number from 0 to 10000"));
  EXPECT_THAT(Refused(Json{{"data", "a.db"}}),
              HasSubstr("data: the server was started without --cluster-data-dir"));
  EXPECT_THAT(Names(), IsEmpty());
}

TEST_F(ClusterSetTest, TheirNumberIsLimited) {
  const Json idle = {{"nodes", 0}, {"controllers", "-*"}, {"kubelet", false}, {"scheduler", false}};
  for (std::size_t i = 0; i < kClustersMax; ++i) Create(idle);
  EXPECT_THAT(Refused(idle), HasSubstr("a server holds at most 1000 clusters"));
  Delete("cluster-1");
  Create(idle);
}

class FewNodesTest : public ClusterSetTest {
 protected:
  FewNodesTest() : ClusterSetTest(6) {}
};

TEST_F(FewNodesTest, TheNodesOfAllClustersAreLimited) {  // the root cluster has one
  Create({{"name", "a"}, {"nodes", 3}});
  EXPECT_THAT(
      Refused(Json{{"name", "b"}, {"nodes", 3}}),
      HasSubstr("nodes: the clusters of a server have at most 6 nodes together, of which 2 are left"));
  Create({{"name", "b"}, {"nodes", 2}});
  Create({{"name", "c"}, {"nodes", 100}, {"kubelet", false}});
  EXPECT_THAT(Names(), ElementsAre("a", "b", "c"));
  Delete("a");
  Create({{"name", "d"}, {"nodes", 3}});
}

TEST_F(ClusterSetTest, AClockDoesNotMovePastTheYear9999) {
  Create({{"name", "a"},
          {"clock", "virtual"},
          {"nodes", 0},
          {"controllers", "-*"},
          {"kubelet", false},
          {"scheduler", false}});
  auto advance = [this] {
    return Send("POST", "/clusters/a/terrarium/v1/clock/advance", {{"duration", "2000000h"}});
  };
  apiserver::Response response = advance();
  while (response.code == 200) response = advance();
  EXPECT_EQ(response.code, 400);
  EXPECT_THAT(response.body, HasSubstr("a clock cannot move past the year 9999"));
  Json clock = Must("GET", "/clusters/a/terrarium/v1/clock");
  EXPECT_THAT(clock["now"].get<std::string>(), HasSubstr("T"));
  EXPECT_EQ(clock["now"].get<std::string>().size(), std::string("2026-11-16T06:01:29.242806Z").size());
  Json until = Must("POST", "/clusters/a/terrarium/v1/clock/run-until",
                    {{"resource", "pods"}, {"name", "none"}, {"for", "create"}, {"limit", "2000000h"}});
  EXPECT_EQ(until["outcome"], "deadline");
  EXPECT_EQ(until["now"], "9999-12-31T23:59:59.999999Z");
}

TEST_F(ClusterSetTest, ANameIsTakenUntilItsClusterIsDeleted) {
  Create({{"name", "a"}});
  EXPECT_THAT(Refused(Json{{"name", "a"}}, 409), HasSubstr("\"a\" already exists"));
  CreatePod("/clusters/a", "web");
  Delete("a");
  EXPECT_EQ(Send("GET", "/clusters/a/api/v1/pods").code, 404);
  EXPECT_THAT(Refused(404, "DELETE", "/terrarium/v1/clusters/a"), HasSubstr("\"a\" not found"));
  Create({{"name", "a"}});
  EXPECT_EQ(Pods("/clusters/a"), 0) << "what the old one had";
}

TEST_F(ClusterSetTest, AClusterWithoutANameIsGivenOne) {
  Create({{"name", "cluster-1"}});
  EXPECT_EQ(Create(Json::object())["name"], "cluster-2");
  EXPECT_EQ(Create(Json::object())["name"], "cluster-3");
}

TEST_F(ClusterSetTest, ClustersAreTheServersNotTheirOwn) {
  Create({{"name", "a"}});
  EXPECT_EQ(Send("GET", "/clusters/a/terrarium/v1/clusters").code, 404);
  EXPECT_EQ(Send("GET", "/clusters/a/clusters/a/api").code, 404);
  EXPECT_THAT(Send("GET", "/clusters/a/terrarium/v1").body, testing::Not(HasSubstr("/clusters")));
  EXPECT_THAT(Send("GET", "/terrarium/v1").body, HasSubstr("/terrarium/v1/clusters/{name}"));
}

TEST_F(ClusterSetTest, DeletingAClusterEndsItsWatches) {
  Create({{"name", "a"}});
  apiserver::Response watch = Send("GET", "/clusters/a/api/v1/pods", nullptr, {{"watch", "true"}});
  ASSERT_NE(watch.stream, nullptr);
  std::atomic<bool> woken = false;
  watch.stream->SetWake([&woken] { woken = true; });
  Delete("a");
  EXPECT_TRUE(woken);
  std::string text;
  EXPECT_EQ(watch.stream->Read(1000, text), apiserver::ResponseStream::State::kEnd);
  EXPECT_EQ(watch.stream_busy(), nullptr) << "there is nothing left that could be kept busy";
}

TEST_F(ClusterSetTest, DeletingAClusterEndsAMoveOfItsClock) {
  Create({{"name", "a"}});
  // The clock waits for data that an external client is still being sent.
  apiserver::Response watch = Send("GET", "/clusters/a/api/v1/pods", nullptr, {{"watch", "true"}});
  auto busy = watch.stream_busy();
  ASSERT_NE(busy, nullptr);
  auto move = std::async(std::launch::async, [&] {
    return Send("POST", "/clusters/a/terrarium/v1/clock/advance", {{"duration", "1h"}});
  });
  auto deletion = std::async(std::launch::async, [&] { return Send("DELETE", "/terrarium/v1/clusters/a"); });
  apiserver::Response moved = move.get();
  // The cluster may have been deleted before the move began.
  if (moved.code == 200)
    EXPECT_EQ(Json::parse(moved.body)["outcome"], "busy");
  else
    EXPECT_EQ(moved.code, 404);
  busy = nullptr;
  EXPECT_EQ(deletion.get().code, 200);
}

TEST_F(ClusterSetTest, ClustersComeAndGoWhileTheyAreUsed) {
  std::atomic<bool> over = false;
  std::vector<std::thread> users;
  for (int i = 0; i < 3; ++i)
    users.emplace_back([&, i] {
      std::string at = "/clusters/c" + std::to_string(i);
      std::vector<apiserver::Response> watches;
      while (!over) {
        apiserver::Response watch = Send("GET", at + "/api/v1/pods", nullptr, {{"watch", "true"}});
        if (watch.stream) watches.push_back(std::move(watch));
        Send("POST", at + "/api/v1/namespaces/default/pods",
             {{"metadata", {{"generateName", "web-"}}},
              {"spec", {{"containers", {{{"name", "c"}, {"image", "i"}}}}}}});
        Send("POST", at + "/terrarium/v1/clock/advance", {{"duration", "10s"}});
        if (watches.size() > 20) watches.clear();
      }
    });
  for (int round = 0; round < 8; ++round)
    for (int i = 0; i < 3; ++i) {
      std::string name = "c" + std::to_string(i);
      Create({{"name", name}});
      Must("POST", "/clusters/" + name + "/terrarium/v1/clock/run-until-idle", {{"limit", "1m"}});
      Delete(name);
    }
  over = true;
  for (std::thread& user : users) user.join();
  EXPECT_THAT(Names(), IsEmpty());
}

TEST_F(ClusterSetTest, TheServerEndsWithClustersInIt) {
  Create({{"name", "a"}, {"clock", "real"}});
  Create({{"name", "b"}, {"clock", "scaled=1000"}});
  CreatePod("/clusters/a", "web");
  apiserver::Response watch = Send("GET", "/clusters/b/api/v1/pods", nullptr, {{"watch", "true"}});
  set->EndMoves();
  set->Shutdown();
  set = nullptr;
  std::string text;
  EXPECT_EQ(watch.stream->Read(1000, text), apiserver::ResponseStream::State::kEnd);
}

}  // namespace
}  // namespace terrarium::testbed

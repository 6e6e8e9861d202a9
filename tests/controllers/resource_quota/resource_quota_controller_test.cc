#include <chrono>
#include <string>

#include <gtest/gtest.h>

#include "api/json_access.h"
#include "testbed/embedding/testbed.h"

namespace terrarium::testbed {
namespace {

using namespace std::chrono_literals;
using api::Json;

Json Quota(Json hard, std::string name = "q") {
  return {{"metadata", {{"name", std::move(name)}}}, {"spec", {{"hard", std::move(hard)}}}};
}

Json Pod(const std::string& name, Json annotations = Json::object()) {
  return {{"metadata", {{"name", name}, {"annotations", std::move(annotations)}}},
          {"spec",
           {{"terminationGracePeriodSeconds", 90},
            {"containers",
             {{{"name", "c"}, {"image", "i"}, {"resources", {{"requests", {{"cpu", "250m"}}}}}}}}}}};
}

class QuotaCluster : public testing::Test {
 protected:
  Json Status(const std::string& quota = "q") {
    return api::ObjectAt(bed_.Get("resourcequotas", "default", quota)->Parse(), "status");
  }
  std::string Used(const std::string& resource, const std::string& quota = "q") {
    return std::string(api::StringAt(Status(quota), "used", resource));
  }
  // The message of the refusal; "" if the pod was admitted.
  std::string Create(const Json& pod) {
    auto written = bed_.Create("pods", "default", pod);
    return written ? "" : written.status().message;
  }
  void MakeQuota(Json quota) {
    bed_.Must(bed_.Create("resourcequotas", "default", std::move(quota)));
    Settle();
  }
  void Settle() { bed_.clock().RunUntilIdle(1s); }

  Testbed bed_{{.nodes = 1}};
};

TEST_F(QuotaCluster, AQuotaIsCountedWhenItComesAndWhenItsLimitsChange) {
  bed_.Must(bed_.Create("pods", "default", Pod("a")));
  bed_.Must(bed_.Create("configmaps", "default", {{"metadata", {{"name", "prices"}}}}));
  MakeQuota(Quota({{"pods", "2"}, {"requests.cpu", "1"}}));
  EXPECT_EQ(Status().dump(),
            R"({"hard":{"pods":"2","requests.cpu":"1"},"used":{"pods":"1","requests.cpu":"250m"}})");
  bed_.Must(bed_.Patch("resourcequotas", {"default", "q"},
                       {{"spec", {{"hard", {{"requests.cpu", nullptr}, {"configmaps", "5"}}}}}}));
  Settle();
  EXPECT_EQ(Status().dump(), R"({"hard":{"configmaps":"5","pods":"2"},"used":{"configmaps":"2","pods":"1"}})")
      << "prices and kube-root-ca.crt";
}

TEST_F(QuotaCluster, UntilItIsCountedAQuotaLimitsNothing) {
  bed_.Must(bed_.Create("resourcequotas", "default", Quota({{"pods", "0"}})));
  EXPECT_EQ(Create(Pod("a")), "");
  Settle();
  EXPECT_EQ(Used("pods"), "1");
  EXPECT_NE(Create(Pod("b")), "");
}

TEST_F(QuotaCluster, AdmittedObjectsCountImmediatelyAndTheRestIsRefused) {
  MakeQuota(Quota({{"pods", "2"}}));
  EXPECT_EQ(Create(Pod("a")), "");
  EXPECT_EQ(Create(Pod("b")), "");
  EXPECT_EQ(Used("pods"), "2");
  const std::int64_t before = bed_.control_plane().store().CurrentRevision();
  auto refused = bed_.Create("pods", "default", Pod("x"));
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.status().code, 403);
  EXPECT_EQ(refused.status().reason, "Forbidden");
  EXPECT_EQ(refused.status().message,
            "pods \"x\" is forbidden: exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2");
  EXPECT_EQ(bed_.control_plane().store().CurrentRevision(), before);
}

TEST_F(QuotaCluster, AGeneratedNameIsNamedInTheRefusal) {
  MakeQuota(Quota({{"pods", "0"}}));
  Json pod = Pod("");
  pod["metadata"] = {{"generateName", "web-"}};
  const std::string message = Create(pod);
  EXPECT_EQ(message.substr(0, 10), "pods \"web-");
  EXPECT_EQ(message.substr(15),
            "\" is forbidden: exceeded quota: q, requested: pods=1, used: pods=0, limited: pods=0");
}

// kubernetes#98656: while the old pods terminate, for up to 90 s, the new ones are refused.
TEST_F(QuotaCluster, TerminatingPodsAreUsedUntilTheyHaveGone) {
  MakeQuota(Quota({{"pods", "2"}}));
  const Json slow = {{"terrarium.dev/ignore-sigterm", "true"}};
  EXPECT_EQ(Create(Pod("a", slow)), "");
  EXPECT_EQ(Create(Pod("b", slow)), "");
  Settle();
  bed_.Must(bed_.Delete("pods", {"default", "a"}));
  bed_.clock().Advance(89s);
  EXPECT_NE(Create(Pod("c")), "");
  EXPECT_EQ(Used("pods"), "2");
  bed_.clock().Advance(2s);
  EXPECT_EQ(Used("pods"), "1");
  EXPECT_EQ(Create(Pod("c")), "");
}

TEST_F(QuotaCluster, PodsThatEndAreObjectsOnly) {
  MakeQuota(Quota({{"pods", "1"}, {"count/pods", "2"}}));
  Json pod = Pod("a", {{"terrarium.dev/run-for", "5s"}});
  pod["spec"]["restartPolicy"] = "Never";
  EXPECT_EQ(Create(pod), "");
  EXPECT_EQ(Status()["used"].dump(), R"({"count/pods":"1","pods":"1"})");
  bed_.clock().Advance(10s);
  EXPECT_EQ(Status()["used"].dump(), R"({"count/pods":"1","pods":"0"})");
  EXPECT_EQ(Create(Pod("b")), "");
  EXPECT_EQ(Create(Pod("c")),
            "pods \"c\" is forbidden: exceeded quota: q, requested: count/pods=1,pods=1, used: "
            "count/pods=2,pods=1, limited: count/pods=2,pods=1");
}

TEST_F(QuotaCluster, AStuckTerminatingPodIsReleasedAtTheResync) {
  MakeQuota(Quota({{"pods", "1"}}));
  EXPECT_EQ(Create(Pod("a", {{"terrarium.dev/hold", "terminating"}})), "");
  Settle();
  bed_.Must(bed_.Delete("pods", {"default", "a"}));
  bed_.clock().Advance(3min);
  EXPECT_EQ(Used("pods"), "1");
  bed_.clock().Advance(3min);
  EXPECT_NE(bed_.Get("pods", "default", "a"), nullptr);
  EXPECT_EQ(Used("pods"), "0");
}

TEST_F(QuotaCluster, UnusedReservationsAreReleasedAtTheResync) {
  MakeQuota(Quota({{"pods", "5"}}));
  Json quota = bed_.Get("resourcequotas", "default", "q")->Parse();
  quota["status"]["used"]["pods"] = "3";
  bed_.Must(bed_.Update("resourcequotas", quota, "status"));
  bed_.clock().Advance(4min);
  EXPECT_EQ(Used("pods"), "3");  // three pods might be in flight
  bed_.clock().Advance(7min);
  EXPECT_EQ(Used("pods"), "0");
}

TEST_F(QuotaCluster, ObjectsOfAnyKindAreCounted) {
  MakeQuota(
      Quota({{"count/deployments.apps", "1"}, {"secrets", "1"}, {"services", "1"}, {"resourcequotas", "1"}}));
  EXPECT_EQ(Used("resourcequotas"), "1");
  const auto refused = [&](const char* resource, Json object) {
    auto written = bed_.Create(resource, "default", std::move(object));
    return written ? std::string() : written.status().message;
  };
  EXPECT_EQ(refused("secrets", {{"metadata", {{"name", "a"}}}}), "");
  EXPECT_EQ(refused("secrets", {{"metadata", {{"name", "b"}}}}),
            "secrets \"b\" is forbidden: exceeded quota: q, requested: secrets=1, used: secrets=1, limited: "
            "secrets=1");
  EXPECT_EQ(refused("resourcequotas", Quota({{"pods", "1"}}, "r")),
            "resourcequotas \"r\" is forbidden: exceeded quota: q, requested: resourcequotas=1, used: "
            "resourcequotas=1, limited: resourcequotas=1");
  // The Service `kubernetes` always exists.
  EXPECT_NE(refused("services", {{"metadata", {{"name", "s"}}}, {"spec", {{"ports", {{{"port", 80}}}}}}}),
            "");
  Json deployment = {{"metadata", {{"name", "d"}}},
                     {"spec",
                      {{"replicas", 0},
                       {"selector", {{"matchLabels", {{"app", "d"}}}}},
                       {"template",
                        {{"metadata", {{"labels", {{"app", "d"}}}}},
                         {"spec", {{"containers", {{{"name", "c"}, {"image", "i"}}}}}}}}}}};
  EXPECT_EQ(refused("deployments", deployment), "");
  deployment["metadata"]["name"] = "e";
  EXPECT_EQ(
      refused("deployments", deployment),
      "deployments.apps \"e\" is forbidden: exceeded quota: q, requested: count/deployments.apps=1, used: "
      "count/deployments.apps=1, limited: count/deployments.apps=1");
  bed_.Must(bed_.Delete("secrets", {"default", "a"}));
  Settle();
  EXPECT_EQ(refused("secrets", {{"metadata", {{"name", "b"}}}}), "");
}

TEST_F(QuotaCluster, ScopesChooseThePods) {
  Json quota = Quota({{"pods", "0"}});
  quota["spec"]["scopes"] = {"BestEffort"};
  MakeQuota(quota);
  EXPECT_EQ(Create(Pod("burstable")), "");
  Json best_effort = Pod("best-effort");
  best_effort["spec"]["containers"][0].erase("resources");
  EXPECT_EQ(Create(best_effort),
            "pods \"best-effort\" is forbidden: exceeded quota: q, requested: pods=1, used: "
            "pods=0, limited: pods=0");
}

TEST_F(QuotaCluster, ContainersMustSpecifyQuotaResources) {
  MakeQuota(Quota({{"limits.cpu", "1"}}));
  EXPECT_EQ(Create(Pod("a")), "pods \"a\" is forbidden: failed quota: q: must specify limits.cpu for: c");
}

TEST_F(QuotaCluster, ADryRunIsCheckedAndReservesNothing) {
  MakeQuota(Quota({{"pods", "1"}}));
  apiserver::Request request;
  request.method = "POST";
  request.path = "/api/v1/namespaces/default/pods";
  request.query = {{"dryRun", "All"}};
  request.content_type = "application/json";
  request.body = Pod("a").dump();
  EXPECT_EQ(bed_.Serve(request).code, 201);
  EXPECT_EQ(Used("pods"), "0");
  EXPECT_EQ(Create(Pod("b")), "");
  EXPECT_EQ(bed_.Serve(request).code, 403);
}

TEST_F(QuotaCluster, OtherNamespacesAreFree) {
  MakeQuota(Quota({{"pods", "0"}}));
  bed_.Must(bed_.Create("namespaces", "", {{"metadata", {{"name", "other"}}}}));
  EXPECT_TRUE(bed_.Create("pods", "other", Pod("a")));
  bed_.Must(bed_.Delete("resourcequotas", {"default", "q"}));
  EXPECT_EQ(Create(Pod("a")), "");
}

TEST_F(QuotaCluster, AServiceThatGetsNodePortsIsCountedAfterwards) {
  MakeQuota(Quota({{"services.nodeports", "0"}}));
  bed_.Must(bed_.Create("services", "default",
                        {{"metadata", {{"name", "s"}}}, {"spec", {{"ports", {{{"port", 80}}}}}}}));
  bed_.Must(bed_.Patch("services", {"default", "s"}, {{"spec", {{"type", "NodePort"}}}}));
  Settle();
  EXPECT_EQ(Used("services.nodeports"), "1");
}

TEST(QuotaController, AQuietClusterWritesNothing) {
  Testbed bed({.controllers = "resourcequota-controller", .kubelet = false, .scheduler = false, .nodes = 0});
  bed.Must(
      bed.Create("resourcequotas", "default", Quota({{"pods", "3"}, {"count/widgets.example.com", "1"}})));
  bed.Must(bed.Create("pods", "default", Pod("a")));
  bed.clock().Advance(1min);
  const std::int64_t before = bed.control_plane().store().CurrentRevision();
  bed.clock().Advance(1h);
  EXPECT_EQ(bed.control_plane().store().CurrentRevision(), before);
}

// Pods are created and deleted as fast as the quota allows, in many orders of the components: the quota is
// never exceeded, and in the end its status is correct.
TEST(QuotaController, NeverLetsMoreInThanThereIsRoomFor) {
  for (std::uint64_t seed = 1; seed <= 5; ++seed) {
    SCOPED_TRACE(seed);
    Testbed bed({.seed = seed, .nodes = 1});
    bed.Must(bed.Create("resourcequotas", "default", Quota({{"pods", "3"}})));
    bed.clock().RunUntilIdle(1s);
    for (int i = 0; i < 40; ++i) {
      bed.Create("pods", "default", Pod("p" + std::to_string(i))).ok();
      if (i % 3 == 2) {
        auto pods = bed.List("pods", "default");
        bed.Must(bed.Delete("pods", {"default", pods[(seed + i) % pods.size()]->header().name}));
      }
      EXPECT_LE(bed.List("pods", "default").size(), 3u);
      bed.clock().Advance(std::chrono::milliseconds((seed * 7 + i) % 5));
    }
    bed.clock().RunUntilIdle(5min);
    EXPECT_EQ(api::StringAt(bed.Get("resourcequotas", "default", "q")->Parse(), "status", "used", "pods"),
              std::to_string(bed.List("pods", "default").size()));
  }
}

}  // namespace
}  // namespace terrarium::testbed

#include "api/core_v1/resource_quota.h"

#include <chrono>
#include <string>

#include <gtest/gtest.h>

namespace terrarium::api {
namespace {

using namespace std::chrono_literals;

const GroupResource kPods{"", "pods"};
const GroupResource kServices{"", "services"};
const GroupResource kJobs{"batch", "jobs"};
const GroupResource kSecrets{"", "secrets"};

constexpr Time kNow{std::chrono::seconds(1'767'225'600)};  // 2026-01-01T00:00:00Z

Json Container(const std::string& name, Json requests, Json limits) {
  return {{"name", name}, {"resources", {{"requests", std::move(requests)}, {"limits", std::move(limits)}}}};
}

Json Pod(Json containers) { return {{"spec", {{"containers", std::move(containers)}}}}; }

std::string Usage(const GroupResource& resource, const Json& object, Time now = kNow) {
  return WriteResourceList(QuotaSubjectOf(resource, object, now).usage).dump();
}

bool InScopes(const char* quota_spec, const Json& pod) {
  return InQuotaScopes(Json::parse(quota_spec), QuotaSubjectOf(kPods, pod, kNow));
}

TEST(QuotaCounts, EachResourceHasItsNames) {
  for (const char* name :
       {"pods", "cpu", "requests.cpu", "limits.memory", "requests.ephemeral-storage", "count/pods",
        "hugepages-2Mi", "requests.hugepages-2Mi", "requests.example.com/gpu"}) {
    EXPECT_TRUE(QuotaCounts(kPods, name)) << name;
  }
  for (const char* name : {"services", "secrets", "requests.storage", "example.com/gpu", "count/jobs.batch"})
    EXPECT_FALSE(QuotaCounts(kPods, name)) << name;
  EXPECT_TRUE(QuotaCounts(kJobs, "count/jobs.batch"));
  EXPECT_FALSE(QuotaCounts(kJobs, "count/jobs"));
  EXPECT_FALSE(QuotaCounts(kJobs, "jobs"));
  EXPECT_TRUE(QuotaCounts(kSecrets, "secrets"));
  EXPECT_TRUE(QuotaCounts(kSecrets, "count/secrets"));
  EXPECT_TRUE(QuotaCounts(kServices, "services.nodeports"));
}

TEST(QuotaUsage, APodIsCountedUnderBothNamesOfARequest) {
  Json pod = Pod({Container("a", {{"cpu", "500m"}, {"memory", "1Gi"}}, {{"cpu", "1"}}),
                  Container("b", {{"cpu", "250m"}, {"example.com/gpu", "1"}}, {{"example.com/gpu", "1"}})});
  EXPECT_EQ(
      Usage(kPods, pod),
      R"({"count/pods":"1","cpu":"750m","limits.cpu":"1","memory":"1Gi","pods":"1","requests.cpu":"750m",)"
      R"("requests.example.com/gpu":"1","requests.memory":"1Gi"})");
}

TEST(QuotaUsage, InitContainersSidecarsOverheadAndThePodsOwnResourcesAreCountedAsTheSchedulerDoes) {
  Json pod = Pod({Container("main", {{"cpu", "1"}}, {})});
  pod["spec"]["initContainers"] = {Container("setup", {{"cpu", "3"}}, {}),
                                   Container("mesh", {{"cpu", "500m"}}, {})};
  pod["spec"]["initContainers"][1]["restartPolicy"] = "Always";
  pod["spec"]["overhead"] = {{"cpu", "100m"}};
  EXPECT_EQ(QuotaSubjectOf(kPods, pod, kNow).usage.at("cpu").ToString(), "3100m");
  pod["spec"]["resources"] = {{"requests", {{"cpu", "2"}}}};
  EXPECT_EQ(QuotaSubjectOf(kPods, pod, kNow).usage.at("cpu").ToString(), "2100m");
}

TEST(QuotaUsage, AClaimIsCountedInAllAndInItsClass) {
  const GroupResource claims{"", "persistentvolumeclaims"};
  for (const char* name : {"persistentvolumeclaims", "requests.storage", "count/persistentvolumeclaims",
                           "gold.storageclass.storage.k8s.io/requests.storage",
                           "gold.storageclass.storage.k8s.io/persistentvolumeclaims"})
    EXPECT_TRUE(QuotaCounts(claims, name)) << name;
  EXPECT_FALSE(QuotaCounts(claims, "gold.storageclass.storage.k8s.io/cpu"));
  Json claim = Json::parse(R"({"spec": {"resources": {"requests": {"storage": "2Gi"}}}})");
  EXPECT_EQ(Usage(claims, claim),
            R"({"count/persistentvolumeclaims":"1","persistentvolumeclaims":"1","requests.storage":"2Gi"})");
  claim["spec"]["storageClassName"] = "gold";
  claim["status"]["allocatedResources"]["storage"] = "3Gi";
  const ResourceList usage = QuotaSubjectOf(claims, claim, kNow).usage;
  EXPECT_EQ(usage.at("requests.storage").ToString(), "3Gi") << "the volume grows";
  EXPECT_EQ(usage.at("gold.storageclass.storage.k8s.io/requests.storage").ToString(), "3Gi");
  EXPECT_EQ(usage.at("gold.storageclass.storage.k8s.io/persistentvolumeclaims").ToString(), "1");
}

TEST(QuotaUsage, APodThatHasEndedCountsAsAnObjectOnly) {
  Json pod = Pod({Container("a", {{"cpu", "1"}}, {})});
  for (const char* phase : {"Succeeded", "Failed"}) {
    pod["status"] = {{"phase", phase}};
    EXPECT_EQ(Usage(kPods, pod), R"({"count/pods":"1"})") << phase;
  }
  pod["status"] = {{"phase", "Running"}};
  EXPECT_EQ(Usage(kPods, pod), R"({"count/pods":"1","cpu":"1","pods":"1","requests.cpu":"1"})");
}

// A pod deleted with a grace period of 30 s has its deletionTimestamp 30 s later, and counts for 30 s more.
TEST(QuotaUsage, ATerminatingPodIsCountedUntilItShouldHaveGone) {
  Json pod = Pod({Container("a", {}, {})});
  pod["metadata"] = {{"deletionTimestamp", FormatTime(kNow)}, {"deletionGracePeriodSeconds", 30}};
  EXPECT_EQ(Usage(kPods, pod, kNow + 30s), R"({"count/pods":"1","pods":"1"})");
  EXPECT_EQ(Usage(kPods, pod, kNow + 30s + 1us), R"({"count/pods":"1"})");
}

TEST(QuotaUsage, ServicesAreCountedWithTheirPortsAndBalancers) {
  Json service = {
      {"spec", {{"type", "ClusterIP"}, {"ports", {{{"port", 80}}, {{"port", 81}, {"nodePort", 30081}}}}}}};
  EXPECT_EQ(Usage(kServices, service),
            R"({"count/services":"1","services":"1","services.loadbalancers":"0","services.nodeports":"0"})");
  service["spec"]["type"] = "NodePort";
  EXPECT_EQ(Usage(kServices, service),
            R"({"count/services":"1","services":"1","services.loadbalancers":"0","services.nodeports":"2"})");
  service["spec"]["type"] = "LoadBalancer";
  service["spec"]["allocateLoadBalancerNodePorts"] = false;
  EXPECT_EQ(Usage(kServices, service),
            R"({"count/services":"1","services":"1","services.loadbalancers":"1","services.nodeports":"1"})");
}

TEST(QuotaUsage, OtherKindsAreOneEach) {
  EXPECT_EQ(Usage(kJobs, Json::object()), R"({"count/jobs.batch":"1"})");
  EXPECT_EQ(Usage(kSecrets, Json::object()), R"({"count/secrets":"1","secrets":"1"})");
}

TEST(QuotaUsage, ContainersWithoutRequestsAreNamed) {
  Json pod = Pod({Container("b", {{"cpu", "1"}}, {}), Container("a", {}, {{"memory", "1Gi"}})});
  const auto missing_resources = QuotaSubjectOf(kPods, pod, kNow).missing_resources;
  EXPECT_EQ(missing_resources.at("limits.cpu"), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(missing_resources.at("requests.cpu"), std::vector<std::string>{"a"});
  EXPECT_EQ(missing_resources.at("limits.memory"), std::vector<std::string>{"b"});
  pod["spec"]["resources"] = {{"limits", {{"cpu", "1"}}}};
  EXPECT_TRUE(QuotaSubjectOf(kPods, pod, kNow).missing_resources.empty());
}

TEST(QuotaScopes, AllOfThemMustLetThePodIn) {
  Json pod = Pod(Json::array());
  pod["status"] = {{"qosClass", "BestEffort"}};
  EXPECT_TRUE(InScopes(R"({})", pod));
  EXPECT_TRUE(InScopes(R"({"scopes":["BestEffort","NotTerminating"]})", pod));
  EXPECT_FALSE(InScopes(R"({"scopes":["BestEffort","Terminating"]})", pod));
  EXPECT_FALSE(InScopes(R"({"scopes":["NotBestEffort"]})", pod));
  pod["spec"]["activeDeadlineSeconds"] = 0;
  EXPECT_TRUE(InScopes(R"({"scopes":["Terminating"]})", pod));
  EXPECT_TRUE(InScopes(
      R"({"scopeSelector":{"matchExpressions":[{"scopeName":"Terminating","operator":"Exists"}]}})", pod));
  EXPECT_FALSE(InScopes(
      R"({"scopes":["Terminating"],
          "scopeSelector":{"matchExpressions":[{"scopeName":"NotBestEffort","operator":"Exists"}]}})",
      pod));
}

TEST(QuotaScopes, PriorityClassesAreMatchedAsALabelWouldBe) {
  const auto in = [](const char* requirement, const char* priority_class) {
    Json pod = Pod(Json::array());
    if (*priority_class != '\0') pod["spec"]["priorityClassName"] = priority_class;
    Json spec = {{"scopeSelector", {{"matchExpressions", {Json::parse(requirement)}}}}};
    return InQuotaScopes(spec, QuotaSubjectOf(kPods, pod, kNow));
  };
  const char* in_high = R"({"scopeName":"PriorityClass","operator":"In","values":["high"]})";
  const char* not_in_high = R"({"scopeName":"PriorityClass","operator":"NotIn","values":["high"]})";
  const char* absent = R"({"scopeName":"PriorityClass","operator":"DoesNotExist"})";
  EXPECT_TRUE(in(in_high, "high"));
  EXPECT_FALSE(in(in_high, "low"));
  EXPECT_FALSE(in(in_high, ""));
  EXPECT_FALSE(in(not_in_high, "high"));
  EXPECT_TRUE(in(not_in_high, ""));
  EXPECT_TRUE(in(absent, ""));
  EXPECT_FALSE(in(absent, "low"));
}

TEST(QuotaScopes, OnlyPodsAreInAny) {
  const QuotaSubject secret = QuotaSubjectOf(kSecrets, Json::object(), kNow);
  EXPECT_TRUE(InQuotaScopes(Json::object(), secret));
  EXPECT_FALSE(InQuotaScopes(Json::parse(R"({"scopes":["NotTerminating"]})"), secret));
}

}  // namespace
}  // namespace terrarium::api

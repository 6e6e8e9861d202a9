// Discovery documents, legacy and aggregated.

#include "apiserver/discovery.h"

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "apiserver/resource_table.h"

namespace terrarium::apiserver {
namespace {

using api::Json;

const ResourceTable& Table() { return *ResourceTable::BuiltIn(); }

std::vector<std::string> Names(const Json& list, const char* field) {
  std::vector<std::string> out;
  for (const Json& item : list) out.push_back(item[field].get<std::string>());
  return out;
}

TEST(Discovery, GroupsComeInKubernetesOrder) {
  Json list = ApiGroupListDocument(Table());
  EXPECT_EQ(list["kind"], "APIGroupList");
  EXPECT_EQ(
      Names(list["groups"], "name"),
      (std::vector<std::string>{"apps", "events.k8s.io", "authentication.k8s.io", "authorization.k8s.io",
                                "autoscaling", "batch", "certificates.k8s.io", "networking.k8s.io", "policy",
                                "rbac.authorization.k8s.io", "storage.k8s.io", "admissionregistration.k8s.io",
                                "scheduling.k8s.io", "coordination.k8s.io", "node.k8s.io", "discovery.k8s.io",
                                "resource.k8s.io", "flowcontrol.apiserver.k8s.io", "metrics.k8s.io"}));
}

TEST(Discovery, TheNewestVersionOfAGroupIsPreferred) {
  const Json group = *ApiGroupDocument(Table(), "autoscaling");
  EXPECT_EQ(Names(group["versions"], "version"), (std::vector<std::string>{"v2", "v1"}));
  EXPECT_EQ(group["preferredVersion"]["version"], "v2");
  const Json metrics = *ApiResourceListDocument(Table(), "metrics.k8s.io", "v1beta1");
  EXPECT_EQ(metrics["resources"][1], Json::parse(R"({"name":"pods","singularName":"","namespaced":true,
      "kind":"PodMetrics","verbs":["get","list"]})"));
}

TEST(Discovery, GroupNamesItsPreferredVersion) {
  EXPECT_EQ(*ApiGroupDocument(Table(), "apps"),
            Json::parse(R"({"kind":"APIGroup","apiVersion":"v1","name":"apps",
      "versions":[{"groupVersion":"apps/v1","version":"v1"}],
      "preferredVersion":{"groupVersion":"apps/v1","version":"v1"}})"));
  EXPECT_FALSE(ApiGroupDocument(Table(), "nope").has_value());
  EXPECT_FALSE(ApiGroupDocument(Table(), "").has_value());
}

TEST(Discovery, ResourcesAreListedWithTheirSubresources) {
  EXPECT_EQ(*ApiResourceListDocument(Table(), "batch", "v1"),
            Json::parse(R"({"kind":"APIResourceList","apiVersion":"v1",
    "groupVersion":"batch/v1","resources":[
    {"name":"cronjobs","singularName":"cronjob","namespaced":true,"kind":"CronJob",
     "verbs":["create","delete","deletecollection","get","list","patch","update","watch"],
     "shortNames":["cj"],"categories":["all"]},
    {"name":"cronjobs/status","singularName":"","namespaced":true,"kind":"CronJob","verbs":["get","patch","update"]},
    {"name":"jobs","singularName":"job","namespaced":true,"kind":"Job",
     "verbs":["create","delete","deletecollection","get","list","patch","update","watch"],"categories":["all"]},
    {"name":"jobs/status","singularName":"","namespaced":true,"kind":"Job","verbs":["get","patch","update"]}]})"));
  EXPECT_FALSE(ApiResourceListDocument(Table(), "batch", "v1beta1").has_value());
}

TEST(Discovery, ForeignSubresourceKindsHaveTheirGroup) {
  Json list = *ApiResourceListDocument(Table(), "", "v1");
  EXPECT_FALSE(list.contains("apiVersion"));
  auto find = [&](const std::string& name) {
    for (const Json& resource : list["resources"])
      if (resource["name"] == name) return resource;
    return Json();
  };
  EXPECT_EQ(find("pods/eviction"), Json::parse(R"({"name":"pods/eviction","singularName":"","namespaced":true,
      "group":"policy","version":"v1","kind":"Eviction","verbs":["create"]})"));
  EXPECT_EQ(find("replicationcontrollers/scale")["group"], "autoscaling");
  EXPECT_EQ(find("pods/binding"), Json::parse(R"({"name":"pods/binding","singularName":"","namespaced":true,
      "kind":"Binding","verbs":["create"]})"));
  EXPECT_EQ(find("namespaces")["namespaced"], false);
  EXPECT_EQ(find("pods/exec"), Json::parse(R"({"name":"pods/exec","singularName":"","namespaced":true,
      "kind":"PodExecOptions","verbs":["create","get"]})"));
  EXPECT_TRUE(find("pods/proxy").is_null());
}

TEST(Discovery, NamesInsideAGroupAreSorted) {
  for (const GroupVersion& gv : Table().group_versions()) {
    Json list = *ApiResourceListDocument(Table(), gv.group, gv.version);
    std::vector<std::string> names = Names(list["resources"], "name");
    EXPECT_TRUE(std::is_sorted(names.begin(), names.end())) << gv.group;
  }
}

TEST(Discovery, AggregatedDocumentHoldsTheSameResources) {
  for (bool core : {true, false}) {
    Json document = AggregatedDiscoveryDocument(Table(), "v2", core);
    EXPECT_EQ(document["apiVersion"], "apidiscovery.k8s.io/v2");
    for (const Json& group : document["items"]) {
      std::string name = group["metadata"].value("name", "");
      EXPECT_EQ(name.empty(), core);
      for (const Json& version : group["versions"]) {
        std::vector<std::string> aggregated;
        for (const Json& resource : version["resources"]) {
          std::string plural = resource["resource"].get<std::string>();
          aggregated.push_back(plural);
          if (!resource.contains("subresources")) continue;
          for (const Json& s : resource["subresources"])
            aggregated.push_back(plural + "/" + s["subresource"].get<std::string>());
        }
        Json legacy = *ApiResourceListDocument(Table(), name, version["version"].get<std::string>());
        EXPECT_EQ(aggregated, Names(legacy["resources"], "name"));
      }
    }
  }
}

TEST(Discovery, AggregatedResourcesNameTheirKinds) {
  Json apps = AggregatedDiscoveryDocument(Table(), "v2beta1", false)["items"][0];
  EXPECT_EQ(apps["metadata"]["name"], "apps");
  EXPECT_EQ(apps["versions"][0]["freshness"], "Current");
  EXPECT_EQ(apps["versions"][0]["resources"][2], Json::parse(R"({"resource":"deployments",
    "responseKind":{"group":"","version":"","kind":"Deployment"},"scope":"Namespaced","singularResource":"deployment",
    "verbs":["create","delete","deletecollection","get","list","patch","update","watch"],
    "shortNames":["deploy"],"categories":["all"],
    "subresources":[
      {"subresource":"scale","responseKind":{"group":"autoscaling","version":"v1","kind":"Scale"},
       "verbs":["get","patch","update"]},
      {"subresource":"status","responseKind":{"group":"","version":"","kind":"Deployment"},
       "verbs":["get","patch","update"]}]})"));
}

TEST(Discovery, EtagFollowsTheContent) {
  Json one = AggregatedDiscoveryDocument(Table(), "v2", false);
  EXPECT_EQ(DiscoveryEtag(one), DiscoveryEtag(AggregatedDiscoveryDocument(Table(), "v2", false)));
  EXPECT_NE(DiscoveryEtag(one), DiscoveryEtag(AggregatedDiscoveryDocument(Table(), "v2", true)));
  EXPECT_TRUE(DiscoveryEtag(one).starts_with('"') && DiscoveryEtag(one).ends_with('"'));
}

TEST(Discovery, VersionIsTheReleaseWeFollow) {
  Json version = VersionDocument();
  EXPECT_EQ(version["major"], "1");
  EXPECT_EQ(version["minor"], "36");
  // No dash: a pre-release would be older than the release for tools that compare.
  EXPECT_TRUE(version["gitVersion"].get<std::string>().starts_with("v1.36."));
  EXPECT_EQ(version["gitVersion"].get<std::string>().find('-'), std::string::npos);
  for (const auto& [key, value] : version.items()) EXPECT_TRUE(value.is_string() && value != "") << key;
}

TEST(Discovery, ApiVersionsHaveTheServersAddress) {
  EXPECT_EQ(ApiVersionsDocument("127.0.0.1:8001"), Json::parse(R"({"kind":"APIVersions","versions":["v1"],
      "serverAddressByClientCIDRs":[{"clientCIDR":"0.0.0.0/0","serverAddress":"127.0.0.1:8001"}]})"));
}

}  // namespace
}  // namespace terrarium::apiserver

// The table of served resources, and the guarantees that routing, storage and discovery rely on.

#include "apiserver/resource_table.h"

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "api/object.h"
#include "api/selector/field_selector.h"

namespace terrarium::apiserver {
namespace {

const ResourceTable& Table() { return *ResourceTable::BuiltIn(); }

TEST(ResourceTable, FindsByPluralAndByKind) {
  const ResourceInfo* deployments = Table().Find("apps", "v1", "deployments");
  ASSERT_NE(deployments, nullptr);
  EXPECT_EQ(deployments->kind, "Deployment");
  EXPECT_EQ(deployments->GroupVersion(), "apps/v1");
  EXPECT_EQ(deployments->Resource().String(), "deployments.apps");
  EXPECT_EQ(deployments->Kind().String(), "Deployment.apps");
  EXPECT_EQ(Table().FindKind("apps", "v1", "Deployment"), deployments);
  EXPECT_EQ(Table().Find("", "v1", "pods")->GroupVersion(), "v1");
  EXPECT_EQ(Table().Find("apps", "v1", "pods"), nullptr);
  EXPECT_EQ(Table().Find("apps", "v1beta1", "deployments"), nullptr);
  EXPECT_EQ(Table().Find("", "v1", "Pod"), nullptr);
}

TEST(ResourceTable, EventsOfBothGroupsShareTheirStorage) {
  const ResourceInfo* core = Table().Find("", "v1", "events");
  const ResourceInfo* grouped = Table().Find("events.k8s.io", "v1", "events");
  ASSERT_NE(core, nullptr);
  ASSERT_NE(grouped, nullptr);
  EXPECT_EQ(core->storage, grouped->storage);
  EXPECT_NE(core->message, grouped->message);
  EXPECT_EQ(Table().FindStorage("events"), core);  // stored in core form
}

TEST(ResourceTable, StorageNamesAreOtherwiseUnique) {
  std::map<std::string_view, int> uses;
  for (const ResourceInfo& r : Table().all())
    if (r.strategy != nullptr) ++uses[r.storage];
  for (const auto& [storage, count] : uses)
    EXPECT_EQ(count, storage == "events" || storage == "horizontalpodautoscalers" ? 2 : 1) << storage;
}

TEST(ResourceTable, VirtualKindsAreCreatedOnlyAndMetricsAreReadOnly) {
  std::set<std::string> virtual_kinds;
  for (const ResourceInfo& r : Table().all()) {
    if (r.strategy != nullptr) continue;
    virtual_kinds.insert(std::string(r.kind));
    const std::vector<std::string> reads = {"get", "list"};
    EXPECT_EQ(r.verbs, r.group == "metrics.k8s.io" ? reads : std::vector<std::string>{"create"}) << r.kind;
    EXPECT_TRUE(r.storage.empty()) << r.kind;
  }
  EXPECT_EQ(virtual_kinds,
            (std::set<std::string>{"Binding", "LocalSubjectAccessReview", "NodeMetrics", "PodMetrics",
                                   "SelfSubjectAccessReview", "SelfSubjectReview", "SelfSubjectRulesReview",
                                   "SubjectAccessReview", "TokenReview"}));
}

TEST(ResourceTable, NamespacesCannotBeDeletedAsACollection) {
  EXPECT_FALSE(Table().Find("", "v1", "namespaces")->HasVerb("deletecollection"));
  EXPECT_TRUE(Table().Find("", "v1", "nodes")->HasVerb("deletecollection"));
}

TEST(ResourceTable, ScopesAreKubernetesOwn) {
  std::set<std::string> cluster_scoped;
  for (const ResourceInfo& r : Table().all())
    if (!r.namespaced) cluster_scoped.insert(std::string(r.plural));
  EXPECT_EQ(cluster_scoped, (std::set<std::string>{"certificatesigningrequests",
                                                   "clusterrolebindings",
                                                   "clusterroles",
                                                   "csidrivers",
                                                   "csinodes",
                                                   "deviceclasses",
                                                   "flowschemas",
                                                   "ingressclasses",
                                                   "ipaddresses",
                                                   "mutatingadmissionpolicies",
                                                   "mutatingadmissionpolicybindings",
                                                   "mutatingwebhookconfigurations",
                                                   "namespaces",
                                                   "nodes",
                                                   "persistentvolumes",
                                                   "priorityclasses",
                                                   "prioritylevelconfigurations",
                                                   "resourceslices",
                                                   "runtimeclasses",
                                                   "selfsubjectaccessreviews",
                                                   "selfsubjectreviews",
                                                   "selfsubjectrulesreviews",
                                                   "servicecidrs",
                                                   "storageclasses",
                                                   "subjectaccessreviews",
                                                   "tokenreviews",
                                                   "validatingadmissionpolicies",
                                                   "validatingadmissionpolicybindings",
                                                   "validatingwebhookconfigurations",
                                                   "volumeattachments",
                                                   "volumeattributesclasses"}));
}

TEST(ResourceTable, StatusThatTheMainResourceKeepsOutHasAWayIn) {
  for (const ResourceInfo& r : Table().all()) {
    if (r.strategy == nullptr || !r.strategy->HasStatus()) continue;
    EXPECT_NE(r.Subresource("status"), nullptr) << r.kind;
  }
}

TEST(ResourceTable, EverySelectableFieldCanBeSelectedBy) {
  for (const ResourceInfo& r : Table().all()) {
    if (r.strategy == nullptr) continue;
    std::vector<std::string_view> labels;
    for (const SelectableField& f : r.strategy->SelectableFields()) labels.push_back(f.label);
    EXPECT_EQ(std::set<std::string_view>(labels.begin(), labels.end()).size(), labels.size()) << r.kind;
    for (std::size_t i = 0; i < labels.size(); ++i) {
      auto selector = api::FieldSelector::Parse(std::string(labels[i]) + "=here", {r.group, r.kind, labels});
      ASSERT_TRUE(selector.ok()) << selector.status().message;
      api::ObjectHeader header;
      header.fields.resize(labels.size());
      EXPECT_FALSE(selector->Matches(header)) << labels[i];
      header.fields[i] = "here";
      EXPECT_TRUE(selector->Matches(header)) << labels[i];
    }
  }
}

TEST(ResourceTable, EveryKindHasASchema) {
  for (const ResourceInfo& r : Table().all()) {
    ASSERT_NE(api::Schema::Get().Find(r.message), nullptr) << r.message;
    EXPECT_EQ(r.Schema().short_name(), r.kind);
  }
}

TEST(ResourceTable, ResourcesOfAVersionAreSorted) {
  const ResourceInfo* before = nullptr;
  for (const ResourceInfo& r : Table().all()) {
    if (before != nullptr && before->GroupVersion() == r.GroupVersion()) {
      EXPECT_LT(before->plural, r.plural);
    }
    before = &r;
  }
}

TEST(ResourceTable, EveryKindWithAStatusServesIt) {
  for (const ResourceInfo& r : Table().all()) {
    if (r.strategy == nullptr || r.Schema().Find("status") == nullptr) continue;
    EXPECT_NE(r.Subresource("status"), nullptr) << r.kind;
  }
}

TEST(ResourceTable, GroupVersionsStartWithCore) {
  EXPECT_EQ(Table().group_versions().front().group, "");
  EXPECT_TRUE(Table().HasGroup("apps"));
  EXPECT_TRUE(Table().HasGroup(""));
  EXPECT_FALSE(Table().HasGroup("extensions"));
}

}  // namespace
}  // namespace terrarium::apiserver

#include "controllers/namespace_lifecycle/namespace_controller.h"

#include <gtest/gtest.h>

#include "api/core_v1/pod.h"
#include "api/json_access.h"
#include "testbed/embedding/testbed.h"

namespace terrarium::controllers {
namespace {

using api::Json;
using api::StringAt;
using testbed::RunOutcome;
using testbed::Testbed;
using namespace std::chrono_literals;

Json Named(const std::string& name) { return {{"metadata", {{"name", name}}}}; }

Json Pod(const std::string& name, const Json& annotations = Json::object()) {
  return {{"metadata", {{"name", name}, {"annotations", annotations}}},
          {"spec", {{"containers", {{{"name", "c"}, {"image", "nginx"}}}}}}};
}

Json Deployment(const std::string& name) {
  Json labels = {{"app", name}};
  Json pod_spec = {{"containers", {{{"name", "c"}, {"image", "nginx"}}}}};
  return {{"metadata", {{"name", name}}},
          {"spec",
           {{"selector", {{"matchLabels", labels}}},
            {"template", {{"metadata", {{"labels", labels}}}, {"spec", pod_spec}}}}}};
}

std::string ConditionText(const api::ObjectPtr& ns, std::string_view type) {
  auto document = ns->Document();
  const Json* condition = api::FindCondition(*document, type);
  if (condition == nullptr) return "none";
  return std::string(StringAt(*condition, "status")) + " " + std::string(StringAt(*condition, "message"));
}

class NamespaceControllerTest : public testing::Test {
 protected:
  void SetUp() override { bed_.Must(bed_.Create("namespaces", "", Named("shop"))); }

  bool Gone() { return bed_.Get("namespaces", "", "shop") == nullptr; }
  void DeleteNamespace() {
    bed_.Must(bed_.Delete("namespaces", {"", "shop"}));
    deleted_at_ = bed_.Now();
  }
  api::Duration SinceDeletion() const { return bed_.Now() - deleted_at_; }

  Testbed bed_;
  api::Time deleted_at_{};
};

TEST_F(NamespaceControllerTest, AnEmptyNamespaceIsDeletedAfterItsGracePeriod) {
  DeleteNamespace();
  EXPECT_EQ(StringAt(*bed_.Get("namespaces", "", "shop")->Document(), "status", "phase"), "Terminating");
  bed_.clock().Advance(4900ms);
  EXPECT_FALSE(Gone());
  bed_.clock().Advance(100ms);
  EXPECT_TRUE(Gone());
}

TEST_F(NamespaceControllerTest, EverythingInItIsDeleted) {
  bed_.Must(bed_.Create("pods", "shop", Pod("web")));
  bed_.Must(bed_.Create("configmaps", "shop", Named("settings")));
  bed_.Must(bed_.Create("secrets", "shop", Named("keys")));
  bed_.Must(bed_.Create("serviceaccounts", "shop", Named("robot")));
  bed_.Must(bed_.Create("deployments", "shop", Deployment("api")));
  bed_.Must(bed_.Create("configmaps", "default", Named("settings")));
  bed_.clock().RunUntilIdle(1min);
  DeleteNamespace();
  RunOutcome outcome = bed_.clock().RunUntil([this] { return Gone(); }, 10min);
  EXPECT_EQ(outcome.why, RunOutcome::Why::kDone);
  for (const char* resource : {"pods", "configmaps", "secrets", "serviceaccounts", "deployments", "events"})
    EXPECT_TRUE(bed_.List(resource, "shop").empty()) << resource;
  EXPECT_NE(bed_.Get("configmaps", "default", "settings"), nullptr);
}

TEST_F(NamespaceControllerTest, WhatPodsUseStaysUntilTheyHaveStopped) {
  bed_.Must(bed_.Create("pods", "shop", Pod("stubborn", {{"terrarium.dev/ignore-sigterm", "true"}})));
  bed_.Must(bed_.Create("configmaps", "shop", Named("settings")));
  bed_.clock().RunUntilIdle(1min);
  DeleteNamespace();
  bed_.clock().Advance(34s);
  ASSERT_NE(bed_.Get("pods", "shop", "stubborn"), nullptr)
      << "5 s until it is deleted, 30 s until it is killed";
  EXPECT_NE(bed_.Get("configmaps", "shop", "settings"), nullptr);
  EXPECT_EQ(ConditionText(bed_.Get("namespaces", "", "shop"), "NamespaceContentRemaining"),
            "False All content successfully removed");
  RunOutcome outcome = bed_.clock().RunUntilIdle(10min);
  EXPECT_EQ(outcome.why, RunOutcome::Why::kIdle);
  EXPECT_TRUE(Gone());
  EXPECT_EQ(bed_.Get("configmaps", "shop", "settings"), nullptr);
  EXPECT_LT(SinceDeletion(), 60s);
}

TEST_F(NamespaceControllerTest, AFinalizerHoldsItAndIsNamedAndTheClusterBecomesIdle) {
  Json held = Deployment("api");
  held["metadata"]["finalizers"] = Json::array({"custom.io/finalizer"});
  bed_.Must(bed_.Create("deployments", "shop", held));
  DeleteNamespace();
  RunOutcome outcome = bed_.clock().RunUntilIdle(1h);
  EXPECT_EQ(outcome.why, RunOutcome::Why::kIdle);
  ASSERT_FALSE(Gone());
  api::ObjectPtr ns = bed_.Get("namespaces", "", "shop");
  EXPECT_EQ(ConditionText(ns, "NamespaceContentRemaining"),
            "True Some resources are remaining: deployments.apps has 1 resource instances");
  EXPECT_EQ(ConditionText(ns, "NamespaceFinalizersRemaining"),
            "True Some content in the namespace has finalizers remaining: custom.io/finalizer in 1 resource "
            "instances");

  bed_.Must(bed_.Patch("deployments", {"shop", "api"}, {{"metadata", {{"finalizers", nullptr}}}}));
  bed_.clock().RunUntilIdle(1h);
  EXPECT_TRUE(Gone());
}

TEST_F(NamespaceControllerTest, APodThatOverstaysIsAFailureUntilItGoes) {
  bed_.Must(bed_.Create("pods", "shop", Pod("held", {{"terrarium.dev/hold", "terminating"}})));
  bed_.clock().RunUntilIdle(1min);
  DeleteNamespace();
  bed_.clock().Advance(5min);
  ASSERT_FALSE(Gone());
  EXPECT_EQ(ConditionText(bed_.Get("namespaces", "", "shop"), "NamespaceDeletionContentFailure"),
            "True Failed to delete all resource types, 1 remaining: unexpected items still remain in "
            "namespace: shop "
            "for gvr: /v1, Resource=pods");
  api::DeleteRequest now;
  now.grace_period_seconds = 0;
  bed_.Must(bed_.Delete("pods", {"shop", "held"}, now));
  EXPECT_EQ(bed_.clock().RunUntilIdle(10min).why, RunOutcome::Why::kIdle);
  EXPECT_TRUE(Gone());
}

TEST_F(NamespaceControllerTest, AnotherFinalizerOfTheNamespaceIsLeftAlone) {
  Json ns = bed_.Get("namespaces", "", "shop")->Parse();
  ns["spec"]["finalizers"] = {"kubernetes", "example.com/mine"};
  bed_.Must(bed_.Update("namespaces", ns, "finalize"));
  DeleteNamespace();
  bed_.clock().RunUntilIdle(10min);
  ASSERT_FALSE(Gone());
  EXPECT_EQ(api::ListAt(*bed_.Get("namespaces", "", "shop")->Document(), "spec", "finalizers"),
            Json::array({"example.com/mine"}));
}

}  // namespace
}  // namespace terrarium::controllers

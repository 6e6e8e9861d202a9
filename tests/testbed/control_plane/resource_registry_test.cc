// Controllers that work on every resource follow the registry: a kind that is added while the control plane
// runs is garbage-collected, deleted with its namespace and counted by quotas.

#include "apiserver/resource_registry.h"

#include <string>

#include <gtest/gtest.h>

#include "api/json_access.h"
#include "apiserver/handler.h"
#include "testbed/embedding/testbed.h"
#include "tests/apiserver/widget_resource.h"

namespace terrarium::testbed {
namespace {

using namespace std::chrono_literals;
using api::Json;
using apiserver::kWidgets;

class RegistryFollowers : public ::testing::Test {
 protected:
  apiserver::ResourceRegistry& registry() { return bed.control_plane().handler().registry(); }
  void Serve() {
    registry().Put({apiserver::WidgetResource()});
    bed.clock().Settle();
  }
  void StopServing() {
    registry().Remove("example.com", "widgets");
    bed.clock().Settle();
  }

  api::ObjectPtr MakeWidget(const std::string& name, const std::string& ns = "default") {
    return Testbed::Must(bed.Create(kWidgets, ns, {{"metadata", {{"name", name}}}}));
  }
  static Json Owned(const std::string& name, const Json& owner) {
    return {{"metadata", {{"name", name}, {"ownerReferences", Json::array({owner})}}}};
  }
  static Json Reference(const std::string& api_version, const std::string& kind, const std::string& name,
                        const std::string& uid) {
    return {{"apiVersion", api_version}, {"kind", kind}, {"name", name}, {"uid", uid}};
  }
  bool Exists(std::string_view resource, const std::string& name, const std::string& ns = "default") {
    return bed.Get(resource, ns, name) != nullptr;
  }
  std::string Used() {
    return std::string(api::StringAt(bed.Get("resourcequotas", "default", "q")->Parse(), "status", "used",
                                     "count/widgets.example.com"));
  }

  Testbed bed{{.kubelet = false, .scheduler = false, .nodes = 0}};
};

TEST_F(RegistryFollowers, DependentsOfAnAddedKindAreCollected) {
  Serve();
  api::ObjectPtr owner = MakeWidget("owner");
  Testbed::Must(
      bed.Create("configmaps", "default",
                 Owned("of-widget", Reference("example.com/v1", "Widget", "owner", owner->header().uid))));
  api::ObjectPtr map = Testbed::Must(bed.Create("configmaps", "default", {{"metadata", {{"name", "map"}}}}));
  Testbed::Must(bed.Create(kWidgets, "default",
                           Owned("of-map", Reference("v1", "ConfigMap", "map", map->header().uid))));
  bed.clock().RunUntilIdle(1min);
  EXPECT_TRUE(Exists("configmaps", "of-widget"));
  EXPECT_TRUE(Exists(kWidgets, "of-map"));
  Testbed::Must(bed.Delete(kWidgets, {"default", "owner"}));
  Testbed::Must(bed.Delete("configmaps", {"default", "map"}));
  bed.clock().RunUntilIdle(1min);
  EXPECT_FALSE(Exists("configmaps", "of-widget"));
  EXPECT_FALSE(Exists(kWidgets, "of-map"));
}

TEST_F(RegistryFollowers, AnOwnerIsMissedOnlyWhenItsKindIsServed) {
  Testbed::Must(bed.Create("configmaps", "default",
                           Owned("waits", Reference("example.com/v1", "Widget", "nobody", "no-such-uid"))));
  bed.clock().RunUntilIdle(1min);
  EXPECT_TRUE(Exists("configmaps", "waits"));
  Serve();
  bed.clock().RunUntilIdle(1min);
  EXPECT_FALSE(Exists("configmaps", "waits"));
}

TEST_F(RegistryFollowers, ANamespaceTakesObjectsOfAnAddedKindWithIt) {
  Serve();
  Testbed::Must(bed.Create("namespaces", "", {{"metadata", {{"name", "team"}}}}));
  MakeWidget("a", "team");
  Testbed::Must(bed.Delete("namespaces", {"", "team"}));
  bed.clock().Advance(1min);
  EXPECT_FALSE(Exists(kWidgets, "a", "team"));
  EXPECT_FALSE(Exists("namespaces", "team", ""));
}

TEST_F(RegistryFollowers, QuotasCountAnAddedKind) {
  Testbed::Must(bed.Create(
      "resourcequotas", "default",
      {{"metadata", {{"name", "q"}}}, {"spec", {{"hard", {{"count/widgets.example.com", "1"}}}}}}));
  bed.clock().RunUntilIdle(1min);
  EXPECT_EQ(Used(), "");
  Serve();
  bed.clock().RunUntilIdle(1min);
  EXPECT_EQ(Used(), "0");
  MakeWidget("a");
  bed.clock().RunUntilIdle(1min);
  EXPECT_EQ(Used(), "1");
  auto refused = bed.Create(kWidgets, "default", {{"metadata", {{"name", "b"}}}});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().message,
            "widgets.example.com \"b\" is forbidden: exceeded quota: q, requested: "
            "count/widgets.example.com=1, used: count/widgets.example.com=1, limited: "
            "count/widgets.example.com=1");
  Testbed::Must(bed.Delete(kWidgets, {"default", "a"}));
  bed.clock().RunUntilIdle(1min);
  EXPECT_EQ(Used(), "0");
}

TEST_F(RegistryFollowers, ARemovedKindIsGoneForAllAndCanComeBack) {
  Serve();
  MakeWidget("a");
  bed.clock().RunUntilIdle(1min);
  Testbed::Must(bed.Delete(kWidgets, {"default", "a"}));
  StopServing();
  auto refused = bed.Create(kWidgets, "default", {{"metadata", {{"name", "b"}}}});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.status().code, 404);
  // No controller keeps requesting it.
  bed.clock().RunUntilIdle(10min);
  Testbed::Must(bed.Create("namespaces", "", {{"metadata", {{"name", "team"}}}}));
  Testbed::Must(bed.Delete("namespaces", {"", "team"}));
  bed.clock().Advance(1min);
  EXPECT_FALSE(Exists("namespaces", "team", ""));

  Serve();
  api::ObjectPtr owner = MakeWidget("owner");
  Testbed::Must(
      bed.Create("configmaps", "default",
                 Owned("of-widget", Reference("example.com/v1", "Widget", "owner", owner->header().uid))));
  bed.clock().RunUntilIdle(1min);
  Testbed::Must(bed.Delete(kWidgets, {"default", "owner"}));
  bed.clock().RunUntilIdle(1min);
  EXPECT_FALSE(Exists("configmaps", "of-widget"));
}

TEST_F(RegistryFollowers, TheRegistryOutlivesRestartsOfComponents) {
  Serve();
  ASSERT_TRUE(bed.Crash("apiserver").ok());
  ASSERT_TRUE(bed.Start("apiserver").ok());
  ASSERT_TRUE(bed.Restart("controller-manager").ok());
  bed.clock().Advance(2min);
  api::ObjectPtr owner = MakeWidget("owner");
  Testbed::Must(
      bed.Create("configmaps", "default",
                 Owned("of-widget", Reference("example.com/v1", "Widget", "owner", owner->header().uid))));
  bed.clock().RunUntilIdle(1min);
  Testbed::Must(bed.Delete(kWidgets, {"default", "owner"}));
  bed.clock().RunUntilIdle(1min);
  EXPECT_FALSE(Exists("configmaps", "of-widget"));
}

}  // namespace
}  // namespace terrarium::testbed

#include "api/patch/three_way.h"

#include <gtest/gtest.h>

#include "api/patch/strategic_merge.h"

namespace terrarium::api {
namespace {

const Message& Deployment() { return Schema::Get().Must("io.k8s.api.apps.v1.Deployment"); }

struct Case {
  const char* name;
  const char* original;
  const char* current;
  const char* modified;
  const char* patch;
  const char* result;  // of the patch on `current`
};

void ExpectAll(std::initializer_list<Case> cases) {
  for (const Case& c : cases) {
    Json original = Json::parse(c.original), current = Json::parse(c.current),
         modified = Json::parse(c.modified);
    Json patch = ThreeWayPatch({original, modified, current}, Deployment());
    EXPECT_EQ(patch, Json::parse(c.patch)) << c.name << ": " << patch;
    auto result = ApplyStrategicMergePatch(current, patch, Deployment());
    ASSERT_TRUE(result.ok()) << c.name << ": " << result.status().message;
    EXPECT_EQ(*result, Json::parse(c.result)) << c.name << ": " << *result;
  }
}

TEST(ThreeWayPatch, HasOnlyDifferences) {
  ExpectAll({
      {"nothing", R"({"spec":{"replicas":3}})",
       R"({"spec":{"replicas":3,"paused":true},"status":{"replicas":1}})", R"({"spec":{"replicas":3}})",
       R"({})", R"({"spec":{"replicas":3,"paused":true},"status":{"replicas":1}})"},
      {"a scalar", R"({"spec":{"replicas":3}})", R"({"spec":{"replicas":3}})", R"({"spec":{"replicas":5}})",
       R"({"spec":{"replicas":5}})", R"({"spec":{"replicas":5}})"},
      {"changes of other clients", R"({"spec":{"replicas":3}})", R"({"spec":{"replicas":9}})",
       R"({"spec":{"replicas":3}})", R"({"spec":{"replicas":3}})", R"({"spec":{"replicas":3}})"},
      {"a new field", R"({})", R"({"spec":{}})", R"({"spec":{"replicas":5}})", R"({"spec":{"replicas":5}})",
       R"({"spec":{"replicas":5}})"},
      {"a null of something that is not there", R"({})", R"({"metadata":{}})",
       R"({"metadata":{"labels":null}})", R"({})", R"({"metadata":{}})"},
  });
}

TEST(ThreeWayPatch, TakesAwayWhatTheLastApplyHadSetAndNothingElse) {
  ExpectAll({
      {"a label", R"({"metadata":{"labels":{"a":"1","b":"2"}}})",
       R"({"metadata":{"labels":{"a":"1","b":"2","c":"3"}}})", R"({"metadata":{"labels":{"a":"1"}}})",
       R"({"metadata":{"labels":{"b":null}}})", R"({"metadata":{"labels":{"a":"1","c":"3"}}})"},
      {"one that has gone already", R"({"spec":{"replicas":3}})", R"({"spec":{"paused":true}})",
       R"({"spec":{}})", R"({})", R"({"spec":{"paused":true}})"},
      {"a whole object", R"({"spec":{"template":{"metadata":{"labels":{"a":"1"}}}}})",
       R"({"spec":{"template":{"metadata":{"labels":{"a":"1"}}},"replicas":1}})", R"({"spec":{}})",
       R"({"spec":{"template":null}})", R"({"spec":{"replicas":1}})"},
  });
}

TEST(ThreeWayPatch, MergedListsGoItemByItem) {
  ExpectAll({
      {"an item changes", R"({"spec":{"template":{"spec":{"containers":[{"name":"a","image":"1"}]}}}})",
       R"({"spec":{"template":{"spec":{"containers":[{"name":"a","image":"1","tty":true},{"name":"x"}]}}}})",
       R"({"spec":{"template":{"spec":{"containers":[{"name":"a","image":"2"}]}}}})",
       R"({"spec":{"template":{"spec":{"$setElementOrder/containers":[{"name":"a"}],
           "containers":[{"name":"a","image":"2"}]}}}})",
       R"({"spec":{"template":{"spec":{"containers":[{"name":"a","image":"2","tty":true},{"name":"x"}]}}}})"},
      {"an item goes, another comes",
       R"({"spec":{"template":{"spec":{"containers":[{"name":"a"},{"name":"b"}]}}}})",
       R"({"spec":{"template":{"spec":{"containers":[{"name":"a"},{"name":"b"}]}}}})",
       R"({"spec":{"template":{"spec":{"containers":[{"name":"n"},{"name":"b"}]}}}})",
       R"({"spec":{"template":{"spec":{"$setElementOrder/containers":[{"name":"n"},{"name":"b"}],
           "containers":[{"name":"n"},{"name":"a","$patch":"delete"}]}}}})",
       R"({"spec":{"template":{"spec":{"containers":[{"name":"n"},{"name":"b"}]}}}})"},
      {"another order", R"({})",
       R"({"spec":{"template":{"spec":{"containers":[{"name":"a"},{"name":"b"}]}}}})",
       R"({"spec":{"template":{"spec":{"containers":[{"name":"b"},{"name":"a"}]}}}})",
       R"({"spec":{"template":{"spec":{"$setElementOrder/containers":[{"name":"b"},{"name":"a"}]}}}})",
       R"({"spec":{"template":{"spec":{"containers":[{"name":"b"},{"name":"a"}]}}}})"},
      {"scalars", R"({"metadata":{"finalizers":["a","b"]}})", R"({"metadata":{"finalizers":["a","b","x"]}})",
       R"({"metadata":{"finalizers":["b","c"]}})",
       R"({"metadata":{"finalizers":["c"],"$deleteFromPrimitiveList/finalizers":["a"],
           "$setElementOrder/finalizers":["b","c"]}})",
       R"({"metadata":{"finalizers":["b","c","x"]}})"},
      {"a list that is one value",
       R"({"spec":{"template":{"spec":{"containers":[{"name":"a","command":["x"]}]}}}})",
       R"({"spec":{"template":{"spec":{"containers":[{"name":"a","command":["x","y"]}]}}}})",
       R"({"spec":{"template":{"spec":{"containers":[{"name":"a","command":["z"]}]}}}})",
       R"({"spec":{"template":{"spec":{"$setElementOrder/containers":[{"name":"a"}],
           "containers":[{"name":"a","command":["z"]}]}}}})",
       R"({"spec":{"template":{"spec":{"containers":[{"name":"a","command":["z"]}]}}}})"},
  });
}

TEST(ThreeWayPatch, WhereKeysAreRetainedTheOthersGo) {
  ExpectAll({
      {"a strategy changes its type", R"({"spec":{"strategy":{"type":"RollingUpdate"}}})",
       R"({"spec":{"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":1}}}})",
       R"({"spec":{"strategy":{"type":"Recreate"}}})",
       R"({"spec":{"strategy":{"type":"Recreate","$retainKeys":["type"]}}})",
       R"({"spec":{"strategy":{"type":"Recreate"}}})"},
      {"a strategy that stays keeps its defaults", R"({"spec":{"strategy":{"type":"RollingUpdate"}}})",
       R"({"spec":{"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":1}}}})",
       R"({"spec":{"strategy":{"type":"RollingUpdate"}}})", R"({})",
       R"({"spec":{"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":1}}}})"},
      {"a volume changes its source",
       R"({"spec":{"template":{"spec":{"volumes":[{"name":"v","emptyDir":{}}]}}}})",
       R"({"spec":{"template":{"spec":{"volumes":[{"name":"v","emptyDir":{}}]}}}})",
       R"({"spec":{"template":{"spec":{"volumes":[{"name":"v","configMap":{"name":"c"}}]}}}})",
       R"({"spec":{"template":{"spec":{"$setElementOrder/volumes":[{"name":"v"}],"volumes":[
           {"name":"v","configMap":{"name":"c"},"emptyDir":null,"$retainKeys":["configMap","name"]}]}}}})",
       R"({"spec":{"template":{"spec":{"volumes":[{"name":"v","configMap":{"name":"c"}}]}}}})"},
  });
}

TEST(ThreeWayPatch, AnItemWithoutItsMergeKeyIsLeftForTheServerToRefuse) {
  Json none = Json::object();
  Json current = Json::parse(R"({"spec":{"template":{"spec":{"containers":[{"name":"a"}]}}}})");
  Json modified = Json::parse(R"({"spec":{"template":{"spec":{"containers":[{"image":"i"}]}}}})");
  Json patch = ThreeWayPatch({none, modified, current}, Deployment());
  EXPECT_EQ(patch, modified);
  auto result = ApplyStrategicMergePatch(current, patch, Deployment());
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().code, 500);
}

}  // namespace
}  // namespace terrarium::api

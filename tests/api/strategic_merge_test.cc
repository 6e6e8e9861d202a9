#include "api/patch/strategic_merge.h"

#include <algorithm>

#include <gtest/gtest.h>

#include "api/patch/internal/strategic.h"

namespace terrarium::api {
namespace {

const Message& PodSpec() { return Schema::Get().Must("io.k8s.api.core.v1.PodSpec"); }
const Message& ObjectMeta() { return Schema::Get().Must("io.k8s.apimachinery.pkg.apis.meta.v1.ObjectMeta"); }
const Message& DeploymentSpec() { return Schema::Get().Must("io.k8s.api.apps.v1.DeploymentSpec"); }

Json Apply(const Message& schema, const char* document, const char* patch) {
  Result<Json> result = ApplyStrategicMergePatch(Json::parse(document), Json::parse(patch), schema);
  EXPECT_TRUE(result.ok()) << patch << ": " << (result.ok() ? "" : result.status().message);
  return result.ok() ? *result : Json();
}

void ExpectFailure(const Message& schema, const char* document, const char* patch, int code,
                   const char* message) {
  Result<Json> result = ApplyStrategicMergePatch(Json::parse(document), Json::parse(patch), schema);
  ASSERT_FALSE(result.ok()) << patch;
  EXPECT_EQ(result.status().code, code) << patch;
  EXPECT_EQ(result.status().message, message);
}

struct Case {
  const char* name;
  const char* document;
  const char* patch;
  const char* result;
};

void ExpectAll(const Message& schema, std::initializer_list<Case> cases) {
  for (const Case& c : cases) EXPECT_EQ(Apply(schema, c.document, c.patch), Json::parse(c.result)) << c.name;
}

TEST(StrategicMerge, ObjectsMergeAndNullRemoves) {
  ExpectAll(
      PodSpec(),
      {
          {"a map gains a key", R"({"nodeSelector":{"a":"b"}})", R"({"nodeSelector":{"c":"d"}})",
           R"({"nodeSelector":{"a":"b","c":"d"}})"},
          {"null removes a key", R"({"nodeSelector":{"a":"b","c":"d"}})", R"({"nodeSelector":{"a":null}})",
           R"({"nodeSelector":{"c":"d"}})"},
          {"null removes a field", R"({"hostname":"h","nodeSelector":{"a":"b"}})", R"({"nodeSelector":null})",
           R"({"hostname":"h"})"},
          {"null of an absent field is nothing", R"({})", R"({"nodeSelector":null})", R"({})"},
          {"nulls inside a new object are nothing", R"({})",
           R"({"securityContext":{"runAsUser":null,"fsGroup":1}})", R"({"securityContext":{"fsGroup":1}})"},
          {"a scalar is replaced", R"({"hostname":"a"})", R"({"hostname":"b"})", R"({"hostname":"b"})"},
          {"another type is taken as it is", R"({"hostname":"a"})", R"({"hostname":{"x":1}})",
           R"({"hostname":{"x":1}})"},
          {"unknown fields merge as plain JSON", R"({"x":{"a":1,"l":[1]}})", R"({"x":{"b":2,"l":[2]}})",
           R"({"x":{"a":1,"b":2,"l":[2]}})"},
      });
}

TEST(StrategicMerge, ListsWithMergeKeyMergeByIt) {
  ExpectAll(
      PodSpec(),
      {
          {"an item is changed in place",
           R"({"containers":[{"name":"a","image":"1"},{"name":"b","image":"1"}]})",
           R"({"containers":[{"name":"b","image":"2"}]})",
           R"({"containers":[{"name":"a","image":"1"},{"name":"b","image":"2"}]})"},
          {"a new item comes before the server's others", R"({"containers":[{"name":"a"}]})",
           R"({"containers":[{"name":"n"}]})", R"({"containers":[{"name":"n"},{"name":"a"}]})"},
          {"known items keep the server's order around a new one",
           R"({"containers":[{"name":"a"},{"name":"b"},{"name":"c"}]})",
           R"({"containers":[{"name":"b"},{"name":"n"}]})",
           R"({"containers":[{"name":"a"},{"name":"b"},{"name":"n"},{"name":"c"}]})"},
          {"the patch's order wins over the server's", R"({"containers":[{"name":"a"},{"name":"b"}]})",
           R"({"containers":[{"name":"b"},{"name":"a"}]})", R"({"containers":[{"name":"b"},{"name":"a"}]})"},
          {"lists nest",
           R"({"containers":[{"name":"a","env":[{"name":"E","value":"1"},{"name":"F","value":"1"}]}]})",
           R"({"containers":[{"name":"a","env":[{"name":"F","value":"2"}]}]})",
           R"({"containers":[{"name":"a","env":[{"name":"E","value":"1"},{"name":"F","value":"2"}]}]})"},
          {"numbers are merge keys too",
           R"({"containers":[{"name":"a","ports":[{"containerPort":1,"protocol":"TCP"}]}]})",
           R"({"containers":[{"name":"a","ports":[{"containerPort":1,"name":"p"}]}]})",
           R"({"containers":[{"name":"a","ports":[{"containerPort":1,"name":"p","protocol":"TCP"}]}]})"},
          {"of two items with one key the first is meant",
           R"({"containers":[{"name":"a","ports":[{"containerPort":1,"protocol":"TCP"},{"containerPort":1,"protocol":"UDP"}]}]})",
           R"({"containers":[{"name":"a","ports":[{"containerPort":1,"name":"p"}]}]})",
           R"({"containers":[{"name":"a","ports":[{"containerPort":1,"name":"p","protocol":"TCP"},{"containerPort":1,"protocol":"UDP"}]}]})"},
          {"an absent list is taken as it is", R"({})", R"({"containers":[{"name":"a"}]})",
           R"({"containers":[{"name":"a"}]})"},
          {"an item is deleted", R"({"containers":[{"name":"a"},{"name":"b"}]})",
           R"({"containers":[{"name":"a","$patch":"delete"}]})", R"({"containers":[{"name":"b"}]})"},
          {"deleting what is not there is nothing", R"({"containers":[{"name":"a"}]})",
           R"({"containers":[{"name":"z","$patch":"delete"}]})", R"({"containers":[{"name":"a"}]})"},
          {"the whole list is replaced", R"({"containers":[{"name":"a"},{"name":"b"}]})",
           R"({"containers":[{"$patch":"replace"},{"name":"n"}]})", R"({"containers":[{"name":"n"}]})"},
          {"a directive in a new list adds nothing", R"({})",
           R"({"containers":[{"name":"a","$patch":"delete"},{"name":"b"}]})",
           R"({"containers":[{"name":"b"}]})"},
      });
}

TEST(StrategicMerge, ListsWithoutMergeStrategyAreReplaced) {
  ExpectAll(PodSpec(), {
                           {"objects", R"({"tolerations":[{"key":"a"}]})", R"({"tolerations":[{"key":"z"}]})",
                            R"({"tolerations":[{"key":"z"}]})"},
                           {"scalars", R"({"containers":[{"name":"a","args":["x"]}]})",
                            R"({"containers":[{"name":"a","args":["y"]}]})",
                            R"({"containers":[{"name":"a","args":["y"]}]})"},
                       });
}

TEST(StrategicMerge, ListsOfScalarsMergeAsSets) {
  ExpectAll(ObjectMeta(),
            {
                {"a new value comes first", R"({"finalizers":["a"]})", R"({"finalizers":["b"]})",
                 R"({"finalizers":["b","a"]})"},
                {"known values stay", R"({"finalizers":["a","b"]})", R"({"finalizers":["a"]})",
                 R"({"finalizers":["a","b"]})"},
                {"repeats are added once", R"({"finalizers":["a"]})", R"({"finalizers":["a","a"]})",
                 R"({"finalizers":["a"]})"},
                {"values are deleted", R"({"finalizers":["a","b","c"]})",
                 R"({"$deleteFromPrimitiveList/finalizers":["a","c"]})", R"({"finalizers":["b"]})"},
                {"deleting from an absent list is nothing", R"({})",
                 R"({"$deleteFromPrimitiveList/finalizers":["a"]})", R"({})"},
                {"deleting and adding together", R"({"finalizers":["a","b"]})",
                 R"({"$deleteFromPrimitiveList/finalizers":["a"],"finalizers":["c"]})",
                 R"({"finalizers":["c","b"]})"},
                {"order of scalars", R"({"finalizers":["a","b"]})",
                 R"({"$setElementOrder/finalizers":["c","b","a"],"finalizers":["c"]})",
                 R"({"finalizers":["c","b","a"]})"},
            });
}

TEST(StrategicMerge, SetElementOrderOrdersTheResult) {
  ExpectAll(
      PodSpec(),
      {
          {"without a patch list", R"({"containers":[{"name":"a"},{"name":"b"}]})",
           R"({"$setElementOrder/containers":[{"name":"b"},{"name":"a"}]})",
           R"({"containers":[{"name":"b"},{"name":"a"}]})"},
          {"with changed and new items", R"({"containers":[{"name":"a"},{"name":"b"}]})",
           R"({"$setElementOrder/containers":[{"name":"n"},{"name":"b"},{"name":"a"}],
           "containers":[{"name":"n"},{"name":"a","image":"i"}]})",
           R"({"containers":[{"name":"n"},{"name":"b"},{"name":"a","image":"i"}]})"},
          {"server-only items keep their place",
           R"({"containers":[{"name":"s"},{"name":"a"},{"name":"t"},{"name":"b"}]})",
           R"({"$setElementOrder/containers":[{"name":"a"},{"name":"b"}]})",
           R"({"containers":[{"name":"s"},{"name":"a"},{"name":"t"},{"name":"b"}]})"},
          {"with deletion", R"({"containers":[{"name":"a"},{"name":"b"}]})",
           R"({"$setElementOrder/containers":[{"name":"b"}],"containers":[{"name":"a","$patch":"delete"}]})",
           R"({"containers":[{"name":"b"}]})"},
          {"an item that takes a deleted one's room comes after those that only the server has",
           R"({"containers":[{"name":"old"},{"name":"sidecar"}]})",
           R"({"$setElementOrder/containers":[{"name":"new"}],
           "containers":[{"name":"new"},{"name":"old","$patch":"delete"}]})",
           R"({"containers":[{"name":"sidecar"},{"name":"new"}]})"},
          {"of a list that is new", R"({})",
           R"({"$setElementOrder/containers":[{"name":"a"},{"name":"b"}],"containers":[{"name":"a"},{"name":"b"}]})",
           R"({"containers":[{"name":"a"},{"name":"b"}]})"},
          {"of a missing list", R"({})", R"({"$setElementOrder/containers":[{"name":"a"}]})", R"({})"},
      });
}

TEST(StrategicMerge, RetainKeysClearsTheRest) {
  ExpectAll(
      DeploymentSpec(),
      {
          {"a field is cleared", R"({"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":1}}})",
           R"({"strategy":{"$retainKeys":["type"],"type":"Recreate"}})",
           R"({"strategy":{"type":"Recreate"}})"},
          {"a retained field stays",
           R"({"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":1}}})",
           R"({"strategy":{"$retainKeys":["type","rollingUpdate"]}})",
           R"({"strategy":{"type":"RollingUpdate","rollingUpdate":{"maxSurge":1}}})"},
          {"in items of lists", R"({"template":{"spec":{"volumes":[{"name":"v","emptyDir":{}}]}}})",
           R"({"template":{"spec":{"volumes":[{"name":"v","$retainKeys":["name","hostPath"],"hostPath":{"path":"/"}}]}}})",
           R"({"template":{"spec":{"volumes":[{"name":"v","hostPath":{"path":"/"}}]}}})"},
      });
  ExpectFailure(DeploymentSpec(), R"({"strategy":{}})",
                R"({"strategy":{"$retainKeys":["rollingUpdate"],"type":"x"}})", 400,
                "invalid patch format of retainKeys");
  ExpectFailure(DeploymentSpec(), R"({"strategy":{}})", R"({"strategy":{"$retainKeys":"type"}})", 400,
                "invalid patch format of retainKeys");
}

TEST(StrategicMerge, DirectivesInObjects) {
  ExpectAll(ObjectMeta(),
            {
                {"replace", R"({"labels":{"a":"b"}})", R"({"labels":{"$patch":"replace","only":"me"}})",
                 R"({"labels":{"only":"me"}})"},
                {"delete leaves it empty", R"({"labels":{"a":"b"}})", R"({"labels":{"$patch":"delete"}})",
                 R"({"labels":{}})"},
                {"replace of what is absent adds nothing", R"({})",
                 R"({"labels":{"$patch":"replace","only":"me"}})", R"({})"},
            });
  ExpectFailure(DeploymentSpec(), R"({})", R"({"$patch":"explode"})", 500,
                "unknown patch type: explode in map: map[$patch:explode]");
  ExpectFailure(ObjectMeta(), R"({"labels":{"a":"b"}})", R"({"labels":{"$patch":"merge","c":"d"}})", 500,
                "unknown patch type: merge in map: map[$patch:merge c:d]");
}

TEST(StrategicMerge, BadListsAreServerErrorsAsInKubernetes) {
  const char* document = R"({"containers":[{"name":"a"},{"name":"b"}]})";
  ExpectFailure(PodSpec(), document, R"({"containers":[{"image":"x"}]})", 500,
                "map: map[image:x] does not contain declared merge key: name");
  ExpectFailure(PodSpec(), document, R"({"containers":[{"$patch":"delete"}]})", 500,
                "map: map[$patch:delete] does not contain declared merge key: name");
  ExpectFailure(PodSpec(), document, R"({"containers":[{"$patch":"merge"}]})", 500,
                "merging lists cannot yet be specified in the patch");
  ExpectFailure(PodSpec(), document, R"({"containers":[{"name":"a","$patch":"x"}]})", 500,
                "unknown patch type: x in map: map[$patch:x name:a]");
  ExpectFailure(PodSpec(), document, R"({"containers":["x"]})", 500,
                "list element types are not identical: [[map[name:a] map[name:b]] [x]]");
  ExpectFailure(PodSpec(), R"({"containers":[]})", R"({"containers":["x"]})", 500,
                "expected a map[string]interface {}, but received a string");
  ExpectFailure(
      PodSpec(), document,
      R"({"containers":[{"name":"a","$retainKeys":["name","image"]},{"name":"b","$retainKeys":[]}]})", 400,
      "invalid patch format of retainKeys");
  ExpectFailure(ObjectMeta(), R"({"finalizers":[]})", R"({"finalizers":[["x"]]})", 422,
                "the server rejected our request due to an error in our request");
}

TEST(StrategicMerge, BadElementOrders) {
  const char* document = R"({"containers":[{"name":"a"},{"name":"b"}]})";
  ExpectFailure(
      PodSpec(), document, R"({"$setElementOrder/containers":[{"name":"a"}],"containers":[{"name":"b"}]})",
      500, "The order in patch list:\n[map[name:b]]\n doesn't match $setElementOrder list:\n[map[name:a]]\n");
  ExpectFailure(PodSpec(), document, R"({"$setElementOrder/containers":[{"image":"a"}]})", 500,
                "map: map[image:a] does not contain declared merge key: name");
  ExpectFailure(PodSpec(), document, R"({"$setElementOrder/containers":"x"})", 500,
                "expected a []interface {}, but received a string");
  ExpectFailure(PodSpec(), document, R"({"$setElementOrder/nothing":["x"]})", 500,
                "unable to find api field in struct PodSpec for the json field \"nothing\"");
  ExpectFailure(PodSpec(), document, R"({"$setElementOrder":["x"]})", 400,
                "invalid patch format of setElementOrder list");
  ExpectFailure(ObjectMeta(), R"({"finalizers":["a"]})", R"({"$deleteFromPrimitiveList":["a"]})", 400,
                "invalid patch format of primitive list");
}

TEST(StrategicMerge, ManyMembersComeAndGoTogether) {
  EXPECT_EQ(
      Apply(ObjectMeta(), R"({"labels":{"b":"1","d":"1","f":"1"},"finalizers":["x","y"]})",
            R"({"labels":{"a":"2","b":null,"c":"2","d":"2","e":null,"z":"2"},"annotations":{"n":null,"m":"1"},
                      "$deleteFromPrimitiveList/finalizers":["x"],"finalizers":["z"]})"),
      Json::parse(R"({"labels":{"a":"2","c":"2","d":"2","f":"1","z":"2"},"annotations":{"m":"1"},
                            "finalizers":["z","y"]})"));
}

// A patch that names one container many times makes the server walk over its environment as often.
TEST(StrategicMerge, OneItemCannotBeMergedWithoutEnd) {
  Json env = Json::array();
  for (int i = 0; i < 100; ++i) env.push_back({{"name", "E" + std::to_string(i)}});
  const auto merge = [&](int times) {
    Json patch = {{"containers", Json::array()}};
    for (int i = 0; i < times; ++i)
      patch["containers"].push_back(
          {{"name", "a"}, {"env", {{{"name", "F"}, {"value", std::to_string(i)}}}}});
    Json document = {{"containers", {{{"name", "a"}, {"env", env}}}}};
    strategic::WorkLimit limit(10'000);
    return strategic::MergeObject(document, patch, &PodSpec(), limit);
  };
  EXPECT_FALSE(merge(50).has_value());
  const strategic::Failure failure = merge(200);
  ASSERT_TRUE(failure.has_value());
  EXPECT_EQ(failure->code, 413);
}

TEST(StrategicMerge, ALargePatchThatNamesEachItemOnceIsWithinTheLimit) {
  Json env = Json::array();
  for (int i = 0; i < 20'000; ++i) env.push_back({{"name", "E" + std::to_string(i)}});
  Json reversed = env;
  std::reverse(reversed.begin(), reversed.end());
  const Json document = {{"containers", {{{"name", "a"}, {"env", reversed}}}}};
  const Json patch = {{"containers", {{{"name", "a"}, {"env", env}, {"$setElementOrder/env", env}}}}};
  auto patched = ApplyStrategicMergePatch(document, patch, PodSpec());
  ASSERT_TRUE(patched.ok()) << patched.status().message;
  EXPECT_EQ((*patched)["containers"][0]["env"], env);
}

TEST(StrategicMerge, OnlyObjectsArePatches) {
  ExpectFailure(PodSpec(), "{}", "[]", 400,
                "json: cannot unmarshal array into Go value of type map[string]interface {}");
  EXPECT_EQ(Apply(PodSpec(), R"({"hostname":"h"})", "null"), Json::parse(R"({"hostname":"h"})"));
}

}  // namespace
}  // namespace terrarium::api

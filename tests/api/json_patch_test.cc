#include "api/patch/json_patch.h"

#include <numeric>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace terrarium::api {
namespace {

const Json kDocument = Json::parse(R"({
  "metadata": {"name": "d", "labels": {"a/b": "1", "t~d": "2"}},
  "spec": {"replicas": 1, "list": ["x", "y", "z"], "none": null}
})");

Json Apply(const char* patch) {
  Result<Json> result = ApplyJsonPatch(kDocument, Json::parse(patch));
  EXPECT_TRUE(result.ok()) << patch;
  return result.ok() ? *result : Json();
}

void ExpectRejected(const char* patch) {
  Result<Json> result = ApplyJsonPatch(kDocument, Json::parse(patch));
  ASSERT_FALSE(result.ok()) << patch;
  EXPECT_EQ(result.status().code, 422) << patch;
  EXPECT_EQ(result.status().reason, "Invalid");
  EXPECT_EQ(result.status().message, "the server rejected our request due to an error in our request");
  EXPECT_TRUE(result.status().details.has_value());
}

TEST(JsonPatch, AddSetsAMemberAndReplacesAnExistingOne) {
  Json out = Apply(
      R"([{"op":"add","path":"/spec/paused","value":true},{"op":"add","path":"/spec/replicas","value":3}])");
  EXPECT_EQ(out["spec"]["paused"], true);
  EXPECT_EQ(out["spec"]["replicas"], 3);
}

TEST(JsonPatch, AddInsertsIntoAListAndAppendsAtDash) {
  EXPECT_EQ(Apply(R"([{"op":"add","path":"/spec/list/1","value":"n"}])")["spec"]["list"],
            Json::parse(R"(["x","n","y","z"])"));
  EXPECT_EQ(Apply(R"([{"op":"add","path":"/spec/list/3","value":"n"}])")["spec"]["list"],
            Json::parse(R"(["x","y","z","n"])"));
  EXPECT_EQ(Apply(R"([{"op":"add","path":"/spec/list/-","value":"n"}])")["spec"]["list"],
            Json::parse(R"(["x","y","z","n"])"));
}

TEST(JsonPatch, NegativeIndexesCountFromTheEnd) {
  EXPECT_EQ(Apply(R"([{"op":"remove","path":"/spec/list/-1"}])")["spec"]["list"],
            Json::parse(R"(["x","y"])"));
  EXPECT_EQ(Apply(R"([{"op":"replace","path":"/spec/list/-3","value":"n"}])")["spec"]["list"],
            Json::parse(R"(["n","y","z"])"));
  EXPECT_EQ(Apply(R"([{"op":"add","path":"/spec/list/-1","value":"n"}])")["spec"]["list"],
            Json::parse(R"(["x","y","z","n"])"));
}

TEST(JsonPatch, EscapedTokensNameMembersWithSlashAndTilde) {
  Json out = Apply(R"([{"op":"remove","path":"/metadata/labels/a~1b"},
                       {"op":"replace","path":"/metadata/labels/t~0d","value":"3"}])");
  EXPECT_EQ(out["metadata"]["labels"], Json::parse(R"({"t~d":"3"})"));
}

TEST(JsonPatch, ReplaceOfAnAbsentMemberAddsIt) {
  EXPECT_EQ(Apply(R"([{"op":"replace","path":"/spec/paused","value":true}])")["spec"]["paused"], true);
}

TEST(JsonPatch, ReplaceOfTheWholeDocument) {
  EXPECT_EQ(Apply(R"([{"op":"replace","path":"","value":{"a":1}}])"), Json::parse(R"({"a":1})"));
  ExpectRejected(R"([{"op":"replace","path":"","value":1}])");
}

TEST(JsonPatch, MoveAndCopy) {
  Json out = Apply(R"([{"op":"move","from":"/spec/replicas","path":"/spec/was"},
                       {"op":"copy","from":"/spec/list","path":"/spec/other"},
                       {"op":"move","from":"/spec/list/0","path":"/spec/list/-"}])");
  EXPECT_FALSE(out["spec"].contains("replicas"));
  EXPECT_EQ(out["spec"]["was"], 1);
  EXPECT_EQ(out["spec"]["other"], Json::parse(R"(["x","y","z"])"));
  EXPECT_EQ(out["spec"]["list"], Json::parse(R"(["y","z","x"])"));
}

TEST(JsonPatch, TestPassesOnEqualValuesOnly) {
  Apply(R"([{"op":"test","path":"/spec/replicas","value":1}])");
  Apply(R"([{"op":"test","path":"/spec","value":{"list":["x","y","z"],"none":null,"replicas":1}}])");
  ExpectRejected(R"([{"op":"test","path":"/spec/replicas","value":2}])");
  ExpectRejected(R"([{"op":"test","path":"/spec/replicas","value":"1"}])");
  ExpectRejected(R"([{"op":"test","path":"/spec/replicas","value":1.0}])");
  ExpectRejected(R"([{"op":"test","path":"/spec/list","value":["x","y"]}])");
  ExpectRejected(R"([{"op":"test","path":"/spec/replicas"}])");
}

TEST(JsonPatch, AbsentAndNullAreOneToTest) {
  Apply(
      R"([{"op":"test","path":"/spec/absent","value":null},{"op":"test","path":"/spec/none","value":null}])");
  ExpectRejected(R"([{"op":"test","path":"/spec/absent","value":""}])");
}

TEST(JsonPatch, MissingPathsAreRejected) {
  ExpectRejected(R"([{"op":"remove","path":"/spec/absent"}])");
  ExpectRejected(R"([{"op":"add","path":"/no/where","value":1}])");
  ExpectRejected(R"([{"op":"replace","path":"/no/where","value":1}])");
  ExpectRejected(R"([{"op":"add","path":"/spec/replicas/x","value":1}])");
  ExpectRejected(R"([{"op":"test","path":"/no/where","value":null}])");
  ExpectRejected(R"([{"op":"move","from":"/spec/absent","path":"/spec/x"}])");
  ExpectRejected(R"([{"op":"copy","from":"/no/where","path":"/spec/x"}])");
  ExpectRejected(R"([{"op":"add","path":"","value":{}}])");
  ExpectRejected(R"([{"op":"remove","path":""}])");
}

TEST(JsonPatch, BadIndexesAreRejected) {
  for (const char* index : {"3", "-4", "x", "1x", "", "99999999999999999999"}) {
    std::string path = std::string("/spec/list/") + index;
    ExpectRejected(Json({{{"op", "remove"}, {"path", path}}}).dump().c_str());
    ExpectRejected(Json({{{"op", "replace"}, {"path", path}, {"value", 1}}}).dump().c_str());
  }
  ExpectRejected(R"([{"op":"add","path":"/spec/list/4","value":1}])");
}

TEST(JsonPatch, MoveIntoItselfIsRejected) {
  ExpectRejected(R"([{"op":"move","from":"/spec","path":"/spec/inner"}])");
}

TEST(JsonPatch, IncompleteAndUnknownOperationsAreRejected) {
  ExpectRejected(R"([{"op":"explode","path":"/spec"}])");
  ExpectRejected(R"([{"path":"/spec"}])");
  ExpectRejected(R"([{"op":"remove"}])");
  ExpectRejected(R"([{"op":"move","path":"/spec/x"}])");
  ExpectRejected(R"([null])");
}

TEST(JsonPatch, APatchMustBeAListOfOperations) {
  struct Case {
    const char* patch;
    const char* message;
  };
  for (const Case& c : {
           Case{R"({})",
                "error decoding patch: json: cannot unmarshal object into Go value of type "
                "[]handlers.jsonPatchOp"},
           Case{R"(["x"])",
                "error decoding patch: json: cannot unmarshal string into Go value of type "
                "handlers.jsonPatchOp"},
           Case{R"([{"op":1}])",
                "error decoding patch: json: cannot unmarshal number into Go struct field jsonPatchOp.op of "
                "type string"},
       }) {
    Result<Json> result = ApplyJsonPatch(kDocument, Json::parse(c.patch));
    ASSERT_FALSE(result.ok()) << c.patch;
    EXPECT_EQ(result.status().code, 400);
    EXPECT_EQ(result.status().message, c.message);
  }
}

TEST(JsonPatch, EmptyPatchChangesNothing) { EXPECT_EQ(Apply("[]"), kDocument); }

TEST(JsonPatch, TooManyOperationsAreTooLarge) {
  Json patch = Json::array();
  for (std::size_t i = 0; i < kMaxJsonPatchOperations; ++i)
    patch.push_back({{"op", "add"}, {"path", "/spec/replicas"}, {"value", 1}});
  EXPECT_TRUE(ApplyJsonPatch(kDocument, patch).ok());
  patch.push_back(patch[0]);
  Result<Json> result = ApplyJsonPatch(kDocument, patch);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().code, 413);
  EXPECT_EQ(result.status().message,
            "Request entity too large: The allowed maximum operations in a JSON patch is 10000, got 10001");
}

TEST(JsonPatch, CopiesThatDoubleTheDocumentAreStopped) {
  Json document = {{"a", std::string(100'000, 'x')}};
  Json patch = Json::array();
  for (int i = 0; i < 40; ++i)
    patch.push_back({{"op", "copy"}, {"from", "/a"}, {"path", "/" + std::to_string(i)}});
  Result<Json> result = ApplyJsonPatch(document, patch);
  ASSERT_FALSE(result.ok());
  EXPECT_EQ(result.status().code, 422);
}

// Long enough for several chunks of the list that a patch works on.
TEST(JsonPatch, LongListsChangeAnywhere) {
  Json list = Json::array();
  for (int i = 0; i < 2000; ++i) list.push_back(i);
  Json patch = Json::array();
  std::vector<int> expected(2000);
  std::iota(expected.begin(), expected.end(), 0);
  for (int i = 0; i < 3000; ++i) {
    const int at = (i * 7919) % static_cast<int>(expected.size());
    if (i % 3 == 0) {
      patch.push_back({{"op", "remove"}, {"path", "/list/" + std::to_string(at)}});
      expected.erase(expected.begin() + at);
    } else {
      patch.push_back({{"op", "add"}, {"path", "/list/" + std::to_string(at)}, {"value", -i}});
      expected.insert(expected.begin() + at, -i);
    }
  }
  Result<Json> result = ApplyJsonPatch({{"list", list}}, patch);
  ASSERT_TRUE(result.ok());
  EXPECT_EQ((*result)["list"], Json(expected));
}

TEST(JsonPatch, AListCanBeEmptiedAndFilled) {
  EXPECT_EQ(Apply(R"([{"op":"remove","path":"/spec/list/0"},{"op":"remove","path":"/spec/list/0"},
                      {"op":"remove","path":"/spec/list/0"},{"op":"test","path":"/spec/list","value":[]},
                      {"op":"add","path":"/spec/list/-","value":"n"},{"op":"copy","from":"/spec/list","path":"/spec/more"},
                      {"op":"test","path":"/spec","value":{"list":["n"],"more":["n"],"none":null,"replicas":1}}])")
                ["spec"],
            Json::parse(R"({"list":["n"],"more":["n"],"none":null,"replicas":1})"));
}

// Each value is as deep as a client may send it. Nested, they would be deeper than any reader accepts.
TEST(JsonPatch, ValuesPutIntoEachOtherStayWithinTheDepthOfDocuments) {
  Json value = 0;
  std::string path = "/spec";
  Json patch = Json::array();
  for (int level = 0; level < 4000; ++level) value = Json::array({std::move(value)});
  for (int i = 0; i < 3; ++i) {
    patch.push_back({{"op", "add"}, {"path", path}, {"value", value}});
    Result<Json> result = ApplyJsonPatch(kDocument, patch);
    EXPECT_EQ(result.ok(), i < 2);
    for (int level = 0; level < 4000; ++level) path += "/0";
  }
}

TEST(JsonPatch, ValuesMovedIntoEachOtherStayWithinTheDepthOfDocuments) {
  Json deep = 0;
  for (int level = 0; level < 6000; ++level) deep = Json::array({std::move(deep)});
  std::string path = "/b";
  for (int level = 0; level < 5999; ++level) path += "/0";
  const Json document = {{"a", deep}, {"b", deep}};
  EXPECT_FALSE(ApplyJsonPatch(document, {{{"op", "move"}, {"from", "/a"}, {"path", path + "/0"}}}).ok());
  const Json flat = {{"a", 1}, {"b", deep}};
  EXPECT_TRUE(ApplyJsonPatch(flat, {{{"op", "move"}, {"from", "/a"}, {"path", path + "/0"}}}).ok());
}

TEST(JsonPatch, StrictValidationNamesUnknownMembers) {
  EXPECT_EQ(
      JsonPatchUnknownFields(Json::parse(R"([{"op":"add","path":"/a","value":1},{"op":"test","foo":1}])")),
      std::vector<std::string>{"json patch unknown field \"[1].foo\""});
}

}  // namespace
}  // namespace terrarium::api

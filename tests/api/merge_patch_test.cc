#include "api/patch/merge_patch.h"

#include <gtest/gtest.h>

namespace terrarium::api {
namespace {

// The examples of RFC 7386, appendix A, whose documents and patches are both objects.
TEST(MergePatch, FollowsTheExamplesOfTheRfc) {
  struct Case {
    const char* document;
    const char* patch;
    const char* result;
  };
  for (const Case& c : {
           Case{R"({"a":"b"})", R"({"a":"c"})", R"({"a":"c"})"},
           Case{R"({"a":"b"})", R"({"b":"c"})", R"({"a":"b","b":"c"})"},
           Case{R"({"a":"b"})", R"({"a":null})", R"({})"},
           Case{R"({"a":"b","b":"c"})", R"({"a":null})", R"({"b":"c"})"},
           Case{R"({"a":["b"]})", R"({"a":"c"})", R"({"a":"c"})"},
           Case{R"({"a":"c"})", R"({"a":["b"]})", R"({"a":["b"]})"},
           Case{R"({"a":{"b":"c"}})", R"({"a":{"b":"d","c":null}})", R"({"a":{"b":"d"}})"},
           Case{R"({"a":[{"b":"c"}]})", R"({"a":[1]})", R"({"a":[1]})"},
           Case{R"({"e":null})", R"({"a":1})", R"({"a":1,"e":null})"},
           Case{R"({})", R"({"a":{"bb":{"ccc":null}}})", R"({"a":{"bb":{}}})"},
           Case{R"({"a":1})", R"({"a":{"b":null,"c":1}})", R"({"a":{"c":1}})"},
       }) {
    Result<Json> result = ApplyMergePatch(Json::parse(c.document), Json::parse(c.patch));
    ASSERT_TRUE(result.ok());
    EXPECT_EQ(*result, Json::parse(c.result)) << c.document << " <- " << c.patch;
  }
}

TEST(MergePatch, OnlyObjectsArePatches) {
  for (const char* patch : {"[]", "1", "\"x\"", "true"}) {
    Result<Json> result = ApplyMergePatch(Json::object(), Json::parse(patch));
    ASSERT_FALSE(result.ok()) << patch;
    EXPECT_EQ(result.status().code, 400);
    EXPECT_TRUE(result.status().message.starts_with("error decoding patch: json: cannot unmarshal "));
  }
  Result<Json> null = ApplyMergePatch(Json::object(), Json());
  ASSERT_FALSE(null.ok());
  EXPECT_EQ(null.status().message, "Invalid JSON Patch");
}

}  // namespace
}  // namespace terrarium::api

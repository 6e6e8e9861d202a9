#include "api/json_text.h"

#include <cstdint>
#include <limits>

#include <gtest/gtest.h>

namespace terrarium::api {
namespace {

TEST(AppendJson, GivesTheBytesThatDumpGives) {
  const Json values[] = {
      Json(),
      Json::object(),
      Json::array(),
      Json::parse(
          R"({"a":[1,-2,3.5,1e300,0.1,true,false,null,"x",{"b":{}}],"é":"ü","q":"\"\\\n\u0001\u007f"})"),
      Json(std::numeric_limits<std::int64_t>::min()),
      Json(std::numeric_limits<std::uint64_t>::max()),
      Json(1.0),
      Json("broken \xff\xfe text"),
      Json::array({"\x7f", "/", "<>&", "\u2028"}),
  };
  for (const Json& value : values) {
    std::string text = "before ";
    AppendJson(value, text);
    EXPECT_EQ(text, "before " + value.dump(-1, ' ', false, Json::error_handler_t::replace));
  }
}

TEST(ReadJson, ReadsWhatAppendJsonWrote) {
  const Json values[] = {
      Json(),
      true,
      Json::object(),
      Json::array(),
      Json::parse(
          R"({"b":1,"a":[1,-2,3.5,1e300,0.1,true,false,null,"x",{"b":{}}],"é":"ü","q":"\"\\\n\u0001\u007f\\"})"),
      Json::parse(R"({"metadata":{"resourceVersion":"7","annotations":{"x":"{\"a\":[1,2]}"}}})"),
      Json(std::numeric_limits<std::int64_t>::min()),
      Json(std::numeric_limits<std::uint64_t>::max()),
      Json(1.0),
      Json("\\"),
      Json("a\"b"),
  };
  for (const Json& value : values) {
    std::string text;
    AppendJson(value, text);
    Json read = ReadJson(text);
    EXPECT_EQ(read, value);
    EXPECT_EQ(read.type(), Json::parse(text).type()) << text;
  }
}

// Stored text begins with the metadata, and the metadata with the resourceVersion.
TEST(ReadJson, PutsMembersInOrderThatTheTextHasNot) {
  const Json read =
      ReadJson(R"({"metadata":{"resourceVersion":"7","a":"b","uid":"u"},"data":{"k":"v"},"zone":1})");
  EXPECT_EQ(read.dump(),
            R"({"data":{"k":"v"},"metadata":{"a":"b","resourceVersion":"7","uid":"u"},"zone":1})");
}

TEST(ReadSome, KeepsWhatIsAskedForAndSkipsTheRest) {
  static constexpr Keep kContainer[] = {{"name"}, {"policy"}};
  static constexpr Keep kSpec[] = {{"containers", kContainer}, {"node"}};
  static constexpr Keep kPod[] = {{"metadata"}, {"spec", kSpec}};
  const Json pod = Json::parse(R"({
    "metadata": {"name": "a\"b", "labels": {"x": "\\"}},
    "spec": {"containers": [{"name": "c", "args": ["\\\"}", [1, {"y": []}]], "policy": {"z": 1}}, {}], "node": "n",
             "volumes": [{"a": "}"}], "last": -1.5},
    "status": {"phase": "x"}})");
  std::string text;
  AppendJson(pod, text);
  EXPECT_EQ(ReadSome(text, kPod), Json::parse(R"({
    "metadata": {"name": "a\"b", "labels": {"x": "\\"}},
    "spec": {"containers": [{"name": "c", "policy": {"z": 1}}, {}], "node": "n"}})"));
  EXPECT_EQ(FindMember(text, "status"), R"({"phase":"x"})");
  EXPECT_EQ(FindMember(text, "nothing"), "");
}

}  // namespace
}  // namespace terrarium::api

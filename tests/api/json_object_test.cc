#include "api/json_object.h"

#include <string>

#include <gtest/gtest.h>

#include "api/json.h"
#include "api/object.h"

namespace terrarium::api {
namespace {

TEST(MemberName, EqualNamesShareOneText) {
  const MemberName first("lastTransitionTime");
  const MemberName second(std::string("lastTransition") + "Time");
  EXPECT_EQ(&first.text(), &second.text());
  EXPECT_EQ(MemberName::FindShared("lastTransitionTime"), &first.text());
  EXPECT_EQ(MemberName::FindShared("a name that is not used"), nullptr);
}

TEST(MemberName, NamesThatDifferInTheMiddleAreTwo) {
  EXPECT_FALSE(MemberName("abcdefgh-1-abcdefgh") == MemberName("abcdefgh-2-abcdefgh"));
  for (const char* name : {"", "a", "ab", "abc", "abcd", "abcdefg", "abcdefgh", "abcdefghi"})
    EXPECT_EQ(MemberName(name).text(), name);
}

TEST(MemberName, ALongNameHasATextOfItsOwn) {
  const std::string text(200, 'x');
  const MemberName first(text);
  const MemberName second(first);
  EXPECT_EQ(first.shared(), nullptr);
  EXPECT_NE(&first.text(), &second.text());
  EXPECT_TRUE(first == second);
}

TEST(JsonObject, IsSortedWhateverTheOrderOfItsMembers) {
  Json document;
  for (const char* name : {"m", "a", "z", "b", "m"}) document[name] = name;
  EXPECT_EQ(document.dump(), R"({"a":"a","b":"b","m":"m","z":"z"})");
  document.erase("b");
  EXPECT_EQ(document.dump(), R"({"a":"a","m":"m","z":"z"})");
  EXPECT_EQ(document, Json::parse(R"({"z":"z","m":"m","a":"a"})"));
  EXPECT_LT(Json({{"a", 1}}), Json({{"a", 2}}));
  EXPECT_LT(Json({{"a", 2}}), Json({{"b", 1}}));
}

// More names than are shared between objects.
TEST(JsonObject, FindsEveryOneOfManyNames) {
  Json document = Json::object();
  constexpr int kNames = 20'000;
  for (int i = 0; i < kNames; i += 100) document["key-" + std::to_string(i)] = i;
  for (int i = 0; i < kNames; ++i) {
    Json one = Json::object();
    one["key-" + std::to_string(i)] = i;
    EXPECT_EQ(one.value("key-" + std::to_string(i), -1), i);
    EXPECT_EQ(document.contains("key-" + std::to_string(i)), i % 100 == 0);
  }
}

TEST(JsonObject, SortsMembersThatWereAppendedAndKeepsTheLastOfEqualNames) {
  Json::object_t members;
  EXPECT_FALSE(members.SortMembers());
  int number = 0;
  for (const char* name : {"m", "a", "z", "a", "m", "a"}) members.AppendUnsorted(name) = ++number;
  EXPECT_TRUE(members.SortMembers());
  EXPECT_EQ(Json(members).dump(), R"({"a":6,"m":5,"z":3})");
  members.AppendUnsorted("b") = 7;
  EXPECT_FALSE(members.SortMembers());
  EXPECT_EQ(Json(members).dump(), R"({"a":6,"b":7,"m":5,"z":3})");
}

TEST(JsonObject, AddsAndErasesManyInOnePass) {
  Json document = Json::parse(R"({"b":1,"d":2,"f":3,"h":4})");
  auto& members = document.get_ref<Json::object_t&>();
  Json::object_t::container added;
  for (const char* name : {"a", "c", "z"}) added.emplace_back(MemberName(name), Json(name));
  members.AddSorted(std::move(added));
  EXPECT_EQ(document.dump(), R"({"a":"a","b":1,"c":"c","d":2,"f":3,"h":4,"z":"z"})");
  std::string visited;
  EXPECT_EQ(members.EraseIf([&](auto& member) {
    visited += member.first.text();
    if (member.second.is_string()) return true;
    member.second = member.second.template get<int>() * 10;
    return member.first.text() == "d";
  }),
            4u);
  EXPECT_EQ(visited, "abcdfhz");
  EXPECT_EQ(document.dump(), R"({"b":10,"f":30,"h":40})");
}

TEST(Object, IsStampedInPlaceOnlyWhenItIsNotShared) {
  ObjectHeader header;
  header.name = "x";
  ObjectPtr object = Object::Make(header, Json::parse(R"({"metadata":{"name":"x"}})"));
  const Object* address = object.get();
  ObjectPtr stamped = Object::AtRevision(std::move(object), 12345);
  EXPECT_EQ(stamped.get(), address);
  EXPECT_EQ(stamped->body(), R"({"metadata":{"resourceVersion":"12345","name":"x"}})");
  EXPECT_EQ((*stamped->Document())["metadata"]["resourceVersion"], "12345");

  ObjectPtr copy = Object::AtRevision(stamped, 7);
  EXPECT_NE(copy.get(), stamped.get());
  EXPECT_EQ(stamped->revision(), 12345);
  EXPECT_EQ(copy->body(), R"({"metadata":{"resourceVersion":"7","name":"x"}})");
}

}  // namespace
}  // namespace terrarium::api

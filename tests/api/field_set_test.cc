#include "api/apply/field_set.h"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "api/apply/fields_v1.h"
#include "api/codec/decode.h"

namespace terrarium::api {
namespace {

FieldSetPtr Read(std::string_view text) {
  Decoded decoded = DecodeJson(text, {.strict = false});
  EXPECT_FALSE(decoded.error) << text;
  std::string error;
  auto set = ReadFieldsV1(decoded.object, &error);
  EXPECT_TRUE(set.has_value()) << text << ": " << error;
  return set ? *set : nullptr;
}

std::string Written(const FieldSetPtr& set) {
  std::string out;
  AppendFieldsV1(set, out);
  return out;
}

std::vector<std::string> Paths(const FieldSetPtr& set) {
  std::vector<std::string> paths;
  ForEachPath(set, [&](const FieldPath& path) { paths.push_back(PathText(path)); });
  return paths;
}

TEST(FieldsV1, IsWrittenAsItWasRead) {
  for (
      const char* text : {
          R"({})",
          R"({"f:data":{".":{},"f:a":{},"f:b":{}}})",
          R"({"f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{".":{},"f:image":{}}}}})",
          R"({"f:ports":{"k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{".":{},"f:name":{}},"k:{\"containerPort\":443,\"protocol\":\"TCP\"}":{}}})",
          R"({"f:finalizers":{"v:\"a\"":{},"v:\"b\"":{}}})",
          R"({"f:list":{"i:0":{},"i:2":{"f:x":{}},"i:10":{}}})",
          R"({"f:a":{},"k:{\"n\":1}":{},"v:1":{},"i:0":{}})",
          R"({"v:1":{},"v:\"x\"":{},"v:true":{}})",
          R"({"f:with \"quotes\" and ü":{},"v:\"\\u003ca\\u0026b\\u003e\"":{}})",
      })
    EXPECT_EQ(Written(Read(text)), text);
}

TEST(FieldsV1, IsTheSameAsTextAndAsDocument) {
  const char* text = R"({"f:a":{".":{},"f:b":{}},"f:c":{"k:{\"x\":\"<1>\"}":{".":{},"f:x":{}},"v:5":{}}})";
  EXPECT_EQ(FieldsV1Of(Read(text)), Json::parse(Written(Read(text))));
}

TEST(FieldsV1, SortsWhatItReads) {
  EXPECT_EQ(Written(Read(R"({"v:2":{},"i:1":{},"k:{\"b\":1,\"a\":2}":{},"f:z":{},"f:a":{}})")),
            R"({"f:a":{},"f:z":{},"k:{\"a\":2,\"b\":1}":{},"v:2":{},"i:1":{}})");
}

TEST(FieldsV1, UnitesElementsThatDifferInFormOnly) {
  EXPECT_EQ(Written(Read(R"({"k:{\"a\":1}":{"f:x":{}},"k:{ \"a\": 1 }":{"f:y":{}}})")),
            R"({"k:{\"a\":1}":{"f:x":{},"f:y":{}}})");
}

TEST(FieldsV1, SkipsElementsOfAKindThatIsNotKnown) {
  EXPECT_EQ(Written(Read(R"({"f:a":{},"q:b":{"f:x":{}}})")), R"({"f:a":{}})");
}

TEST(FieldsV1, RefusesWhatKubernetesRefuses) {
  for (const char* text : {R"({"f":{}})", R"({"fa":{}})", R"({"i:x":{}})", R"({"k:[]":{}})", R"({"v:{":{}})",
                           R"({"f:a":1})", R"([])", R"("f:a")"}) {
    std::string error;
    EXPECT_FALSE(ReadFieldsV1(Json::parse(text), &error).has_value()) << text;
    EXPECT_FALSE(error.empty()) << text;
  }
}

TEST(FieldSet, UnionHasThePathsOfBoth) {
  const FieldSetPtr a = Read(R"({"f:a":{},"f:b":{"f:x":{}}})");
  const FieldSetPtr b = Read(R"({"f:b":{".":{},"f:y":{}},"f:c":{}})");
  EXPECT_EQ(Written(Union(a, b)), R"({"f:a":{},"f:b":{".":{},"f:x":{},"f:y":{}},"f:c":{}})");
  EXPECT_EQ(Union(a, nullptr), a);
  EXPECT_EQ(Union(nullptr, b), b);
}

TEST(FieldSet, IntersectionHasThePathsThatAreInBoth) {
  const FieldSetPtr a = Read(R"({"f:a":{},"f:b":{".":{},"f:x":{},"f:y":{}}})");
  EXPECT_EQ(Written(Intersection(a, Read(R"({"f:b":{"f:y":{},"f:z":{}}})"))), R"({"f:b":{"f:y":{}}})");
  EXPECT_EQ(Intersection(a, Read(R"({"f:b":{"f:z":{}}})")), nullptr);
}

TEST(FieldSet, DifferenceKeepsWhatIsBelowAPath) {
  const FieldSetPtr a = Read(R"({"f:b":{".":{},"f:x":{},"f:y":{}}})");
  EXPECT_EQ(Written(Difference(a, Read(R"({"f:b":{}})"))), R"({"f:b":{"f:x":{},"f:y":{}}})");
  EXPECT_EQ(Written(Difference(a, Read(R"({"f:b":{"f:x":{}}})"))), R"({"f:b":{".":{},"f:y":{}}})");
  EXPECT_EQ(Difference(a, a), nullptr);
}

TEST(FieldSet, RecursiveDifferenceTakesWhatIsBelowAPath) {
  const FieldSetPtr a = Read(R"({"f:b":{".":{},"f:x":{},"f:y":{"f:z":{}}},"f:c":{}})");
  EXPECT_EQ(Written(RecursiveDifference(a, Read(R"({"f:b":{}})"))), R"({"f:c":{}})");
  EXPECT_EQ(Written(RecursiveDifference(a, Read(R"({"f:b":{"f:y":{}}})"))),
            R"({"f:b":{".":{},"f:x":{}},"f:c":{}})");
}

TEST(FieldSet, AnUnchangedSetIsTheSameSet) {
  const FieldSetPtr a = Read(R"({"f:a":{},"f:b":{"f:x":{},"f:y":{}}})");
  EXPECT_EQ(Union(a, Read(R"({"f:b":{"f:y":{}}})")), a);
  EXPECT_EQ(Difference(a, Read(R"({"f:c":{},"f:b":{"f:q":{}}})")), a);
  EXPECT_EQ(RecursiveDifference(a, Read(R"({"f:c":{}})")), a);
  EXPECT_EQ(Intersection(a, Read(R"({"f:a":{},"f:b":{"f:x":{},"f:y":{}},"f:c":{}})")), a);
}

TEST(FieldSet, PathsAreNamedAsInMessages) {
  EXPECT_EQ(
      Paths(Read(R"({"f:spec":{"f:containers":{"k:{\"name\":\"c\"}":{".":{},"f:image":{}}},"f:replicas":{}},
                           "f:s":{"v:\"x\"":{},"i:3":{}}})")),
      (std::vector<std::string>{".s[=\"x\"]", ".s[3]", ".spec.replicas", ".spec.containers[name=\"c\"]",
                                ".spec.containers[name=\"c\"].image"}));
}

TEST(FieldSet, HasOnlyItsMembers) {
  const FieldSetPtr a = Read(R"({"f:b":{"f:x":{}}})");
  const FieldPath b = {PathElement::Field("b")};
  const FieldPath x = {PathElement::Field("b"), PathElement::Field("x")};
  EXPECT_FALSE(Has(a, b));
  EXPECT_TRUE(Has(a, x));
  EXPECT_TRUE(Equal(SetOf(x), a));
}

TEST(FieldSet, SetsOfVeryDifferentSizesCombineTheSame) {
  std::string many = "{";
  for (int i = 100; i < 400; ++i) many += (i > 100 ? ",\"f:k" : "\"f:k") + std::to_string(i) + "\":{}";
  const FieldSetPtr large = Read(many + "}");
  const FieldSetPtr small = Read(R"({"f:a":{},"f:k099":{},"f:k100":{},"f:k257":{},"f:k399":{},"f:z":{}})");
  EXPECT_EQ(Written(Intersection(small, large)), R"({"f:k100":{},"f:k257":{},"f:k399":{}})");
  EXPECT_EQ(Written(Intersection(large, small)), R"({"f:k100":{},"f:k257":{},"f:k399":{}})");
  EXPECT_EQ(Written(Difference(small, large)), R"({"f:a":{},"f:k099":{},"f:z":{}})");
  EXPECT_EQ(Paths(Difference(large, small)).size(), 297U);
}

TEST(FieldSet, UnionOfManySetsHasThePathsOfAll) {
  EXPECT_EQ(UnionOf({}), nullptr);
  std::vector<FieldSetPtr> sets;
  for (int i = 0; i < 7; ++i) sets.push_back(Read("{\"f:" + std::to_string(6 - i) + "\":{\"f:x\":{}}}"));
  sets.insert(sets.begin() + 3, nullptr);
  EXPECT_EQ(Paths(UnionOf(sets)),
            (std::vector<std::string>{".0.x", ".1.x", ".2.x", ".3.x", ".4.x", ".5.x", ".6.x"}));
}

TEST(FieldSet, KnowsAboutHowLongItsTextIs) {
  for (const char* text :
       {R"({"f:data":{".":{},"f:a":{},"f:b":{}}})",
        R"({"f:spec":{"f:containers":{"k:{\"name\":\"a-long-name\"}":{".":{},"f:image":{}}}}})",
        R"({"f:finalizers":{"v:\"a/b\"":{}}})"}) {
    const FieldSetPtr set = Read(text);
    const std::string_view written = text;
    EXPECT_GE(set->ApproximateBytes(), written.size() / 2) << text;
    EXPECT_LE(set->ApproximateBytes(), written.size() * 2) << text;
  }
}

TEST(FieldsV1, RefusesDepthThatNoSchemaHas) {
  auto nested = [](std::size_t levels) {
    Json fields = Json::object();
    for (std::size_t i = 0; i < levels; ++i) fields = {{"f:a", std::move(fields)}};
    return fields;
  };
  std::string error;
  EXPECT_TRUE(ReadFieldsV1(nested(kFieldDepthMax), &error).has_value());
  EXPECT_FALSE(ReadFieldsV1(nested(kFieldDepthMax + 1), &error).has_value());
  EXPECT_EQ(error, "exceeded max depth of 1000");
}

TEST(FieldSet, InternedSetsShareTheirParts) {
  const FieldSetPtr a = Intern(Read(R"({"f:spec":{"f:x":{},"f:y":{"f:z":{}}},"f:a":{}})"));
  const FieldSetPtr b = Intern(Read(R"({"f:spec":{"f:x":{},"f:y":{"f:z":{}}},"f:a":{}})"));
  const FieldSetPtr c = Intern(Read(R"({"f:spec":{"f:x":{},"f:y":{"f:z":{}}},"f:c":{}})"));
  EXPECT_EQ(a, b);
  EXPECT_NE(a, c);
  const PathElement spec = PathElement::Field("spec");
  EXPECT_EQ(a->Find(spec)->below, c->Find(spec)->below);
  EXPECT_EQ(Intern(nullptr), nullptr);
}

}  // namespace
}  // namespace terrarium::api

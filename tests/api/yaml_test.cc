#include "api/codec/yaml.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace terrarium::api {
namespace {

using testing::ElementsAre;

Json Read(std::string_view text) {
  std::string error;
  const auto document = ParseYaml(text, &error);
  EXPECT_TRUE(document.has_value()) << error;
  return document ? document->value : Json();
}

std::string Failure(std::string_view text) {
  std::string error;
  EXPECT_FALSE(ParseYaml(text, &error).has_value()) << text;
  return error;
}

// What sigs.k8s.io/yaml makes of the same texts is compared in e2e/protobuf.

TEST(Yaml, ScalarsAreTypedByYaml11) {
  EXPECT_EQ(Read("{a: yes, b: No, c: on, d: OFF, e: y, f: 'yes', g: \"no\", h: True}"),
            Json::parse(R"({"a":true,"b":false,"c":true,"d":false,"e":true,"f":"yes","g":"no","h":true})"));
  EXPECT_EQ(Read("{a: 0644, b: 0x1F, c: 1_000, d: +5, e: -3, f: 1.5, g: 1e3, h: 08, i: 0o17}"),
            Json::parse(R"({"a":420,"b":31,"c":1000,"d":5,"e":-3,"f":1.5,"g":1000,"h":8,"i":15})"));
  EXPECT_EQ(Read("{a: null, b: ~, c: , d: Null}"), Json::parse(R"({"a":null,"b":null,"c":null,"d":null})"));
  EXPECT_EQ(Read("{a: 2024-01-01, b: 2024-01-01T00:00:00Z, c: 1.2.3, d: 0x}"),
            Json::parse(R"({"a":"2024-01-01","b":"2024-01-01T00:00:00Z","c":"1.2.3","d":"0x"})"));
}

TEST(Yaml, WholeFloatsAreIntegers) { EXPECT_TRUE(Read("a: 1e3")["a"].is_number_integer()); }

TEST(Yaml, KeysBecomeText) {
  EXPECT_EQ(Read("1: a\ntrue: b\nno: c\n1.5: d\n"),
            Json::parse(R"({"1":"a","true":"b","false":"c","1.5":"d"})"));
  EXPECT_EQ(Failure("[1]: 2"), "yaml: line 1: invalid map key");
  EXPECT_EQ(Failure("a: 1\n~: 2\n"), "yaml: line 2: invalid map key");
}

TEST(Yaml, FollowsAnchorsAndMerges) {
  EXPECT_EQ(Read("a: &x {k: v, l: 1}\nb: *x\nc:\n  <<: *x\n  k: w\n"),
            Json::parse(R"({"a":{"k":"v","l":1},"b":{"k":"v","l":1},"c":{"k":"w","l":1}})"));
  EXPECT_EQ(Failure("a: *nope"), "yaml: line 1: unknown anchor referenced");
  EXPECT_EQ(Failure("a: &x [*x]"), "yaml: anchor value contains itself");
}

TEST(Yaml, ABillionLaughsAreRefused) {
  std::string text = "a: &a [x,x,x,x,x,x,x,x,x,x]\n";
  for (char c = 'b'; c < 'k'; ++c) {
    const std::string before = std::string("*") + static_cast<char>(c - 1);
    text += std::string(1, c) + ": &" + c + " [";
    for (int i = 0; i < 10; ++i) text += (i > 0 ? "," : "") + before;
    text += "]\n";
  }
  EXPECT_EQ(Failure(text), "yaml: document contains excessive aliasing");
}

TEST(Yaml, NestingIsBounded) { EXPECT_NE(Failure(std::string(5000, '[')), ""); }

TEST(Yaml, ReportsRepeatedKeysAndTheLastWins) {
  std::string error;
  const auto document = ParseYaml("a: 1\nb:\n  c: 2\n  c: 3\na: 4\n", &error);
  ASSERT_TRUE(document.has_value());
  EXPECT_EQ(document->value, Json::parse(R"({"a":4,"b":{"c":3}})"));
  EXPECT_THAT(document->strict_errors,
              ElementsAre("yaml: unmarshal errors:\n  line 4: key \"c\" already set in map\n"
                          "  line 5: key \"a\" already set in map"));
}

TEST(Yaml, NamesTheLineOfAMistake) {
  EXPECT_EQ(Failure("a: ["), "yaml: line 1: did not find expected node content");
  EXPECT_EQ(Failure("a: 1\nb: c: d\n"), "yaml: line 2: mapping values are not allowed in this context");
  EXPECT_EQ(Failure("a: .inf"), "yaml: line 1: json: unsupported value: .inf");
}

TEST(Yaml, TextAfterADocumentNeedsASeparator) {
  EXPECT_EQ(Failure("- a\nb: c\n"), "yaml: line 2: did not find expected <document start>");
  EXPECT_EQ(Read("- a\n--- [\n"), Json::parse(R"(["a"])"));
  EXPECT_EQ(Read("- a\n...\n---\nb: c\n"), Json::parse(R"(["a"])"));
}

TEST(Yaml, ReadsManyDocumentsAndTheFirst) {
  const char* text = "---\na: 1\n---\n# nothing\n---\nb: 2\n...\n";
  std::string error;
  const auto documents = ParseYamlStream(text, &error);
  ASSERT_TRUE(documents.has_value()) << error;
  ASSERT_EQ(documents->size(), 2U);
  EXPECT_EQ((*documents)[1].value, Json::parse(R"({"b":2})"));
  EXPECT_EQ((*documents)[1].line, 6);
  EXPECT_EQ(Read(text), Json::parse(R"({"a":1})"));
  EXPECT_EQ(Read(""), Json());
}

TEST(Yaml, WritesBlocks) {
  EXPECT_EQ(WriteYaml(Json::parse(R"({"a":{"b":[1,{"c":"x","d":[]},[2]],"e":{}},"s":"two\nlines\n","t":"yes",
      "u":"2024-01-01T00:00:00Z","v":"a: b","w":null,"x":""})")),
            "a:\n"
            "  b:\n"
            "  - 1\n"
            "  - c: x\n"
            "    d: []\n"
            "  - - 2\n"
            "  e: {}\n"
            "s: |\n"
            "  two\n"
            "  lines\n"
            "t: \"yes\"\n"
            "u: \"2024-01-01T00:00:00Z\"\n"
            "v: 'a: b'\n"
            "w: null\n"
            "x: \"\"\n");
}

TEST(Yaml, ReadsBackWhatItWrites) {
  for (const char* word : {"",      " ",    "- x",  "#",   "a #b", "'",  "\"",          "~",       "*a",
                           "&a",    "!",    "%",    "@",   "|",    "x:", "multi\nline", "\nfirst", "end\n\n",
                           "tab\t", "\x07", "0644", "1e3", "---",  "<<", "back\\slash"}) {
    const Json doc = {{"k", word}, {"l", {word, {{"m", word}}}}, {word, 1}};
    EXPECT_EQ(Read(WriteYaml(doc)), doc) << WriteYaml(doc);
  }
}

TEST(PlacedYaml, EveryKeyAndValueHasItsPlace) {
  YamlMistake mistake;
  const auto documents = ParsePlacedYaml("a: 1\nlist:\n  - {x/y: 2, z~: 3}\n---\nb: &b {c: 4}\nd: *b\n", &mistake);
  ASSERT_TRUE(documents.has_value());
  ASSERT_EQ(documents->size(), 2u);
  auto at = [&documents](std::size_t document, const std::string& path) {
    const YamlPlaces& places = (*documents)[document].places;
    auto found = places.find(path);
    return found == places.end() ? "none"
                                 : std::to_string(found->second.line) + ":" + std::to_string(found->second.column);
  };
  EXPECT_EQ(at(0, ""), "1:1");
  EXPECT_EQ(at(0, "/a#"), "1:1");
  EXPECT_EQ(at(0, "/a"), "1:4");
  EXPECT_EQ(at(0, "/list/0"), "3:5");
  EXPECT_EQ(at(0, YamlPathBelow("/list/0", "x/y")), "3:11");
  EXPECT_EQ(at(0, "/list/0/z~0#"), "3:14");
  EXPECT_EQ(at(1, "/b/c"), "5:11");
  EXPECT_EQ(at(1, "/d/c"), "5:11") << "where it was written";
  EXPECT_EQ(at(1, "/d/e"), "none");
}

TEST(PlacedYaml, AMistakeHasAPlaceToo) {
  YamlMistake mistake;
  EXPECT_FALSE(ParsePlacedYaml("a: 1\nb: [1, 2\nc: 3\n", &mistake).has_value());
  EXPECT_EQ(mistake.place.line, 3);
  EXPECT_GT(mistake.place.column, 0);
  EXPECT_FALSE(mistake.message.starts_with("yaml:"));
}

}  // namespace
}  // namespace terrarium::api

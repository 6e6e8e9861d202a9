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

// e2e/protobuf compares the results with sigs.k8s.io/yaml.

TEST(Yaml, ScalarsAreTypedByYaml11) {
  EXPECT_EQ(Read("{a: yes, b: No, c: on, d: OFF, e: y, f: 'yes', g: \"no\", h: True}"),
            Json::parse(R"({"a":true,"b":false,"c":true,"d":false,"e":true,"f":"yes","g":"no","h":true})"));
  EXPECT_EQ(Read("{a: 0644, b: 0x1F, c: 1_000, d: +5, e: -3, f: 1.5, g: 1e3, h: 08, i: 0o17}"),
            Json::parse(R"({"a":420,"b":31,"c":1000,"d":5,"e":-3,"f":1.5,"g":1000,"h":8,"i":15})"));
  EXPECT_EQ(Read("[+9223372036854775808, 0b-1, .5_0, 1e-400, 1e400, 9.22e18]"),
            Json::parse(R"([9223372036854775808.0,-1,0.5,0,"1e400",9220000000000000000])"));
  EXPECT_EQ(Read("{a: null, b: ~, c: , d: Null}"), Json::parse(R"({"a":null,"b":null,"c":null,"d":null})"));
  EXPECT_EQ(Read("{a: 2024-01-01, b: 2024-01-01T00:00:00Z, c: 1.2.3, d: 0x}"),
            Json::parse(R"({"a":"2024-01-01","b":"2024-01-01T00:00:00Z","c":"1.2.3","d":"0x"})"));
}

TEST(Yaml, WholeFloatsAreIntegers) { EXPECT_TRUE(Read("a: 1e3")["a"].is_number_integer()); }

TEST(Yaml, KeysBecomeText) {
  EXPECT_EQ(Read("1: a\ntrue: b\nno: c\n1.5: d\n"),
            Json::parse(R"({"1":"a","true":"b","false":"c","1.5":"d"})"));
  EXPECT_EQ(Read("1e6: a\n0.1: b\n.inf: c\n123456.0: d\n"),
            Json::parse(R"({"1e+06":"a","0.1":"b",".inf":"c","123456":"d"})"));
  EXPECT_EQ(Failure("[1]: 2"), "yaml: invalid map key: []interface {}{1}");
  EXPECT_EQ(Failure("{a: [b]}: 2"),
            "yaml: invalid map key: map[interface {}]interface {}{\"a\":[]interface {}{\"b\"}}");
  EXPECT_EQ(Failure("a: 1\n~: 2\n"), "unsupported map key of type: %!s(<nil>), key: <nil>, value: 2");
  EXPECT_EQ(Failure("18446744073709551615: a"),
            "unsupported map key of type: uint64, key: 0xffffffffffffffff, value: \"a\"");
}

TEST(Yaml, FollowsAnchorsAndMerges) {
  EXPECT_EQ(Read("a: &x {k: v, l: 1}\nb: *x\nc:\n  <<: *x\n  k: w\n"),
            Json::parse(R"({"a":{"k":"v","l":1},"b":{"k":"v","l":1},"c":{"k":"w","l":1}})"));
  EXPECT_EQ(Failure("a: *nope"), "yaml: unknown anchor 'nope' referenced");
  EXPECT_EQ(Failure("a: &x [*x]"), "yaml: anchor 'x' value contains itself");
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

TEST(Yaml, AliasesOfALongTextAreLimitedByItsBytes) {
  std::string text = "a: &a " + std::string(1'000'000, 'x') + "\nlist:\n";
  for (int i = 0; i < 10; ++i) text += "- *a\n";
  EXPECT_EQ(Read(text)["list"].size(), 10u);
  for (int i = 0; i < 10; ++i) text += "- *a\n";
  EXPECT_EQ(Failure(text), "yaml: document contains excessive aliasing");
}

TEST(Yaml, MergedKeysAndOwnOnesWinByTheirOrder) {
  EXPECT_EQ(Read("x: &x {a: 1, b: 1}\ny: &y {b: 2, c: 2}\nz: {c: 0, <<: [*x, *y], a: 3}\n")["z"].dump(),
            R"({"a":3,"b":1,"c":2})");
  EXPECT_EQ(Read("x: {<<: [{<<: [{a: 1}, {a: 2, b: 1}]}, {b: 2, c: 3}]}")["x"].dump(),
            R"({"a":1,"b":1,"c":3})");
  EXPECT_EQ(Read("<<: [&z {a: 1}]\nb: *z\n").dump(), R"({"a":1,"b":{"a":1}})");
  EXPECT_EQ(Read("'<<': 1").dump(), R"({"<<":1})");
  for (const char* text : {"<<: 1", "<<: [1]", "<<: [[{a: 1}]]", "x: &x [1]\ny: {<<: *x}"})
    EXPECT_EQ(Failure(text), "yaml: map merge requires map or sequence of maps as the value") << text;
  EXPECT_EQ(Failure("- {<<: [{a: &y [*y]}]}"), "yaml: anchor 'y' value contains itself");
}

TEST(Yaml, NestingIsBounded) {
  EXPECT_NE(Failure(std::string(5000, '[')), "");
  EXPECT_EQ(Failure(std::string(1'000'000, '[')), "yaml: flow collections are nested too deeply");
  std::string dashes;
  for (int i = 0; i <= 10000; ++i) dashes += "- ";
  EXPECT_EQ(Failure(dashes), "yaml: exceeded max depth of 10000");
}

TEST(Yaml, FlowCollectionsMayBeDeepOrDenseButNotBoth) {
  const std::string deep(1000, '['), end(1000, ']');
  std::string dense = "a";
  for (int i = 0; i < 100'000; ++i) dense += ",a";
  EXPECT_EQ(Read("[" + dense + "]").size(), 100'001u);
  EXPECT_TRUE(Read(deep + "a" + end).is_array());
  EXPECT_EQ(Failure(deep + dense + end), "yaml: flow collections are nested too deeply");
}

TEST(Yaml, TagDirectivesAreLimited) {
  EXPECT_EQ(Read("%TAG !e! tag:yaml.org,2002:\n---\na: !e!int '5'\n"), Json::parse(R"({"a":5})"));
  std::string many;
  for (int i = 0; i < 65; ++i) many += "%TAG !a" + std::to_string(i) + "! x\n";
  EXPECT_THAT(Failure(many + "---\na: 1\n"), testing::EndsWith("too many or too long %TAG directives"));
  EXPECT_THAT(Failure("%TAG !a! " + std::string(257, 'x') + "\n---\na: 1\n"),
              testing::EndsWith("too many or too long %TAG directives"));
}

TEST(Yaml, TagsChooseTheType) {
  EXPECT_EQ(Read("{a: !!str 5, b: !!int '5', c: !!float 5, d: !!binary YWJj, e: !x 5, f: ! 5, "
                 "g: !!timestamp 2024-01-01, h: !!bool on}"),
            Json::parse(R"({"a":"5","b":5,"c":5,"d":"abc","e":"5","f":"5","g":"2024-01-01","h":true})"));
  EXPECT_EQ(Failure("a: !!int b"), "yaml: cannot decode !!str `b` as a !!int");
  EXPECT_EQ(Failure("a: !!float yes"), "yaml: cannot decode !!bool `yes` as a !!float");
  EXPECT_EQ(Failure("a: !!timestamp 2024-02-30"), "yaml: cannot decode !!str `2024-02-30` as a !!timestamp");
  EXPECT_EQ(Failure("a: !!binary YW"), "yaml: !!binary value contains invalid base64 data");
}

TEST(Yaml, ReportsRepeatedKeysAndTheLastWins) {
  std::string error;
  const auto document = ParseYaml("a: 1\nb:\n  c: 2\n  c: 3\na: 4\n", &error);
  ASSERT_TRUE(document.has_value());
  EXPECT_EQ(document->value, Json::parse(R"({"a":4,"b":{"c":3}})"));
  EXPECT_THAT(document->strict_errors,
              ElementsAre("yaml: unmarshal errors:\n  line 4: key \"c\" already set in map\n"
                          "  line 5: key \"a\" already set in map"));
}

TEST(Yaml, RepeatedKeysAreInTheOrderOfTheirValues) {
  auto repeated = [](std::string_view text) {
    std::string error;
    const auto document = ParseYaml(text, &error);
    return document && !document->strict_errors.empty() ? document->strict_errors[0] : error;
  };
  EXPECT_EQ(repeated("a: 1\na: 2\nb: {c: 1, c: 2}\n"),
            "yaml: unmarshal errors:\n  line 2: key \"a\" already set in map\n"
            "  line 3: key \"c\" already set in map");
  EXPECT_EQ(repeated("1: a\n1: b\n"), "yaml: unmarshal errors:\n  line 2: key 1 already set in map");
  EXPECT_EQ(repeated("1: a\n'1': b\n"), "") << "a number and a text are two keys";
  EXPECT_EQ(repeated("a: 1\n<<: {a: 2}\n"),
            "yaml: unmarshal errors:\n  line 2: key \"a\" already set in map");
}

TEST(Yaml, ErrorsHaveALine) {
  EXPECT_EQ(Failure("a: ["), "yaml: line 1: did not find expected node content");
  EXPECT_EQ(Failure("a: 1\nb: c: d\n"), "yaml: line 2: mapping values are not allowed in this context");
  EXPECT_EQ(Failure("a: .inf"), "json: unsupported value: +Inf");
  EXPECT_EQ(Read("a: .inf\na: 1\n"), Json::parse(R"({"a":1})"));
}

// go-yaml counts the lines of some errors from 0, and does not print line 0.
TEST(Yaml, ErrorsAreThoseOfKubernetes) {
  const std::pair<const char*, const char*> kCases[] = {
      {"a: 'b", "yaml: found unexpected end of stream"},
      {"a: 1\n\tb: 2\n", "yaml: line 2: found a tab character that violates indentation"},
      {"a:\n\tb: 1\n", "yaml: line 2: found character that cannot start any token"},
      {"a:\n  b: 1\n c: 2\n", "yaml: line 2: did not find expected key"},
      {"a: 1\n- b\n", "yaml: line 1: did not find expected key"},
      {"a: [1, 2\nb: 3\n", "yaml: line 1: did not find expected ',' or ']'"},
      {"{a: 1]", "yaml: did not find expected ',' or '}'"},
      {"a: b: c", "yaml: mapping values are not allowed in this context"},
      {"a: - b", "yaml: block sequence entries are not allowed in this context"},
      {"a: `b", "yaml: found character that cannot start any token"},
      {"a: \"\\q\"", "yaml: found unknown escape character"},
      {"a: \xff", "yaml: invalid leading UTF-8 octet"},
      {"a: \x01", "yaml: control characters are not allowed"},
      {"%YAML 1.2\n---\na: 1\n", "yaml: found incompatible YAML document"},
      {"[1]: 2\nb: [", "yaml: line 2: did not find expected node content"},
  };
  for (const auto& [text, error] : kCases) EXPECT_EQ(Failure(text), error) << text;
}

TEST(Yaml, TextAfterADocumentNeedsASeparator) {
  EXPECT_EQ(Failure("- a\nb: c\n"), "yaml: line 1: did not find expected '-' indicator");
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

TEST(Yaml, ReadsBackLongKeys) {
  for (const std::size_t size : {999, 1000, 1024, 3000}) {
    const std::string key(size, 'k');
    const Json doc = {{key, {{key, 1}, {"l", {{{key, {1, 2}}, {"m", 2}}}}}}, {"z", {{{key, "v"}}}}};
    EXPECT_EQ(Read(WriteYaml(doc)), doc) << size;
  }
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
  const auto documents =
      ParsePlacedYaml("a: 1\nlist:\n  - {x/y: 2, z~: 3}\n---\nb: &b {c: 4}\nd: *b\n", &mistake);
  ASSERT_TRUE(documents.has_value());
  ASSERT_EQ(documents->size(), 2u);
  auto at = [&documents](std::size_t document, const std::string& path) {
    const YamlPlaces& places = (*documents)[document].places;
    auto found = places.find(path);
    return found == places.end()
               ? "none"
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

TEST(PlacedYaml, ErrorsHaveAPlace) {
  YamlMistake mistake;
  EXPECT_FALSE(ParsePlacedYaml("a: 1\nb: [1, 2\nc: 3\n", &mistake).has_value());
  EXPECT_EQ(mistake.place.line, 3);
  EXPECT_GT(mistake.place.column, 0);
  EXPECT_FALSE(mistake.message.starts_with("yaml:"));
}

}  // namespace
}  // namespace terrarium::api

// Runs the reader and the matcher of this runner against agreement.json; wire_agreement_test.py does so for
// the HTTP runner.

#include <fstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "api/codec/yaml.h"
#include "tests/wire/format.h"
#include "tests/wire/match.h"
#include "tests/wire/substitution.h"

namespace terrarium::wire {
namespace {

const Json& Tables() {
  static const Json tables = Json::parse(std::ifstream("tests/wire/agreement.json"));
  return tables;
}

Json ToJson(const std::vector<Header>& headers) {
  Json list = Json::array();
  for (const Header& header : headers) list.push_back(Json::array({header.name, header.value}));
  return list;
}

Json ToJson(const std::vector<Directive>& directives) {
  Json list = Json::array();
  for (const Directive& directive : directives) list.push_back(Json::array({directive.name, directive.rest}));
  return list;
}

Json ToJson(const Step& step) {
  return {{"line", step.line},
          {"verb", step.verb},
          {"target", step.target},
          {"headers", ToJson(step.headers)},
          {"directives", ToJson(step.directives)},
          {"body", step.body},
          {"code", step.code},
          {"reason", step.reason},
          {"expect", step.expect},
          {"answer_headers", ToJson(step.answer_headers)},
          {"checks", ToJson(step.checks)},
          {"text", step.text},
          {"contains", step.contains}};
}

Json ToJson(const File& file) {
  Json conversations = Json::array();
  for (const Conversation& talk : file.conversations) {
    Json steps = Json::array();
    for (const Step& step : talk.steps) steps.push_back(ToJson(step));
    conversations.push_back(
        {{"title", talk.title}, {"line", talk.line}, {"only", talk.only}, {"steps", steps}});
  }
  return {{"name", file.name},
          {"gates", file.gates},
          {"objects", file.objects},
          {"conversations", conversations}};
}

TEST(WireAgreement, TextsMatchPatterns) {
  for (const Json& row : Tables()["text"])
    EXPECT_EQ(TextMatches(row["pattern"].get<std::string>(), row["text"].get<std::string>()), row["matches"])
        << row;
}

TEST(WireAgreement, DifferencesAreNamed) {
  for (const Json& row : Tables()["differences"])
    EXPECT_EQ(Json(Differences(row["want"], row["got"], row.value("exact", std::vector<std::string>{}))),
              row["found"])
        << row;
}

TEST(WireAgreement, EditsFollowPaths) {
  for (const Json& row : Tables()["edits"]) {
    Json document = row["document"];
    for (const Json& edit : row["set"])
      EXPECT_TRUE(SetAt(document, edit[0].get<std::string>(), edit[1])) << row;
    for (const Json& path : row["unset"]) EXPECT_TRUE(UnsetAt(document, path.get<std::string>())) << row;
    EXPECT_EQ(document, row["result"]) << row;
  }
  Json document = {{"a", 1}};
  EXPECT_FALSE(SetAt(document, "a.b", 1));
  EXPECT_FALSE(SetAt(document, "l[3]", 1));
  EXPECT_FALSE(UnsetAt(document, "b"));
}

TEST(WireAgreement, MergesFollowTheRfc) {
  for (const Json& row : Tables()["merges"])
    EXPECT_EQ(Merge(row["base"], row["patch"]), row["result"]) << row;
}

TEST(WireAgreement, CausesMakeAStatus) {
  for (const Json& row : Tables()["invalid"]) {
    std::string error;
    auto status = InvalidStatus(row["subject"], row["causes"].get<std::vector<std::string>>(), &error);
    EXPECT_EQ(status.value_or(nullptr), row["status"]) << row;
    EXPECT_EQ(error.empty(), status.has_value()) << row;
  }
}

TEST(WireAgreement, NamesAreFilledIn) {
  for (const Json& row : Tables()["substitutions"]) {
    std::string out;
    bool ok = Substitute(row["text"].get<std::string>(), "ns-7",
                         row["saved"].get<std::map<std::string, std::string>>(), &out);
    EXPECT_EQ(ok ? Json(out) : Json(), row["result"]) << row;
  }
}

TEST(WireAgreement, YamlIsRead) {
  for (const Json& row : Tables()["yaml"]) {
    std::string error;
    auto document = api::ParseYaml(row["text"].get<std::string>(), &error);
    ASSERT_TRUE(document) << row << error;
    EXPECT_EQ(document->value, row["value"]) << row;
  }
}

TEST(WireAgreement, FilesAreRead) {
  std::string error;
  auto file = Parse("sample.wire", Tables()["file"]["text"].get<std::string>(), &error);
  ASSERT_TRUE(file) << error;
  EXPECT_EQ(ToJson(*file), Tables()["file"]["value"]);
}

TEST(WireAgreement, MistakesInFilesAreNamed) {
  for (const Json& row : Tables()["errors"]) {
    std::string error;
    EXPECT_FALSE(Parse("bad.wire", row["text"].get<std::string>(), &error)) << row;
    EXPECT_EQ(error, row["error"]);
  }
}

}  // namespace
}  // namespace terrarium::wire

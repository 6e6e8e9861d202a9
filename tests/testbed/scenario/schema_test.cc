#include "testbed/scenario/schema.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>

#include "api/codec/yaml.h"
#include "testbed/scenario/reader.h"
#include "tests/testbed/scenario/bad_files.h"
#include "tests/testbed/scenario/json_schema.h"

namespace terrarium::testbed::scenario {
namespace {

// The errors that an editor shows for a text; empty: none.
std::string SeenByAnEditor(const std::string& text) {
  static const Json schema = ScenarioSchema();
  std::string error;
  auto documents = api::ParseYamlStream(text, &error);
  if (!documents) return error;
  for (const api::YamlDocument& document : *documents)
    if (std::string wrong = SchemaViolation(schema, document.value); !wrong.empty()) return wrong;
  return "";
}

TEST(ScenarioSchema, EveryFileThatShipsSatisfiesItAndTheReader) {
  int files = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator("scenarios")) {
    if (entry.path().extension() != ".yaml") continue;
    ++files;
    std::ifstream in(entry.path());
    std::string text{std::istreambuf_iterator<char>(in), {}};
    EXPECT_EQ(SeenByAnEditor(text), "") << entry.path();
    ReadScenarios read = ReadScenarioText(entry.path().string(), text);
    for (const FileMistake& mistake : read.mistakes) ADD_FAILURE() << mistake.String();
  }
  EXPECT_GE(files, 9) << "the files have moved";
}

TEST(ScenarioSchema, SeesTheMistakesThatShapesShow) {
  for (const BadFile& bad : kBadFiles) {
    if (!bad.schema_sees_it) continue;
    EXPECT_NE(SeenByAnEditor(bad.text), "") << bad.text;
  }
}

// The reverse: the reader refuses what an editor marks.
TEST(ScenarioSchema, MarksNothingThatTheReaderTakes) {
  for (const BadFile& bad : kBadFiles) {
    std::string text = bad.text;
    if (SeenByAnEditor(text).empty()) continue;
    EXPECT_FALSE(ReadScenarioText("f.yaml", text).mistakes.empty()) << text;
  }
}

TEST(ScenarioSchema, AParameterMayStandForAnything) {
  EXPECT_EQ(SeenByAnEditor(
                "scenario: x\noptions: {nodes: \"${a}\", featureGates: \"${b}\"}\neach: {a: [1], b: [{}]}\n"
                "steps:\n  - scale: deployment/web\n    replicas: ${a}\n  - advance: ${a}\n"),
            "");
}

}  // namespace
}  // namespace terrarium::testbed::scenario

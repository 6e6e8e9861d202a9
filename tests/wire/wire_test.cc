// Plays every conversation of cases/*.wire against an apiserver in this process, each as a separate test.

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <map>
#include <ostream>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "tests/wire/player.h"

namespace terrarium::wire {
namespace {

constexpr const char* kFolder = "tests/wire";  // from the root of the checkout, where CTest runs the program

struct Case {
  std::string file;
  std::string error;  // of the file's format; then there is no conversation
  PlayOptions options;
  Conversation talk;
};

void PrintTo(const Case& wire_case, std::ostream* out) {
  *out << wire_case.file << ": " << wire_case.talk.title;
}

File Load(const std::string& path, std::string* error) {
  std::ifstream in(path, std::ios::binary);
  std::stringstream text;
  text << in.rdbuf();
  if (!in) *error = path + ": cannot be read";
  auto file = Parse(path, text.str(), error);
  return file ? std::move(*file) : File{};
}

std::vector<Case> LoadCases() {
  std::vector<Case> cases;
  std::string error;
  std::map<std::string, std::string> shared = Load(std::string(kFolder) + "/objects.wire", &error).objects;
  std::vector<std::string> paths;
  std::error_code missing;
  for (const auto& entry : std::filesystem::directory_iterator(std::string(kFolder) + "/cases", missing))
    if (entry.path().extension() == ".wire") paths.push_back(entry.path().string());
  std::sort(paths.begin(), paths.end());
  for (const std::string& path : paths) {
    File file = Load(path, &error);
    if (!error.empty()) cases.push_back({path, std::exchange(error, ""), {}, {}});
    file.objects.insert(shared.begin(), shared.end());
    for (Conversation& talk : file.conversations) {
      bool http_only = std::find(talk.only.begin(), talk.only.end(), "http") != talk.only.end();
      if (!http_only) cases.push_back({path, "", {file.gates, file.objects}, std::move(talk)});
    }
  }
  return cases;
}

std::string TestName(const testing::TestParamInfo<Case>& info) {
  std::string name = std::filesystem::path(info.param.file).stem().string() + "_" + info.param.talk.title;
  for (char& c : name)
    if (!std::isalnum(static_cast<unsigned char>(c))) c = '_';
  return name + "_" + std::to_string(info.param.talk.line);
}

class Wire : public testing::TestWithParam<Case> {};

TEST_P(Wire, AnswersAsWritten) {
  ASSERT_EQ(GetParam().error, "");
  std::string report = Play(GetParam().talk, GetParam().options);
  if (!report.empty()) ADD_FAILURE() << GetParam().file << ":" << report;
}

INSTANTIATE_TEST_SUITE_P(Cases, Wire, testing::ValuesIn(LoadCases()), TestName);

TEST(WireCases, AreFoundAndNotEmpty) {
  std::vector<Case> cases = LoadCases();
  EXPECT_GT(cases.size(), 200u);
  for (const Case& wire_case : cases)
    EXPECT_FALSE(wire_case.talk.steps.empty()) << wire_case.file << ": " << wire_case.talk.title;
}

}  // namespace
}  // namespace terrarium::wire

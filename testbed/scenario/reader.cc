#include "testbed/scenario/reader.h"

#include <algorithm>
#include <set>
#include <tuple>
#include <utility>

#include "api/json_access.h"
#include "testbed/scenario/options.h"
#include "testbed/scenario/parameters.h"
#include "testbed/scenario/shapes.h"

namespace terrarium::testbed::scenario {
namespace {

using api::YamlPathBelow;
using api::YamlPlace;

// The place of the path, or of its nearest enclosing path: a value from a parameter is reported where the
// parameter is used.
YamlPlace PlaceOf(const api::YamlPlaces& places, std::string path) {
  while (true) {
    if (auto found = places.find(path); found != places.end()) return found->second;
    if (path.empty()) return {1, 1};
    if (path.back() == '#')
      path.pop_back();
    else
      path.resize(path.rfind('/'));
  }
}

class DocumentReader {
 public:
  DocumentReader(const std::string& file, api::PlacedYaml read, ReadScenarios& out)
      : file_(file), read_(std::move(read)), out_(out) {}

  void Read() {
    for (const std::string& error : read_.document.strict_errors) Repeated(error);
    const Json& document = read_.document.value;
    if (!document.is_object()) return AddMistake({"", "a scenario is a mapping with `scenario` and `steps`"});
    Mistakes mistakes;
    if (document.contains("each")) CheckShape(EachShape(), document["each"], "/each", mistakes);
    if (mistakes.empty() && CombinationCount(document.value("each", Json())) > kCombinationsMax)
      mistakes.push_back(
          {"/each", "the values give more than " + std::to_string(kCombinationsMax) + " scenarios"});
    if (!mistakes.empty()) return AddMistakes(mistakes);
    std::vector<Scenario> made;
    for (const Json& values : Combinations(document.contains("each") ? document["each"] : Json()))
      made.push_back(ReadWith(values));
    for (Scenario& scenario : made) out_.scenarios.push_back(std::move(scenario));
  }

 private:
  Scenario ReadWith(const Json& values) {
    Mistakes mistakes;
    const Json& written = read_.document.value;
    Json document = Json::object();
    for (const auto& [key, value] : written.items())
      document[key] = key == "each" ? value : Substitute(value, values, YamlPathBelow("", key), mistakes);
    if (document.contains("steps") && document["steps"].is_array())
      LeaveOutSteps(document["steps"], values, mistakes);
    if (mistakes.empty()) CheckShape(ScenarioShape(), document, "", mistakes);
    if (mistakes.empty() && document.contains("options"))
      CheckOptions(document["options"], "/options", mistakes);
    AddMistakes(mistakes);
    return mistakes.empty() ? Make(document, values) : Scenario{};
  }

  // Replaces the steps whose `when` excludes this combination by a no-op, so that the other steps keep their
  // paths. A combination that includes such a step checks it.
  void LeaveOutSteps(Json& steps, const Json& values, Mistakes& mistakes) {
    left_out_.clear();
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const Json* when = api::Find(steps[i], "when");
      if (when == nullptr || !when->is_object()) continue;
      CheckWhen(*when, values, "/steps/" + std::to_string(i) + "/when", mistakes);
      if (Applies(*when, values)) continue;
      left_out_.insert(i);
      steps[i] = {{"advance", "0s"}};
    }
  }

  Scenario Make(const Json& document, const Json& values) {
    Scenario out;
    out.name = document["scenario"].get<std::string>();
    // A name that contains parameters already identifies the combination.
    const bool named =
        read_.document.value["scenario"].get_ref<const std::string&>().find("${") != std::string::npos;
    if (!values.empty() && !named) out.name += " [" + CombinationName(values) + "]";
    out.description = api::StringAt(document, "description");
    out.file = file_;
    out.place = PlaceOf(read_.places, "");
    if (document.contains("options")) out.options = document["options"];
    out.seeds = {1};
    if (out.options.contains("seeds")) out.seeds = out.options["seeds"].get<std::vector<std::uint64_t>>();
    const Json& steps = document["steps"];
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (left_out_.contains(i)) continue;
      out.steps.push_back(
          {FindStep(steps[i]), steps[i], PlaceOf(read_.places, "/steps/" + std::to_string(i))});
      if (steps[i].contains("since")) out.marks.insert(steps[i]["since"].get<std::string>());
    }
    return out;
  }

  // "yaml: unmarshal errors:\n  line 3: key "x" already set in map", one line per duplicate key.
  void Repeated(const std::string& error) {
    for (std::size_t at = error.find("line "); at != std::string::npos; at = error.find("line ", at + 1)) {
      const std::size_t colon = error.find(": ", at);
      const std::size_t end = std::min(error.find('\n', at), error.size());
      out_.mistakes.push_back(
          {file_, {std::stoi(error.substr(at + 5)), 1}, error.substr(colon + 2, end - colon - 2)});
    }
  }

  void AddMistakes(const Mistakes& mistakes) {
    for (const Mistake& mistake : mistakes) AddMistake(mistake);
  }

  // Reports a mistake once, even if several combinations have it.
  void AddMistake(const Mistake& mistake) {
    const YamlPlace place = PlaceOf(read_.places, mistake.path);
    for (const FileMistake& known : out_.mistakes)
      if (known.place.line == place.line && known.place.column == place.column &&
          known.message == mistake.message)
        return;
    out_.mistakes.push_back({file_, place, mistake.message});
  }

  const std::string& file_;
  api::PlacedYaml read_;
  ReadScenarios& out_;
  std::set<std::size_t> left_out_;
};

}  // namespace

const Shape& ScenarioShape() {
  static const Shape steps{.type = Shape::Type::kSteps, .is = "a list of steps"};
  static const Shape name{.type = Shape::Type::kText,
                          .is = "a string: what the scenario shows",
                          .wrong = [](const Json& value) -> std::string {
                            return value.get_ref<const std::string&>().empty() ? "the name is empty" : "";
                          }};
  static const Shape shape{
      .type = Shape::Type::kFields,
      .is = "a scenario",
      .members = {
          {"scenario", name, "what it shows, in a sentence: its name", true},
          {"description", AnyText(), "more about it, for people"},
          {"options", OptionsShape(), "what kind of cluster it runs on"},
          {"each", EachShape(),
           "parameters: the scenario runs once for each combination of their values, as ${name}"},
          {"steps", steps, "what is done and expected, one after the other", true},
      }};
  return shape;
}

std::string FileMistake::String() const {
  return file + ":" + std::to_string(place.line) + ":" + std::to_string(place.column) + ": " + message;
}

ReadScenarios ReadScenarioText(const std::string& file, std::string_view text) {
  ReadScenarios out;
  api::YamlMistake mistake;
  auto documents = api::ParsePlacedYaml(text, &mistake);
  if (!documents) {
    out.mistakes.push_back(
        {file, {std::max(mistake.place.line, 1), std::max(mistake.place.column, 1)}, mistake.message});
    return out;
  }
  if (documents->empty()) out.mistakes.push_back({file, {1, 1}, "the file holds no scenario"});
  for (api::PlacedYaml& document : *documents) DocumentReader(file, std::move(document), out).Read();
  std::set<std::string> names;
  for (const Scenario& scenario : out.scenarios)
    if (out.mistakes.empty() && !names.insert(scenario.name).second)
      out.mistakes.push_back({file, scenario.place, "two scenarios of the file are called " + scenario.name});
  std::stable_sort(out.mistakes.begin(), out.mistakes.end(), [](const FileMistake& a, const FileMistake& b) {
    return std::tie(a.place.line, a.place.column) < std::tie(b.place.line, b.place.column);
  });
  return out;
}

}  // namespace terrarium::testbed::scenario

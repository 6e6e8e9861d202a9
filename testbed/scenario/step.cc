#include "testbed/scenario/step.h"

#include <array>

#include "api/base/field_error.h"
#include "api/codec/yaml.h"
#include "testbed/scenario/shapes.h"

namespace terrarium::testbed::scenario {
namespace {

using api::YamlPathBelow;

std::vector<std::string> Verbs() {
  std::vector<std::string> verbs;
  for (const StepDef* step : AllSteps()) verbs.emplace_back(step->verb);
  return verbs;
}

void CheckStep(const Json& step, const std::string& path, std::set<std::string>& earlier,
               Mistakes& mistakes) {
  if (!step.is_object())
    return mistakes.push_back({path, "a step is a mapping with one of the verbs " + JoinOr(Verbs())});
  const StepDef* def = FindStep(step);
  if (def == nullptr) {
    std::vector<std::string> given;
    for (const StepDef* each : AllSteps())
      if (step.contains(std::string(each->verb))) given.emplace_back(each->verb);
    if (!given.empty())
      return mistakes.push_back(
          {path, "a step has one verb, and this one has " + JoinOr(given) + ": make it several"});
    // Which of its keys was meant for a verb is for the reader to see; a single one is named.
    const bool single = step.size() == 1;
    const std::string word = single ? step.begin().key() : "";
    return mistakes.push_back({single ? YamlPathBelow(path, word) + "#" : path,
                               "the step has no verb" +
                                   (single ? ", " + api::Quote(word) + " is not one" : "") +
                                   DidYouMeanOr(word, Verbs(), "it needs one of " + JoinOr(Verbs()))});
  }
  const std::size_t before = mistakes.size();
  const std::string verb(def->verb);
  const Members own{{def->verb, def->value, def->about, true}};
  std::vector<const Members*> keys = KeysOf(*def);
  keys.insert(keys.begin(), &own);
  CheckMembers(keys, step, path, "the step " + verb, mistakes);
  if (mistakes.size() == before && def->check != nullptr) def->check({step, path, earlier}, mistakes);
  if (!step.contains("name") || !step["name"].is_string()) return;
  if (!earlier.insert(step["name"].get<std::string>()).second)
    mistakes.push_back({YamlPathBelow(path, "name"), "another step has that name already"});
}

}  // namespace

const std::vector<const StepDef*>& AllSteps() {
  static const std::vector<const StepDef*> all = [] {
    std::vector<const StepDef*> out;
    for (auto steps :
         {ObjectSteps(), PodSteps(), NodeSteps(), ComponentSteps(), ClockSteps(), ExpectationSteps()})
      for (const StepDef& step : steps) out.push_back(&step);
    return out;
  }();
  return all;
}

const StepDef* FindStep(const Json& step) {
  const StepDef* found = nullptr;
  for (const StepDef* each : AllSteps()) {
    if (!step.contains(std::string(each->verb))) continue;
    if (found != nullptr) return nullptr;
    found = each;
  }
  return found;
}

const Members& CommonKeys() {
  static const Shape when{.type = Shape::Type::kMap, .is = "parameters and their values", .of = &Anything()};
  static const Members members{
      {"name", AnyText(), "what the step is for; failures and `since` call it by that"},
      {"when", when, "only where these parameters have that value, or one of that list"},
  };
  return members;
}

const Members& RefusedKey() {
  static const Shape refused{
      .type = Shape::Type::kFields,
      .is = "refused",
      .members = {{"code", NotNegative(), "the HTTP code"},
                  {"reason", AnyText(), "the Status' reason, like Invalid or Conflict"},
                  {"message", LikeText(), "the Status' message; * stands for anything"}}};
  static const Members members{{"refused", refused, "the step must be refused, with this answer"}};
  return members;
}

std::vector<const Members*> KeysOf(const StepDef& step) {
  std::vector<const Members*> keys = step.keys;
  if (step.may_be_refused) keys.push_back(&RefusedKey());
  keys.push_back(&CommonKeys());
  return keys;
}

void CheckSteps(const Json& steps, const std::string& path, Mistakes& mistakes) {
  std::set<std::string> earlier;
  for (std::size_t i = 0; i < steps.size(); ++i)
    CheckStep(steps[i], YamlPathBelow(path, std::to_string(i)), earlier, mistakes);
}

}  // namespace terrarium::testbed::scenario

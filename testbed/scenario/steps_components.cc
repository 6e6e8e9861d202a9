// What can be done to the components of a control plane while it runs.

#include <map>
#include <string>
#include <utility>

#include "api/codec/yaml.h"
#include "testbed/control_plane/component_change.h"
#include "testbed/scenario/run.h"
#include "testbed/scenario/shapes.h"

namespace terrarium::testbed::scenario {
namespace {

constexpr const char* kStop = "stopComponent";
constexpr const char* kStart = "startComponent";
constexpr const char* kRestart = "restartComponent";
constexpr const char* kCrash = "crashComponent";

StepOutcome OutcomeOf(const ChangeResult& changed) {
  return changed ? StepOutcome::Fine() : StepOutcome::Refused(changed.status());
}

template <const char* const& verb, ChangeResult (Testbed::*change)(const std::string&)>
StepOutcome Change(Run& run, const Json& step) {
  return OutcomeOf((run.bed().*change)(step[verb].get<std::string>()));
}

const Members& GateKeys() {
  static const Shape components{
      .type = Shape::Type::kList, .is = "a list of components", .of = &ComponentName(), .least = 1};
  static const Members members{{"components", components, "which of them; all there are by default"}};
  return members;
}

StepOutcome SetGates(Run& run, const Json& step) {
  std::map<std::string, bool> gates;
  for (const auto& [name, on] : step["setGates"].items()) gates[name] = on.get<bool>();
  const Json names = step.contains("components") ? step["components"] : Json(ComponentName().words);
  for (const Json& name : names) {
    // A control plane may be made without one; only where it is named that is a mistake.
    if (!step.contains("components") && !run.bed().control_plane().components().Find(name.get<std::string>()))
      continue;
    if (auto changed = run.bed().SetGates(name.get<std::string>(), gates); !changed)
      return OutcomeOf(changed);
  }
  return StepOutcome::Fine();
}

}  // namespace

std::span<const StepDef> ComponentSteps() {
  static const std::vector<StepDef> steps{
      {"setGates",
       "set feature gates; components whose gates change are restarted with them",
       GateValues(),
       {&GateKeys()},
       nullptr,
       SetGates,
       true},
      {kStop,
       "stop a component; requests in flight are answered first",
       ComponentName(),
       {},
       nullptr,
       Change<kStop, &Testbed::Stop>,
       true},
      {kStart,
       "start a stopped or crashed component",
       ComponentName(),
       {},
       nullptr,
       Change<kStart, &Testbed::Start>,
       true},
      {kRestart,
       "stop a component and start it again",
       ComponentName(),
       {},
       nullptr,
       Change<kRestart, &Testbed::Restart>,
       true},
      {kCrash,
       "end a component abruptly, in the middle of its work; it is down until it is started",
       ComponentName(),
       {},
       nullptr,
       Change<kCrash, &Testbed::Crash>,
       true},
  };
  return steps;
}

}  // namespace terrarium::testbed::scenario

#pragma once

// The table of steps. A step is a mapping with one verb and the keys that go with it:
//
//   - scale: deployment/web
//     replicas: 5
//
// A new one is a row in the list of its subject: what its verb and its keys hold, what shapes cannot say
// about them, and what it does. The reader, the JSON Schema, --help and the run know it then.

#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/status.h"
#include "testbed/scenario/match.h"
#include "testbed/scenario/shape.h"

namespace terrarium::testbed::scenario {

class Run;

// What is wrong when a step does not come out as it should.
struct Mismatch {
  std::string text;  // what was expected and what there was instead, in a line
  std::vector<Difference> differences = {};
  std::int64_t revision = 0;  // at which it was; 0: now
};

struct StepOutcome {
  std::optional<api::Status> refused = {};  // the server said no
  std::optional<Mismatch> failed = {};

  static StepOutcome Fine() { return {}; }
  static StepOutcome Failed(std::string text) { return {{}, Mismatch{std::move(text)}}; }
  static StepOutcome Refused(api::Status status) { return {std::move(status), {}}; }
};

// A step on its way through the checks.
struct StepDraft {
  const Json& document;
  const std::string& path;
  const std::set<std::string>& earlier;  // the names of the steps before it
};

struct StepDef {
  std::string_view verb;
  std::string_view about;
  const Shape& value;                // of the verb's own key
  std::vector<const Members*> keys;  // that go with it, besides those of every step
  // What is wrong beyond shapes; nullptr: nothing can be. Called only when all shapes are right.
  void (*check)(const StepDraft& step, Mistakes& mistakes);
  // REQUIRES: `step` has been checked.
  StepOutcome (*run)(Run& run, const Json& step);
  bool may_be_refused = false;  // the server can refuse what it asks: the step takes `refused`
};

// One list per subject.
std::span<const StepDef> ObjectSteps();
std::span<const StepDef> PodSteps();
std::span<const StepDef> NodeSteps();
std::span<const StepDef> ComponentSteps();
std::span<const StepDef> ClockSteps();
std::span<const StepDef> ExpectationSteps();
// All of them, in the order in which people want to read about them.
const std::vector<const StepDef*>& AllSteps();

// The step's row; nullptr when it has no verb, or several. REQUIRES: an object.
const StepDef* FindStep(const Json& step);
// The keys that every step has.
const Members& CommonKeys();
const Members& RefusedKey();
// Every key that a step with that verb may have.
std::vector<const Members*> KeysOf(const StepDef& step);

// Checks the list of steps: verbs, shapes and what is beyond them.
void CheckSteps(const Json& steps, const std::string& path, Mistakes& mistakes);

}  // namespace terrarium::testbed::scenario

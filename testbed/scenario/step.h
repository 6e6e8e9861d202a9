#pragma once

// The table of steps. A step is a mapping with one verb and the keys that go with it:
//
//   - scale: deployment/web
//     replicas: 5
//
// A new step is a row in the list of its subject: the shapes of its verb and keys, further checks, and the
// function that runs it. The reader, the JSON Schema, --help and the runner use these rows.

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

// How the result of a step differs from the expected one.
struct Mismatch {
  std::string text;  // the expected and the actual state, in one line
  std::vector<Difference> differences = {};
  std::int64_t revision = 0;  // of the mismatch; 0: the current one
};

struct StepOutcome {
  std::optional<api::Status> refused = {};  // the error of a server that refused the request
  std::optional<Mismatch> failed = {};

  static StepOutcome Fine() { return {}; }
  static StepOutcome Failed(std::string text) { return {{}, Mismatch{std::move(text)}}; }
  static StepOutcome Refused(api::Status status) { return {std::move(status), {}}; }
};

// A step that is being checked.
struct StepDraft {
  const Json& document;
  const std::string& path;
  const std::set<std::string>& earlier;  // the names of the steps before it
};

struct StepDef {
  std::string_view verb;
  std::string_view about;
  const Shape& value;                // of the verb's own key
  std::vector<const Members*> keys;  // of this verb, besides the common keys
  // Reports mistakes that shapes cannot express; nullptr: none. Called only when all shapes are valid.
  void (*check)(const StepDraft& step, Mistakes& mistakes);
  // REQUIRES: `step` has been checked.
  StepOutcome (*run)(Run& run, const Json& step);
  bool may_be_refused = false;  // the server can refuse the request: the step accepts `refused`
};

// One list per subject.
std::span<const StepDef> ObjectSteps();
std::span<const StepDef> PodSteps();
std::span<const StepDef> NodeSteps();
std::span<const StepDef> ComponentSteps();
std::span<const StepDef> ClockSteps();
std::span<const StepDef> ExpectationSteps();
// All steps, in the order of the documentation.
const std::vector<const StepDef*>& AllSteps();

// The step's row; nullptr when it has no verb, or several. REQUIRES: an object.
const StepDef* FindStep(const Json& step);
// The keys that every step has.
const Members& CommonKeys();
const Members& RefusedKey();
// Every key that a step with that verb may have.
std::vector<const Members*> KeysOf(const StepDef& step);

// Checks the list of steps: verbs, shapes and the steps' own checks.
void CheckSteps(const Json& steps, const std::string& path, Mistakes& mistakes);

}  // namespace terrarium::testbed::scenario

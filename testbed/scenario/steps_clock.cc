#include "api/base/duration.h"
#include "api/codec/yaml.h"
#include "testbed/control_plane/object_condition.h"
#include "testbed/control_plane/object_watch.h"
#include "testbed/scenario/run.h"
#include "testbed/scenario/shapes.h"
#include "testbed/scenario/target.h"

namespace terrarium::testbed::scenario {
namespace {

using Why = Run::Moved::Why;

api::Duration DurationOf(const Json& value) {
  return api::ParseDuration(value.get_ref<const std::string&>()).value;
}

StepOutcome Advance(Run& run, const Json& step) {
  const api::Duration duration = DurationOf(step["advance"]);
  Run::Moved moved = run.Move(duration);
  return moved.why == Why::kLimit ? StepOutcome::Fine() : Run::BadMove(moved, "");
}

StepOutcome RunUntilIdle(Run& run, const Json& step) {
  const api::Duration limit = DurationOf(step["runUntilIdle"]);
  Run::Moved moved = run.MoveUntilIdle(limit);
  if (moved.why == Why::kIdle) return StepOutcome::Fine();
  return Run::BadMove(moved,
                      "after " + api::FormatDuration(limit) + " the cluster still has something to do");
}

void CheckRunUntil(const StepDraft& step, Mistakes& mistakes) {
  CheckTarget(step.document, "runUntil", step.path, "", mistakes);
  const std::string& target = step.document["runUntil"].get_ref<const std::string&>();
  if (target.find('/') == std::string::npos)
    mistakes.push_back(
        {api::YamlPathBelow(step.path, "runUntil"),
         "runUntil checks one object: write KIND/NAME, or expect with eventually for several"});
  auto condition = ObjectCondition::Parse(step.document["for"].get<std::string>());
  if (!condition) mistakes.push_back({api::YamlPathBelow(step.path, "for"), condition.status().message});
}

StepOutcome RunUntil(Run& run, const Json& step) {
  ObjectTarget target = ObjectTarget::Of(step, "runUntil");
  auto condition = ObjectCondition::Parse(step["for"].get<std::string>());
  CHECK(condition.ok());
  auto watch = ObjectWatch::Make(run.bed().control_plane(), {target.Storage(), target.ns(), target.name()},
                                 std::move(*condition));
  if (!watch) return StepOutcome::Refused(watch.status());
  const api::Duration limit = DurationOf(step["within"]);
  Run::Moved moved = run.Move(limit, [&watch] { return (*watch)->Held(); });
  if (moved.why == Why::kStopped) return StepOutcome::Fine();
  return Run::BadMove(moved, target.String() + ": " + step["for"].get<std::string>() +
                                 " did not hold within " + api::FormatDuration(limit));
}

const Members& RunUntilKeys() {
  static const Members members{
      {"for", AnyText(),
       "create, delete, condition=NAME[=VALUE] or jsonpath={.path}[=VALUE], as kubectl wait", true},
      {"within", DurationText(), "the longest it may take, on the cluster's clock", true},
  };
  return members;
}

}  // namespace

std::span<const StepDef> ClockSteps() {
  static const std::vector<StepDef> steps{
      {"advance",
       "move the clock by so much, timer by timer; 0s runs the work that is due now",
       DurationText(),
       {},
       nullptr,
       Advance},
      {"runUntilIdle",
       "move the clock until only housekeeping is left; the value is the longest time allowed",
       DurationText(),
       {},
       nullptr,
       RunUntilIdle},
      {"runUntil",
       "move the clock until a condition on an object holds",
       Target(),
       {&NamespaceMember(), &RunUntilKeys()},
       CheckRunUntil,
       RunUntil},
  };
  return steps;
}

}  // namespace terrarium::testbed::scenario

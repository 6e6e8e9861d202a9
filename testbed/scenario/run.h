#pragma once

// Runs one scenario on its own new control plane. Runs share nothing, so they may run on several threads.

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/base/clock.h"
#include "testbed/embedding/testbed.h"
#include "testbed/scenario/scenario.h"
#include "testbed/scenario/step.h"

namespace terrarium::testbed::scenario {

// How a scenario failed.
struct Failure {
  std::size_t step = 0;    // counted from 1; 0: before the first step
  std::string step_title;  // "expect deployment/web" or its name
  api::YamlPlace place;    // of the step
  Mismatch mismatch;
  api::Time time{};       // virtual time
  api::Duration after{};  // since the control plane was ready
  std::int64_t revision = 0;
  std::string timeline;  // the part around `revision`, as text
};

struct RunReport {
  enum class Result { kPassed, kFailed, kInterrupted };
  Result result = Result::kPassed;
  std::optional<Failure> failure;
  api::Duration virtual_time{};  // the time that passed on the virtual clock
  std::int64_t revisions = 0;
};

// An expectation that must hold at every revision until the end of the run.
class StandingExpectation {
 public:
  virtual ~StandingExpectation() = default;
  // Checks the revisions since the last call. Returns the first mismatch, if any.
  virtual std::optional<Mismatch> Check() = 0;
};

class Run {
 public:
  // The run ends soon after `interrupted` becomes true. `scenario` and `interrupted` outlive the run.
  Run(const Scenario& scenario, std::uint64_t seed, const std::atomic<bool>& interrupted);
  ~Run();

  RunReport Execute();

  // The methods below are for steps.
  Testbed& bed() { return *bed_; }
  const Scenario& scenario() const { return scenario_; }
  // Sends a request as a client would. Returns the object in the response, or the error.
  api::Result<Json> Send(const std::string& method, const std::string& path, const Json& body = {},
                         const std::string& content_type = "application/json");

  struct Moved {
    enum class Why { kStopped, kIdle, kLimit, kBusy, kBroken };
    Why why;  // kBroken: a standing expectation, or an invariant of the control plane; or the run is
              // interrupted
  };
  // Moves the clock until `stop` returns true (called after every piece of work) or `limit` has passed.
  Moved Move(api::Duration limit, const std::function<bool()>& stop = {});
  // Moves the clock until only housekeeping is left to do, or `limit` has passed.
  Moved MoveUntilIdle(api::Duration limit);
  // Moves the clock to the next timer, at most to `until`: for checks of state without revisions, such as
  // metrics. kStopped: at a timer; call again to go on. kLimit: at `until`.
  Moved MoveToNextRest(api::Time until);
  // The outcome of a step whose move ended in an unexpected way; `wanted` is the message.
  static StepOutcome BadMove(Moved moved, const std::string& wanted);

  void AddStanding(std::unique_ptr<StandingExpectation> standing);
  // /metrics as they were right after the step of that name. REQUIRES: the name is among the scenario's
  // marks, and the step has run.
  const std::string& MetricsAfter(const std::string& step) const { return metrics_after_.at(step); }
  std::string Metrics();

 private:
  struct StandingStep {
    std::size_t step;
    std::unique_ptr<StandingExpectation> standing;
  };
  void Start(std::uint64_t seed);
  bool DoStep(std::size_t index);
  // Checks invariants and standing expectations. Returns false if one is broken or the run is interrupted;
  // report_ then has the result.
  bool AllHold();
  void FailAt(std::size_t step, Mismatch mismatch);

  const Scenario& scenario_;
  const std::atomic<bool>& interrupted_;
  std::uint64_t seed_;
  std::unique_ptr<Testbed> bed_;
  api::Time began_{};
  std::size_t at_step_ = 0;
  std::vector<StandingStep> standing_;
  std::optional<invariants::Violation> violation_;  // the first violation
  std::map<std::string, std::string> metrics_after_;
  RunReport report_;
};

// The failure as text. Every line ends with a newline.
std::string Describe(const Scenario& scenario, const Failure& failure);

}  // namespace terrarium::testbed::scenario

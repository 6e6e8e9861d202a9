#pragma once

// Runs one scenario on a fresh plane of its own. Scenarios on several threads do not touch each other.

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/base/clock.h"
#include "testbed/scenario/scenario.h"
#include "testbed/scenario/step.h"
#include "testbed/testbed.h"

namespace terrarium::testbed::scenario {

// How a scenario failed, for people.
struct Failure {
  std::size_t step = 0;       // from 1 on; 0: before the first
  std::string step_title;     // "expect deployment/web" or its name
  api::YamlPlace place;       // of the step
  Mismatch mismatch;
  api::Time time{};           // on the plane's clock
  api::Duration after{};      // since the plane was ready
  std::int64_t revision = 0;
  std::string timeline;  // what happened around it, in lines
};

struct RunReport {
  enum class Result { kPassed, kFailed, kInterrupted };
  Result result = Result::kPassed;
  std::optional<Failure> failure;
  api::Duration virtual_time{};  // that passed on the plane
  std::int64_t revisions = 0;
};

// Something that must hold at every revision while it stands.
class Standing {
 public:
  virtual ~Standing() = default;
  // Looks at what has happened since the last call; what is wrong, once something is.
  virtual std::optional<Mismatch> Look() = 0;
};

class Run {
 public:
  // `interrupted` becomes true when somebody wants it to end soon. Both outlive the run.
  Run(const Scenario& scenario, std::uint64_t seed, const std::atomic<bool>& interrupted);
  ~Run();

  RunReport Go();

  // For steps.
  Testbed& bed() { return *bed_; }
  const Scenario& scenario() const { return scenario_; }
  // Sends a request as a client would; the answer's object, or the refusal.
  api::Result<Json> Send(const std::string& method, const std::string& path, const Json& body = {},
                         const std::string& content_type = "application/json");

  struct Moved {
    enum class Why { kStopped, kIdle, kLimit, kBusy, kBroken };
    Why why;  // kBroken: a standing expectation, or an invariant of the plane; or the run is interrupted
  };
  // Moves the clock until `stop` says so (asked after every piece of work), or `limit` has passed.
  Moved Move(api::Duration limit, const std::function<bool()>& stop = {});
  // The same until nothing is left to do but housekeeping.
  Moved MoveUntilIdle(api::Duration limit);
  // To the next timer, or to the limit: for looks at what no revision tells of. kStopped: there is more to come.
  Moved MoveToNextRest(api::Time until);
  // An outcome for whatever a move should not end with.
  static StepOutcome BadMove(Moved moved, const std::string& wanted);

  void Stand(std::unique_ptr<Standing> standing);
  // /metrics when the step of that name had been done. REQUIRES: it is among the scenario's marks.
  const std::string& MetricsAfter(const std::string& step) const { return metrics_after_.at(step); }
  std::string Metrics();

 private:
  struct StandingStep {
    std::size_t step;
    std::unique_ptr<Standing> standing;
  };
  void Start(std::uint64_t seed);
  bool DoStep(std::size_t index);
  // Looks at what stands. False: something is broken, and broken_ says what.
  bool AllStands();
  void FailAt(std::size_t step, Mismatch mismatch);

  const Scenario& scenario_;
  const std::atomic<bool>& interrupted_;
  std::uint64_t seed_;
  std::unique_ptr<Testbed> bed_;
  api::Time began_{};
  std::size_t at_step_ = 0;
  std::vector<StandingStep> standing_;
  std::optional<invariants::Violation> violation_;  // the first one
  std::map<std::string, std::string> metrics_after_;
  RunReport report_;
};

// A failure as people read it: lines, each with an end.
std::string Describe(const Scenario& scenario, const Failure& failure);

}  // namespace terrarium::testbed::scenario

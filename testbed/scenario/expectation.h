#pragma once

// Expectations of a scenario about objects, Events and metrics: now, eventually, always or never.

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "testbed/scenario/follower.h"
#include "testbed/scenario/run.h"
#include "testbed/scenario/step.h"

namespace terrarium::testbed::scenario {

// A condition whose truth changes as the control plane runs.
class Expectation {
 public:
  virtual ~Expectation() = default;

  // Advances to the next observable state. Returns false if the current state is the newest.
  virtual bool Next() = 0;
  virtual bool Holds() const = 0;
  // For `never`: the unwanted state exists. If the expectation selects several objects, one of them is
  // enough.
  virtual bool Occurs() const { return Holds(); }
  // Explains the current failure: the expectation does not hold, or, for `never`, it occurs.
  virtual Mismatch Explain(bool never) const = 0;
  // True: every change has a revision. False: the expectation is checked whenever the control plane rests.
  virtual bool ByRevision() const { return true; }
};

// The keys eventually, always and never.
const Members& TimeKeys();
// Checks that the step has at most one of them.
void CheckTimeKeys(const StepDraft& step, Mistakes& mistakes);

// Checks the expectation in the way that the step's time key requires; without one, only now.
StepOutcome Judge(Run& run, const Json& step, std::unique_ptr<Expectation> expectation);

}  // namespace terrarium::testbed::scenario

#pragma once

// What a scenario expects of objects, of events and of metrics: now, eventually, always or never.

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "testbed/scenario/follower.h"
#include "testbed/scenario/run.h"
#include "testbed/scenario/step.h"

namespace terrarium::testbed::scenario {

// Something that holds or does not, and changes as the plane goes on.
class Expectation {
 public:
  virtual ~Expectation() = default;

  // Goes on to the next state that can be told from the last. False: this is the newest.
  virtual bool Next() = 0;
  virtual bool Holds() const = 0;
  // For `never`: something of what is expected is there. Where several objects are meant, one is enough.
  virtual bool Occurs() const { return Holds(); }
  // Why the present state is not as it should be: that it does not hold, or for `never` that it does.
  virtual Mismatch Explain(bool never) const = 0;
  // A revision tells of every change; otherwise it is looked at whenever the plane rests.
  virtual bool ByRevision() const { return true; }
};

// The keys eventually, always and never.
const Members& TimeKeys();
// At most one of them, and always and never not with what they make no sense for.
void CheckTimeKeys(const StepDraft& step, Mistakes& mistakes);

// Holds an expectation against the plane in the way the step says.
StepOutcome Judge(Run& run, const Json& step, std::unique_ptr<Expectation> expectation);

}  // namespace terrarium::testbed::scenario

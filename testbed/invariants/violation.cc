#include "testbed/invariants/violation.h"

namespace terrarium::testbed::invariants {

std::string Violation::String() const {
  return "invariant broken: " + rule + ", " + api::FormatMicroTime(time) + ": " + text;
}

}  // namespace terrarium::testbed::invariants

#include "tests/matrix/cell_play.h"

namespace terrarium::matrix {
namespace {

const char* OnOrOff(bool on) { return on ? "on" : "off"; }

}  // namespace

CellReport CellPlay::Play() {
  for (number_ = 0; number_ < phases_.size(); ++number_) {
    const bool pods_are_held = in_flight_ && number_ > 0;
    Switch();
    if (pods_are_held) Stop("after the switch");
    Apply();
    if (pods_are_held) Stop("after the manifest was applied again");
    if (!pods_are_held) {
      Begin();
      Stop("while pods terminate");
    }
    if (in_flight_ && number_ + 1 < phases_.size()) continue;
    End();
    Stop("in the end");
  }
  return std::move(report_);
}

void CellPlay::Stop(const char* when) {
  Moment moment(name_, "phase " + std::to_string(number_ + 1) + " (apiserver " + OnOrOff(phase().apiserver) +
                           ", controller-manager " + OnOrOff(phase().controller_manager) + "), " + when);
  Check(moment);
  report_.Add(moment);
}

testbed::invariants::Report CellPlay::Violations() {
  return [this](const testbed::invariants::Violation& violation) {
    Fail(violation.rule + ": " + violation.text);
  };
}

}  // namespace terrarium::matrix

#include "tests/matrix/cell.h"

#include <cctype>

namespace terrarium::matrix {
namespace {

std::vector<bool> Values(Sequence sequence) {
  switch (sequence) {
    case Sequence::kOn: return {true};
    case Sequence::kOff: return {false};
    case Sequence::kOffThenOn: return {false, true};
    case Sequence::kOnThenOff: return {true, false};
    // The second action concerns what was created while the gate was off.
    case Sequence::kOnThenStaysOff: return {true, false, false};
    case Sequence::kOnOffOn: break;
  }
  return {true, false, true};
}

const char* NameOf(Where where) {
  switch (where) {
    case Where::kApiserver: return "Apiserver";
    case Where::kControllerManager: return "ControllerManager";
    case Where::kBoth: break;
  }
  return "Both";
}

}  // namespace

const char* NameOf(Sequence sequence) {
  switch (sequence) {
    case Sequence::kOn: return "On";
    case Sequence::kOff: return "Off";
    case Sequence::kOffThenOn: return "OffThenOn";
    case Sequence::kOnThenOff: return "OnThenOff";
    case Sequence::kOnThenStaysOff: return "OnThenStaysOff";
    case Sequence::kOnOffOn: break;
  }
  return "OnOffOn";
}

std::vector<Phase> History::Phases() const {
  std::vector<Phase> phases;
  for (bool on : Values(sequence))
    phases.push_back({.apiserver = on || where == Where::kControllerManager,
                      .controller_manager = on || where == Where::kApiserver});
  return phases;
}

std::string History::Name() const {
  std::string name = std::string(NameOf(sequence)) + "_" + NameOf(where);
  if (timing == Timing::kInFlight) name += "_InFlight";
  return name;
}

std::vector<History> AllHistories() {
  std::vector<History> histories;
  for (Sequence sequence : kSequences) {
    for (Where where : kWheres) {
      histories.push_back({sequence, where, Timing::kAtRest});
      if (Values(sequence).size() > 1) histories.push_back({sequence, where, Timing::kInFlight});
    }
  }
  return histories;
}

std::string NameOf(std::string_view text) {
  std::string name;
  for (char c : text)
    if (std::isalnum(static_cast<unsigned char>(c)) != 0) name += c;
  return name.empty() ? "None" : name;
}

}  // namespace terrarium::matrix

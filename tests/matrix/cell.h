#pragma once

// The dimensions that all tables of the matrix share: a gate's history, the component, and the timing.

#include <string>
#include <string_view>
#include <vector>

namespace terrarium::matrix {

// How a gate is set in the course of a cell.
enum class Sequence { kOn, kOff, kOffThenOn, kOnThenOff, kOnThenStaysOff, kOnOffOn };
inline constexpr Sequence kSequences[] = {
    Sequence::kOn,     Sequence::kOff, Sequence::kOffThenOn, Sequence::kOnThenOff, Sequence::kOnThenStaysOff,
    Sequence::kOnOffOn};

const char* NameOf(Sequence sequence);

// The component whose gate follows the sequence. The other component's gate stays on: version skew.
enum class Where { kApiserver, kControllerManager, kBoth };
inline constexpr Where kWheres[] = {Where::kApiserver, Where::kControllerManager, Where::kBoth};

// Whether gates are switched between two actions, or while the pods of one are terminating.
enum class Timing { kAtRest, kInFlight };

// The gate in the components that know it, during a phase.
struct Phase {
  bool apiserver = true;
  bool controller_manager = true;
  friend bool operator==(const Phase&, const Phase&) = default;
};

// The dimensions of all cells; a table adds its policies and actions.
struct History {
  Sequence sequence = Sequence::kOn;
  Where where = Where::kBoth;
  Timing timing = Timing::kAtRest;

  std::vector<Phase> Phases() const;
  std::string Name() const;  // "OnThenOff_Apiserver_InFlight"
};

// Every combination. A gate that is never switched has one timing.
std::vector<History> AllHistories();

// Letters and digits only, as GoogleTest requires.
std::string NameOf(std::string_view text);

}  // namespace terrarium::matrix

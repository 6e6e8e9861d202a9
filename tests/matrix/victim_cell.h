#pragma once

// Who goes when a ReplicaSet shrinks, by what the pods' costs or a picker say (KEP-2255, KEP-3189), as gates
// are switched. Two pods have been ready for two minutes and two for three seconds: without a hint the young
// ones go.

#include <iosfwd>
#include <string>
#include <vector>

#include "tests/matrix/cell.h"
#include "tests/matrix/expectation.h"

namespace terrarium::matrix {

enum class Hint {
  kNone,
  kSameCost,
  kOldAreCheap,  // the old pods have the lower cost
  kNotANumber,   // the old pods have a cost that is none
  kPicker,       // the user's service chooses the old pods
};
inline constexpr Hint kCostHints[] = {Hint::kNone, Hint::kSameCost, Hint::kOldAreCheap, Hint::kNotANumber};
inline constexpr Hint kPickerHints[] = {Hint::kNone, Hint::kPicker};

struct VictimCell {
  const char* gate = "PodDeletionCost";
  History history;
  Hint hint = Hint::kNone;
  bool deployment = false;  // the ReplicaSet is a Deployment's

  std::string Name() const;
};
std::ostream& operator<<(std::ostream& out, const VictimCell& cell);

std::vector<VictimCell> AllCostCells();
std::vector<VictimCell> AllPickerCells();
CellReport Play(const VictimCell& cell);

}  // namespace terrarium::matrix

#pragma once

// The pods that a ReplicaSet deletes in a scale-down, by pod-deletion-cost or by a picker (KEP-2255,
// KEP-3189), as gates are switched. Two pods have been ready for two minutes and two for three seconds: by
// default the young ones are deleted.

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
  kNotANumber,   // the old pods have a malformed cost
  kPicker,       // the user's service chooses the old pods
};
inline constexpr Hint kCostHints[] = {Hint::kNone, Hint::kSameCost, Hint::kOldAreCheap, Hint::kNotANumber};
inline constexpr Hint kPickerHints[] = {Hint::kNone, Hint::kPicker};

struct VictimCell {
  const char* gate = "PodDeletionCost";
  History history;
  Hint hint = Hint::kNone;
  bool deployment = false;  // the ReplicaSet belongs to a Deployment

  std::string Name() const;
};
std::ostream& operator<<(std::ostream& out, const VictimCell& cell);

std::vector<VictimCell> AllCostCells();
std::vector<VictimCell> AllPickerCells();
CellReport Play(const VictimCell& cell);

}  // namespace terrarium::matrix

#pragma once

// Plays a cell of the matrix of Jobs on a cluster and compares the outcome with the model.

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "tests/matrix/cell.h"
#include "tests/matrix/job_model.h"

namespace terrarium::matrix {

struct JobCell {
  History history;
  std::optional<std::string> policy;
  JobAction action = JobAction::kDeletion;
  bool indexed = false;

  std::string Name() const;
};
std::ostream& operator<<(std::ostream& out, const JobCell& cell);

std::vector<JobCell> AllJobCells();
CellReport Play(const JobCell& cell);

}  // namespace terrarium::matrix

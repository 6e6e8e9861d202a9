#pragma once

// Plays a cell of the matrix of Deployments on a cluster and compares the outcome with the model.

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

#include "tests/matrix/cell.h"
#include "tests/matrix/deployment_model.h"

namespace terrarium::matrix {

struct DeploymentCell {
  // The gate that is switched. DeploymentPodReplacementPolicy depends on the other gate and is switched off
  // with it.
  enum class Gate { kPolicy, kTerminating };

  Gate gate = Gate::kPolicy;
  History history;
  std::optional<std::string> policy;
  DeploymentAction action = DeploymentAction::kRollingUpdate;

  std::string Name() const;
  ClusterGates GatesIn(const Phase& phase) const;
};
std::ostream& operator<<(std::ostream& out, const DeploymentCell& cell);

std::vector<DeploymentCell> AllDeploymentCells(DeploymentCell::Gate gate);
CellReport Play(const DeploymentCell& cell);

}  // namespace terrarium::matrix

// The matrix of Deployments: both gates, with every history, component, policy and action. A failing cell
// prints its name, the moment, the value and the violated sentence.

#include "tests/matrix/deployment_cell.h"
#include "tests/matrix/matrix_testing.h"

namespace terrarium::matrix {
namespace {

INSTANTIATE_TEST_SUITE_P(Gate, Matrix, testing::ValuesIn(kSequences),
                         [](const auto& info) { return NameOf(info.param); });

// 3 policies, 6 actions.
TEST_P(Matrix, DeploymentPodReplacementPolicy) {
  PlayAll(AllDeploymentCells(DeploymentCell::Gate::kPolicy), Histories() * 3 * 6, 16);
}

TEST_P(Matrix, DeploymentReplicaSetTerminatingReplicas) {
  PlayAll(AllDeploymentCells(DeploymentCell::Gate::kTerminating), Histories() * 3 * 6, 14);
}

}  // namespace
}  // namespace terrarium::matrix

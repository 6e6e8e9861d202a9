// The matrix of Jobs, and of the pods that a ReplicaSet deletes first, with every history and component. A
// failing cell prints its name, the moment, the value and the violated sentence.

#include "tests/matrix/job_cell.h"
#include "tests/matrix/matrix_testing.h"
#include "tests/matrix/victim_cell.h"

namespace terrarium::matrix {
namespace {

INSTANTIATE_TEST_SUITE_P(Gate, Matrix, testing::ValuesIn(kSequences),
                         [](const auto& info) { return NameOf(info.param); });

// 3 policies, 4 actions, indexed and not.
TEST_P(Matrix, JobPodReplacementPolicy) { PlayAll(AllJobCells(), Histories() * 3 * 4 * 2, 10); }

// 4 kinds of costs, ReplicaSets and Deployments.
TEST_P(Matrix, PodDeletionCost) { PlayAll(AllCostCells(), HistoriesAtRest() * 4 * 2, 10); }

// With a picker and without, ReplicaSets and Deployments.
TEST_P(Matrix, DownscalePodPicker) { PlayAll(AllPickerCells(), HistoriesAtRest() * 2 * 2, 10); }

}  // namespace
}  // namespace terrarium::matrix

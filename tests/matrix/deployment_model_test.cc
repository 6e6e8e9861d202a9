#include "tests/matrix/deployment_model.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace terrarium::matrix {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

class DeploymentModelTest : public testing::Test {
 protected:
  // A scale-up under TerminationComplete with two terminating pods.
  DeploymentModelTest() {
    model_.Switch({}, false);
    model_.Apply();
    model_.Begin();
    sight_.policy = "TerminationComplete";
    sight_.live = sight_.status_replicas = 3;
    sight_.terminating = 2;
    sight_.most = 5;
    sight_.reported = 2;
    sight_.reported_by_sets = {2};
  }
  std::vector<std::string> Failures() {
    Moment moment("CELL", "MOMENT");
    model_.Check(sight_, moment);
    return moment.failures();
  }

  DeploymentModel model_{DeploymentAction::kScaleUp, "TerminationComplete"};
  DeploymentSight sight_;
};

TEST_F(DeploymentModelTest, TheBehaviourOfTheKepPasses) { EXPECT_THAT(Failures(), IsEmpty()); }

TEST_F(DeploymentModelTest, APodTooManyNamesTheCellTheMomentAndTheSentence) {
  sight_.live = 4;
  sight_.status_replicas = 3;
  EXPECT_THAT(Failures(),
              ElementsAre(HasSubstr("CELL, MOMENT: live pods: expected 3, got 4\n    this breaks KEP-3973 "
                                    "(first text), Deployment Behavior Changes: \"When scaling up")));
}

TEST_F(DeploymentModelTest, AFieldThatIsZeroInsteadOfAbsentIsReported) {
  ClusterGates off;
  off.controller_manager = {.policy = false, .terminating = false};
  model_.Switch(off, true);
  sight_.live = sight_.status_replicas = 4;
  sight_.most = 6;
  sight_.reported = std::nullopt;
  sight_.reported_by_sets = {0};
  EXPECT_THAT(Failures(), ElementsAre(HasSubstr("of a ReplicaSet: expected absent, got 0")));
}

TEST_F(DeploymentModelTest, ALeftoverOfAPartialScaleIsReported) {
  model_.End();
  sight_.live = sight_.status_replicas = 4;
  sight_.terminating = 0;
  sight_.reported = 0;
  sight_.reported_by_sets = {0};
  sight_.complete = true;
  EXPECT_THAT(Failures(), IsEmpty());
  sight_.partial_scale = true;
  EXPECT_THAT(Failures(), ElementsAre(HasSubstr("a scale that is not complete: expected false, got true")));
}

}  // namespace
}  // namespace terrarium::matrix

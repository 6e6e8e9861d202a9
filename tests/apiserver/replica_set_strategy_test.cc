#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apiserver/strategies.h"
#include "tests/apiserver/strategy_testing.h"

namespace terrarium::apiserver {
namespace {

using ::testing::ElementsAre;
using testing::Kind;
using testing::kSelected;
using testing::WithSpec;

Kind ReplicaSet() { return Kind(ReplicaSetStrategy(), "apps.v1.ReplicaSet"); }

TEST(ReplicaSetStrategy, AvailableAboveReadyIsRefused) {
  const Json old = ReplicaSet().New(WithSpec({kSelected}));
  EXPECT_THAT(
      ReplicaSet().StatusErrors(old, R"({"replicas":1,"availableReplicas":1})"),
      ElementsAre("status.availableReplicas: Invalid value: 1: cannot be greater than readyReplicas"));
}

TEST(ReplicaSetStrategy, SelectorIsImmutable) {
  const Json old = ReplicaSet().New(WithSpec({kSelected}));
  EXPECT_THAT(
      ReplicaSet().UpdateErrors(
          old,
          R"({"spec":{"selector":{"matchLabels":{"app":"y"}},"template":{"metadata":{"labels":{"app":"y"}}}}})"),
      ElementsAre(R"(spec.selector: Invalid value: {"matchLabels":{"app":"y"}}: field is immutable)"));
}

}  // namespace
}  // namespace terrarium::apiserver

// A test suite that embeds Terrarium.

#include <chrono>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <terrarium/gtest.h>
#include <terrarium/testbed.h>

namespace {

using namespace std::chrono_literals;
using namespace terrarium::testing;
using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::SizeIs;

std::string Web(const std::string& image, const std::string& policy) {
  return R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 3
  podReplacementPolicy: )" +
         policy + R"(
  selector: {matchLabels: {app: web}}
  template:
    metadata:
      labels: {app: web}
      annotations: {terrarium.dev/stop-after: 90s}
    spec:
      terminationGracePeriodSeconds: 600
      containers: [{name: c, image: ")" +
         image + R"("}]
)";
}

class Rollout : public TestbedTest {
 protected:
  terrarium::TestbedOptions Options() override {
    return {
        .feature_gates = "DeploymentReplicaSetTerminatingReplicas=true,DeploymentPodReplacementPolicy=true",
        .nodes = 2};
  }
};

TEST_F(Rollout, WaitsForPodsThatGo) {
  bed().Must(bed().Apply(Web("web:1", "TerminationComplete")));
  bed().Must(bed().WaitFor("deployments", {"default", "web"}, "condition=Available", 5min));
  bed().clock().RunUntilIdle(1min);
  EXPECT_THAT(bed().Deployment("web"), IsRolledOut());
  EXPECT_THAT(bed().Pods("app=web"), Each(HasPhase("Running")));

  bed().Must(bed().Apply(Web("web:2", "TerminationComplete")));
  bed().clock().Advance(30s);
  // maxSurge is 25% of 3, rounded up to 1. Terminating pods count until they are gone.
  EXPECT_THAT(bed().Pods("app=web"), SizeIs(4));
  bed().clock().RunUntilIdle(1h);
  EXPECT_THAT(bed().Deployment("web"), IsRolledOut());
  EXPECT_THAT(bed().Deployment("web"), HasTerminatingReplicas(0));
  EXPECT_THAT(bed().Events("Deployment", "web"), HasEvent("ScalingReplicaSet", HasSubstr("Scaled down")));
}

TEST_F(Rollout, CanBeHeldInTheMiddle) {
  bed().Must(bed().Apply(Web("web:1", "TerminationStarted")));
  bed().clock().RunUntilIdle(5min);
  std::string victim = bed().Pods("app=web").front().name();
  bed().Must(bed().Hold({"default", victim}, "terminating"));
  bed().Must(bed().Delete("pods", {"default", victim}));
  bed().clock().Advance(1h);
  EXPECT_THAT(bed().Pod(victim), IsTerminating()) << "whatever its grace period was";
  EXPECT_THAT(bed().Deployment("web"), HasReadyReplicas(3)) << "it has been replaced meanwhile";

  bed().Must(bed().Release({"default", victim}));
  bed().Must(bed().WaitFor("pods", {"default", victim}, "delete", 5min));
  EXPECT_THAT(bed().Pod(victim), ::testing::Not(Exists()));
}

TEST_F(Rollout, GoesOnAfterTheControllersCrashed) {
  bed().Must(bed().Apply(Web("web:1", "TerminationComplete")));
  bed().clock().RunUntilIdle(5min);
  bed().Must(bed().Apply(Web("web:2", "TerminationComplete")));
  bed().clock().Advance(1s);
  bed().Must(bed().Crash("controller-manager"));
  bed().clock().Advance(10min);
  EXPECT_THAT(bed().Deployment("web"), Not(IsRolledOut())) << "no controller runs";
  bed().Must(bed().Start("controller-manager"));
  bed().clock().RunUntilIdle(1h);
  EXPECT_THAT(bed().Deployment("web"), IsRolledOut());
}

TEST_F(Rollout, KeepsItsPolicyWhileTheGateIsOffAndNewOnesGetNone) {
  bed().Must(bed().Apply(Web("web:1", "TerminationComplete")));
  bed().clock().RunUntilIdle(5min);
  for (const char* component : {"controller-manager", "apiserver"})
    bed().Must(bed().SetGates(component, {{"DeploymentPodReplacementPolicy", false}}));
  bed().clock().RunUntilIdle(5min);
  EXPECT_THAT(bed().Deployment("web"), HasField("spec.podReplacementPolicy", "TerminationComplete"));
  bed().Must(bed().Delete("deployments", {"default", "web"}));
  bed().clock().RunUntilIdle(1h);
  bed().Must(bed().Apply(Web("web:1", "TerminationComplete")));
  EXPECT_THAT(bed().Deployment("web"), HasField("spec.podReplacementPolicy", nullptr));
}

TEST_F(Rollout, ReportsWhy) {
  bed().Must(bed().Apply(Web("web:1", "TerminationStarted")));
  bed().clock().RunUntilIdle(5min);
  std::string replica_set = bed().ReplicaSets("app=web").front().name();
  std::vector<terrarium::WhyRecord> records = bed().why().Find("replicasets", {"default", replica_set});
  ASSERT_FALSE(records.empty());
  EXPECT_EQ(records.front().controller, "deployment-controller");
  EXPECT_EQ(records.front().action, "create");
}

}  // namespace

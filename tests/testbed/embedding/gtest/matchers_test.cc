#include "testbed/embedding/gtest/matchers.h"

#include <chrono>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testbed/embedding/gtest/testbed_test.h"

namespace terrarium::testing {
namespace {

using namespace std::chrono_literals;
using api::Json;
using ::testing::_;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::Each;
using ::testing::Ge;
using ::testing::Gt;
using ::testing::HasSubstr;
using ::testing::Lt;
using ::testing::Not;
using ::testing::SizeIs;
using ::testing::StartsWith;

const Json kObject = Json::parse(R"({
  "metadata": {"name": "web", "annotations": {"a.b/c": "x"}},
  "spec": {"replicas": 3, "paused": false, "ratio": 0.5},
  "status": {"phase": "Running",
             "conditions": [{"type": "Ready", "status": "True", "reason": "Fine"}, {"type": "Gone", "status": "False"}]}})");

template <typename Matcher, typename Value>
std::string Explained(const Matcher& matcher, const Value& value) {
  ::testing::StringMatchResultListener listener;
  ::testing::SafeMatcherCast<const Value&>(matcher).MatchAndExplain(value, &listener);
  return listener.str();
}

template <typename Matcher>
std::string Described(const Matcher& matcher) {
  return ::testing::DescribeMatcher<const Json&>(matcher);
}

TEST(HasCondition, ComparesStatusAndReason) {
  EXPECT_THAT(kObject, HasCondition("Ready"));
  EXPECT_THAT(kObject, HasCondition("Gone", "False"));
  EXPECT_THAT(kObject, HasCondition("Ready", "True", "Fine"));
  EXPECT_THAT(kObject, HasCondition("Ready", "True", StartsWith("F")));
  EXPECT_THAT(kObject, Not(HasCondition("Ready", "True", "Bad")));
  EXPECT_THAT(kObject, Not(HasCondition("Gone")));
  EXPECT_THAT(kObject, Not(HasCondition("Missing")));
}

TEST(HasCondition, ListsTheExistingConditions) {
  EXPECT_EQ(Explained(HasCondition("Missing"), kObject), "which has Ready=True (Fine), Gone=False");
  EXPECT_EQ(Explained(HasCondition("Missing"), Json::object()), "which has no conditions");
  EXPECT_EQ(Described(HasCondition("Ready", "True", "Fine")),
            "has the condition Ready=True whose reason is equal to \"Fine\"");
}

TEST(HasField, TakesValuesAndMatchersOfAnyKind) {
  EXPECT_THAT(kObject, HasField("spec.replicas", 3));
  EXPECT_THAT(kObject, HasField("spec.replicas", Gt(2)));
  EXPECT_THAT(kObject, HasField("spec.replicas", AllOf(Ge(3), Lt(4u))));
  EXPECT_THAT(kObject, HasField("spec.ratio", 0.5));
  EXPECT_THAT(kObject, HasField("spec.paused", false));
  EXPECT_THAT(kObject, HasField(".status.phase", "Running"));
  EXPECT_THAT(kObject, HasField("status.phase", std::string("Running")));
  EXPECT_THAT(kObject, HasField("status.phase", HasSubstr("unn")));
  EXPECT_THAT(kObject, HasField("status.phase", AnyOf("Pending", "Running")));
  EXPECT_THAT(kObject, HasField("metadata.annotations[\"a.b/c\"]", "x"));
  EXPECT_THAT(kObject, HasField("status.conditions[?(@.type==\"Ready\")].status", "True"));
  EXPECT_THAT(kObject, HasField("status.conditions[1]", Json({{"type", "Gone"}, {"status", "False"}})));
  EXPECT_THAT(kObject, HasField("spec.nothing", nullptr));
  EXPECT_THAT(kObject, Not(HasField("spec.replicas", nullptr)));
  EXPECT_THAT(kObject, Not(HasField("spec.replicas", "3"))) << "a number is not a string";
  EXPECT_THAT(kObject, Not(HasField("status.phase", Gt(2)))) << "nor a string a number";
  EXPECT_THAT(kObject, Not(HasField("spec.nothing", Ge(0))));
}

TEST(HasField, ShowsTheActualValue) {
  EXPECT_EQ(Explained(HasField("spec.replicas", 4), kObject), "whose spec.replicas is 3");
  EXPECT_EQ(Explained(HasField("spec.nothing", 4), kObject), "which has no spec.nothing");
  EXPECT_EQ(Explained(HasField("spec[", 4), kObject), "but spec[ is not a path: a bracket is not closed");
  EXPECT_EQ(Described(HasField("spec.replicas", Gt(4))), "has a field spec.replicas that is > 4");
}

TEST(ObjectThatIsNotThere, MatchesNothingButThat) {
  api::ObjectPtr none;
  EXPECT_THAT(none, Not(Exists()));
  EXPECT_THAT(none, Not(HasCondition("Ready", "False")));
  EXPECT_THAT(none, Not(HasField("spec.nothing", nullptr))) << "there is no object that could lack it";
  EXPECT_EQ(Explained(HasPhase("Running"), none), "which is not there");
}

class InACluster : public TestbedTest {
 protected:
  testbed::TestbedOptions Options() override {
    return {.feature_gates = "DeploymentReplicaSetTerminatingReplicas=true", .nodes = 1};
  }
  void SetUp() override {
    bed().Must(bed().Apply(R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}, annotations: {terrarium.dev/stop-after: 5s}}
    spec: {containers: [{name: c, image: i}]}
)"));
    bed().clock().RunUntilIdle(1min);
  }
};

TEST_F(InACluster, ViewsObjectsAndEventsMatch) {
  EXPECT_THAT(bed().Deployment("web"),
              AllOf(Exists(), HasCondition("Available"), IsRolledOut(), HasReplicas(2), HasReadyReplicas(2),
                    HasAvailableReplicas(Ge(2)), HasUpdatedReplicas(2), HasTerminatingReplicas(0)));
  EXPECT_THAT(bed().Get("deployments", "default", "web"), HasField("spec.replicas", 2));
  EXPECT_THAT(bed().ReplicaSets("app=web"), Each(AllOf(HasReplicas(2), HasTerminatingReplicas(0))));
  EXPECT_THAT(bed().Pods("app=web"), AllOf(SizeIs(2), Each(HasPhase("Running"))));
  EXPECT_THAT(bed().Pods("app!=web"), SizeIs(0));
  EXPECT_THAT(bed().Node("node-0"), HasCondition("Ready"));
  EXPECT_TRUE(bed().Node("node-0").schedulable());
  EXPECT_THAT(bed().Events("Deployment", "web"), HasEvent("ScalingReplicaSet", HasSubstr("from 0 to 2")));
  EXPECT_THAT(bed().Events("Deployment", "web"), Not(HasEvent("Killing")));
  EXPECT_THAT(bed().Events(), HasEvent(_, HasSubstr("Container started")));
  EXPECT_THAT(bed().Events("Pod", "none"), Not(HasEvent(_)));
}

TEST_F(InACluster, APodIsTerminatingFromItsDeletionToItsEnd) {
  std::string pod = bed().Pods("app=web").front().name();
  EXPECT_THAT(bed().Pod(pod), Not(IsTerminating()));
  bed().Must(bed().Delete("pods", {"default", pod}));
  EXPECT_THAT(bed().Pod(pod), IsTerminating());
  bed().clock().Advance(1s);
  EXPECT_THAT(bed().Deployment("web"), HasTerminatingReplicas(1));
  bed().Must(bed().WaitFor("pods", {"default", pod}, "delete", 1min));
  EXPECT_THAT(bed().Pod(pod), Not(Exists()));
}

TEST_F(InACluster, AViewIsShownWithItsStatus) {
  EXPECT_THAT(::testing::PrintToString(bed().Deployment("web")),
              AllOf(StartsWith("default/web at revision "), HasSubstr("\"readyReplicas\":2")));
  EXPECT_EQ(::testing::PrintToString(bed().Pod("none")), "no object");
  EXPECT_THAT(::testing::PrintToString(bed().Events("Deployment", "web").front()),
              StartsWith("Normal ScalingReplicaSet Deployment/web: Scaled up"));
}

TEST_F(InACluster, WaitForSeesStatesThatPass) {
  std::string pod = bed().Pods("app=web").front().name();
  EXPECT_GT(bed().Must(bed().WaitFor("deployments", {"default", "web"}, "create", 1min)), 0);
  auto none = bed().WaitFor("pods", {"default", pod}, "jsonpath={.status.phase}=Failed", 1min);
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.status().code, 504);
  EXPECT_EQ(none.status().message, "timed out waiting for the condition on pods/" + pod);
  EXPECT_EQ(bed().WaitFor("pods", {"default", pod}, "phase", 1min).status().code, 400);
  EXPECT_EQ(bed().WaitFor("puds", {"default", pod}, "create", 1min).status().code, 404);
  bed().Must(bed().Patch("deployments", {"default", "web"}, {{"spec", {{"replicas", 4}}}}));
  std::int64_t at =
      bed().Must(bed().WaitFor("deployments", {"default", "web"}, "jsonpath={.status.replicas}=4", 1min));
  EXPECT_LE(at, bed().control_plane().store().CurrentRevision());
}

TEST_F(InACluster, HoldsAndReleasesPods) {
  std::string pod = bed().Pods("app=web").front().name();
  bed().Must(bed().Hold({"default", pod}, "terminating"));
  bed().Must(bed().Delete("pods", {"default", pod}));
  bed().clock().Advance(1h);
  EXPECT_THAT(bed().Pod(pod), IsTerminating());
  bed().Must(bed().Release({"default", pod}, "terminating", 3));
  bed().clock().RunUntilIdle(1min);
  EXPECT_THAT(bed().Pod(pod), Not(Exists()));
  EXPECT_EQ(bed().Hold({"default", "none"}, "ready").status().code, 404);
}

}  // namespace
}  // namespace terrarium::testing

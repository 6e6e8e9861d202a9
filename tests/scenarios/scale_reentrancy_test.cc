// "Proportional scaling is not re-entrant", k/k#44734: a controller that is stopped between the writes of a
// proportional scale, or one of whose writes fails, resumes the scale and reaches the same sizes as without
// the interruption.

#include <cstdlib>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/check.h"
#include "api/json_access.h"
#include "kubelet-fake/kubelet/pod_rules.h"
#include "testbed/embedding/testbed.h"
#include "tests/scenarios/deployment_component.h"

namespace terrarium::scenarios {
namespace {

using api::Json;
using api::StringAt;
using namespace std::chrono_literals;

constexpr const char* kPrefix = "deployment.kubernetes.io/";
constexpr const char* kBothGates =
    "DeploymentPodReplacementPolicy=true,DeploymentReplicaSetTerminatingReplicas=true";

// A Deployment in mid-rollout.
struct ScaleCase {
  std::string name;
  bool waits = false;  // podReplacementPolicy TerminationComplete
  int replicas = 0;
  int surge = 0;
  std::vector<int> sizes;  // of its ReplicaSets, oldest first
  int terminating = 0;     // pods of another one without replicas
  std::vector<int> scales;
};
std::ostream& operator<<(std::ostream& out, const ScaleCase& scale) { return out << scale.name; }

struct Trouble {
  enum class Kind {
    kNone,
    kStops,      // this write and all later ones are lost; another controller takes over immediately
    kStopsLong,  // the other controller takes over after all scales were requested and all old pods have
                 // ended
    kFails,      // only this write is lost; the controller tries again
  };
  Kind kind = Kind::kNone;
  int write = 0;  // from the first scale on
};

class ScaleStory {
 public:
  ScaleStory(const ScaleCase& scale, const Trouble& trouble)
      : scale_(scale),
        trouble_(trouble),
        // Without a policy that waits for them, pods need no kubelet.
        bed_({.feature_gates = kBothGates,
              .controllers = "*,-deployment-controller",
              .kubelet = scale.terminating > 0,
              .scheduler = scale.terminating > 0,
              .nodes = 1}) {}

  // The final sizes of the ReplicaSets.
  std::vector<int> Run() {
    SetUp();
    auto gates = api::FeatureGates().With(kBothGates);
    CHECK(gates.ok());
    DeploymentComponent component(bed_, *gates);
    Pass(component);
    const int first = component.client().writes;
    if (trouble_.kind != Trouble::Kind::kNone)
      component.client().fails_at = [this, first](int write) { return lost_ = Loses(write - first); };
    for (int replicas : scale_.scales) {
      bed_.Must(bed_.Patch("deployments", {"default", "web"}, {{"spec", {{"replicas", replicas}}}}));
      Pass(component);
    }
    for (int left : {scale_.terminating / 2, 0}) {
      ReleaseAllBut(left);
      Pass(component);
    }
    if (trouble_.kind == Trouble::Kind::kStopsLong) component.Restart();
    Pass(component);
    writes_ = component.client().writes - first;
    ExpectComplete();
    return Sizes();
  }
  int writes() const { return writes_; }

 private:
  bool Loses(int write) const {
    return trouble_.kind == Trouble::Kind::kFails ? write == trouble_.write : write >= trouble_.write;
  }

  void SetUp() {
    if (scale_.terminating > 0) {
      CreateSet("web-0", scale_.terminating);
      bed_.Must(bed_.Patch("replicasets", {"default", "web-0"}, {{"spec", {{"replicas", 0}}}}));
      bed_.clock().Advance(1s);
    }
    for (std::size_t i = 0; i < scale_.sizes.size(); ++i)
      CreateSet("web-" + std::to_string(i + 1), scale_.sizes[i]);
    const Json labels = {{"app", "web"}};
    Json spec = {{"paused", true},
                 {"replicas", scale_.replicas},
                 {"selector", {{"matchLabels", labels}}},
                 {"strategy", {{"rollingUpdate", {{"maxSurge", scale_.surge}, {"maxUnavailable", 1}}}}},
                 {"template",
                  {{"metadata", {{"labels", labels}}},
                   {"spec", {{"containers", {{{"name", "c"}, {"image", "i"}}}}}}}}};
    if (scale_.waits) spec["podReplacementPolicy"] = "TerminationComplete";
    bed_.Must(bed_.Create("deployments", "default", {{"metadata", {{"name", "web"}}}, {"spec", spec}}));
  }

  void CreateSet(const std::string& name, int replicas) {
    const Json labels = {{"app", "web"}, {"set", name}};
    const Json annotations = {
        {std::string(kPrefix) + "desired-replicas", std::to_string(scale_.replicas)},
        {std::string(kPrefix) + "max-replicas", std::to_string(scale_.replicas + scale_.surge)}};
    const Json pods = {
        {"metadata", {{"labels", labels}, {"annotations", {{"terrarium.dev/hold", "terminating"}}}}},
        {"spec", {{"containers", {{{"name", "c"}, {"image", name}}}}}}};
    const Json spec = {{"replicas", replicas}, {"selector", {{"matchLabels", labels}}}, {"template", pods}};
    const Json metadata = {{"name", name}, {"labels", labels}, {"annotations", annotations}};
    bed_.Must(bed_.Create("replicasets", "default", {{"metadata", metadata}, {"spec", spec}}));
    bed_.clock().Advance(1s);  // ages differ
  }

  // Long enough for a controller whose write failed to try again.
  void Pass(DeploymentComponent& component) {
    bed_.clock().Advance(1s);
    if (trouble_.kind != Trouble::Kind::kStops || !std::exchange(lost_, false)) return;
    component.Restart();
    bed_.clock().Advance(1s);
  }

  void ReleaseAllBut(int left) {
    for (const api::ObjectPtr& pod : bed_.List("pods", "default"))
      if (pod->header().deleting && left-- <= 0)
        CHECK(bed_.rules().Release({{"namespace", "default"}, {"pod", pod->header().name}}).ok());
  }

  std::vector<int> Sizes() {
    std::vector<int> sizes;
    for (const api::ObjectPtr& set : bed_.List("replicasets", "default"))
      if (set->header().name != "web-0")
        sizes.push_back(static_cast<int>(api::IntAt(*set->Document(), 0, "spec", "replicas")));
    return sizes;
  }

  // No scale is unfinished.
  void ExpectComplete() {
    std::int64_t sum = 0;
    for (const api::ObjectPtr& set : bed_.List("replicasets", "default")) {
      auto document = set->Document();
      const Json& annotations = api::ObjectAt(*document, "metadata", "annotations");
      sum += api::IntAt(*document, 0, "spec", "replicas");
      EXPECT_FALSE(annotations.contains(std::string(kPrefix) + "replicaset-replicas-before-scale"));
      if (set->header().name == "web-0") continue;
      const int replicas = scale_.scales.back();
      EXPECT_EQ(StringAt(annotations, std::string(kPrefix) + "desired-replicas"), std::to_string(replicas));
      EXPECT_EQ(StringAt(annotations, std::string(kPrefix) + "max-replicas"),
                std::to_string(replicas + scale_.surge));
    }
    EXPECT_EQ(sum, scale_.scales.back() + scale_.surge);
  }

  ScaleCase scale_;
  Trouble trouble_;
  bool lost_ = false;  // the last write
  int writes_ = 0;
  testbed::Testbed bed_;
};

MATCHER_P(IsWithin, off_by, "") { return std::abs(std::get<0>(arg) - std::get<1>(arg)) <= off_by; }

std::vector<ScaleCase> Cases() {
  std::vector<ScaleCase> cases;
  for (bool waits : {false, true}) {
    const std::string policy = waits ? "TerminationComplete" : "NoPolicy";
    const int terminating = waits ? 2 : 0;  // without the policy they are not counted
    // The example of the Kubernetes documentation: 10 replicas, a surge of 3, and a new template that does
    // not become ready.
    cases.push_back({"Documentation" + policy, waits, 10, 3, {8, 5}, 0, {15}});
    // Terminating pods leave room for part of the scale.
    cases.push_back({"Once" + policy, waits, 10, 1, {5, 3, 2}, terminating, {14}});
    cases.push_back({"Twice" + policy, waits, 10, 1, {5, 3, 2}, terminating, {12, 15}});
    // ReplicaSets of nearly the same size, whose order changes when one of them has grown and the others have
    // not.
    cases.push_back({"NearlyEqual" + policy, waits, 8, 1, {3, 3, 2}, terminating, {13}});
    // The whole remainder goes to one of two equal ReplicaSets: to the same one, whichever was written first.
    cases.push_back({"Equals" + policy, waits, 4, 2, {2, 2}, 0, {6}});
    cases.push_back({"Down" + policy, waits, 10, 1, {5, 4, 2}, terminating, {4}});
    cases.push_back({"UpThenDown" + policy, waits, 20, 2, {10, 6, 4}, waits ? 3 : 0, {24, 12}});
  }
  return cases;
}

class ScaleReentrancy : public testing::TestWithParam<ScaleCase> {
 protected:
  // The result for every write at which that can happen. `off_by`: how much each size may differ.
  void ExpectTheSame(Trouble::Kind kind, int off_by = 0) {
    ScaleStory whole(GetParam(), {});
    const std::vector<int> sizes = whole.Run();
    ASSERT_GE(whole.writes(), 2);
    for (int write = 0; write < whole.writes(); ++write) {
      SCOPED_TRACE("write " + std::to_string(write) + " of " + std::to_string(whole.writes()));
      const std::vector<int> after = ScaleStory(GetParam(), {kind, write}).Run();
      EXPECT_THAT(after, testing::Pointwise(IsWithin(off_by), sizes));
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Scales, ScaleReentrancy, testing::ValuesIn(Cases()),
                         [](const auto& info) { return info.param.name; });

TEST_P(ScaleReentrancy, AControllerThatIsReplacedEndsWithTheSameSizes) {
  ExpectTheSame(Trouble::Kind::kStops);
}

// Of two scales during the outage only the second is ever seen, so the rounding of the first one is missing.
TEST_P(ScaleReentrancy, AControllerThatIsAwayForLongEndsWithTheSameSizes) {
  ExpectTheSame(Trouble::Kind::kStopsLong, GetParam().scales.size() > 1 ? 1 : 0);
}

TEST_P(ScaleReentrancy, AWriteThatFailsChangesNothingInTheEnd) { ExpectTheSame(Trouble::Kind::kFails); }

}  // namespace
}  // namespace terrarium::scenarios

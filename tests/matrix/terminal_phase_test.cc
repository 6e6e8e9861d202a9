// KEP-3939, "Set phase=Failed in kubelet and pod-GC before deleting a Pod object (behavior also present when
// related PodDisruptionConditions is enabled)": both gates, on and off, in the component that deletes the
// pod.

#include <chrono>
#include <map>

#include <gtest/gtest.h>

#include "api/core_v1/pod.h"
#include "tests/controllers/node_lifecycle/node_testing.h"
#include "tests/kubelet-fake/kubelet/endless_pods.h"
#include "tests/matrix/sentences.h"

namespace terrarium::matrix {
namespace {

using api::Json;
using controllers::PodHistory;
using controllers::PodOn;
using testbed::Testbed;
using namespace std::chrono_literals;

struct TerminalPhaseCell {
  bool replacement_policy = true;
  bool disruption_conditions = true;

  // Either gate is enough.
  bool PhaseIsSet() const { return replacement_policy || disruption_conditions; }
  std::map<std::string, bool> Gates() const {
    return {{"JobPodReplacementPolicy", replacement_policy},
            {"PodDisruptionConditions", disruption_conditions}};
  }
  std::string Name() const {
    return std::string("JobPodReplacementPolicy") + (replacement_policy ? "On" : "Off") +
           "_PodDisruptionConditions" + (disruption_conditions ? "On" : "Off");
  }
};

class TerminalPhase : public testing::TestWithParam<TerminalPhaseCell> {
 protected:
  void SetGates(const std::string& component) {
    bed_.clock().Advance(1s);
    bed_.Must(bed_.SetGates(component, GetParam().Gates()));
  }
  void ExpectTerminalPhase(PodHistory& history) {
    ASSERT_TRUE(history.Gone());
    const std::vector<std::string> phases = history.Phases();
    EXPECT_EQ(phases.back() == "Failed", GetParam().PhaseIsSet())
        << "the last phase is " << phases.back() << "; this breaks " << sentence::kPhaseBeforeDeletion.source
        << ": " << sentence::kPhaseBeforeDeletion.text;
  }
  Testbed bed_{{.nodes = 1, .pod_defaults = kubelet_fake::EndlessPods()}};
};
INSTANTIATE_TEST_SUITE_P(Matrix, TerminalPhase,
                         testing::Values(TerminalPhaseCell{true, true}, TerminalPhaseCell{true, false},
                                         TerminalPhaseCell{false, true}, TerminalPhaseCell{false, false}),
                         [](const auto& info) { return info.param.Name(); });

TEST_P(TerminalPhase, IsSetByTheKubelet) {
  SetGates("kubelet");
  PodHistory history(bed_, "web");
  Json pod = PodOn("web", "node-0");
  pod["metadata"]["annotations"] = {{"terrarium.dev/stop-exit-code", "1"}};
  bed_.Must(bed_.Create("pods", "default", pod));
  bed_.clock().Advance(10s);
  bed_.Must(bed_.Delete("pods", {"default", "web"}));
  bed_.clock().Advance(1min);
  ExpectTerminalPhase(history);
}

TEST_P(TerminalPhase, IsSetByPodGarbageCollection) {
  SetGates("controller-manager");
  PodHistory history(bed_, "web");
  bed_.Must(bed_.Create("pods", "default", PodOn("web", "nowhere")));
  bed_.clock().Advance(1min);
  ExpectTerminalPhase(history);
  const Json last = history.Last();
  const bool has_condition = api::FindCondition(last, "DisruptionTarget") != nullptr;
  EXPECT_EQ(has_condition, GetParam().disruption_conditions) << sentence::kGcWithoutConditions.text;
}

// "Tests will verify counting of terminating fields regardless of PodDisruptionCondition being on or off."
TEST_P(TerminalPhase, JobsCountTerminatingPodsIndependentOfPodDisruptionConditions) {
  for (const char* component : {"apiserver", "controller-manager", "kubelet"}) SetGates(component);
  Json job = {{"metadata", {{"name", "j"}}},
              {"spec",
               {{"template",
                 {{"metadata", {{"annotations", {{"terrarium.dev/hold", "terminating"}}}}},
                  {"spec",
                   {{"restartPolicy", "Never"},
                    {"containers", Json::array({Json{{"name", "c"}, {"image", "i"}}})}}}}}}}};
  bed_.Must(bed_.Create("jobs", "default", job));
  bed_.clock().Advance(10s);
  bed_.Must(bed_.Evict({"default", bed_.List("pods", "default")[0]->header().name}));
  bed_.clock().Advance(10s);
  const Json status = bed_.Get("jobs", "default", "j")->Parse()["status"];
  ASSERT_EQ(status.contains("terminating"), GetParam().replacement_policy) << status;
  if (GetParam().replacement_policy) {
    EXPECT_EQ(status["terminating"], 1);
  }
}

}  // namespace
}  // namespace terrarium::matrix

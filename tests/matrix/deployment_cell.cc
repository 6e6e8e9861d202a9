#include "tests/matrix/deployment_cell.h"

#include <algorithm>
#include <chrono>
#include <ostream>

#include "api/json_access.h"
#include "tests/controllers/deployment/deployment_testing.h"
#include "tests/matrix/cell_play.h"

namespace terrarium::matrix {
namespace {

using api::Json;
using controllers::deployment::PolicyCase;
using controllers::deployment::WebCluster;
using namespace std::chrono_literals;

constexpr const char* kReplicasBeforeScale = "deployment.kubernetes.io/replicaset-replicas-before-scale";

std::optional<int> NumberAt(const Json& object, std::string_view key) {
  const Json* number = api::Find(object, "status", key);
  return number == nullptr ? std::nullopt : std::optional<int>(number->get<int>());
}

Json StrategyOf(DeploymentAction action) {
  if (IsRecreate(action)) return {{"strategy", {{"type", "Recreate"}, {"rollingUpdate", nullptr}}}};
  return {{"strategy", {{"rollingUpdate", {{"maxSurge", kSurge}, {"maxUnavailable", kUnavailable}}}}}};
}

class DeploymentPlay : public CellPlay {
 public:
  explicit DeploymentPlay(const DeploymentCell& cell)
      : CellPlay(cell.Name(), cell.history),
        cell_(cell),
        model_(cell.action, cell.policy),
        cluster_(Case(),
                 {.controllers = "deployment-controller,node-lifecycle-controller,replicaset-controller",
                  .nodes = 1,
                  .on_violation = Violations()}) {}

 private:
  // All components begin with the gates of the controller-manager in the first phase.
  PolicyCase Case() const {
    const DeploymentGates gates = cell_.GatesIn(phase(0)).controller_manager;
    return {.name = "cell",
            .policy = cell_.policy,
            .policy_gate = gates.policy,
            .terminating_gate = gates.terminating};
  }

  void Switch() override {
    const bool first = number() == 0;
    const ClusterGates gates = cell_.GatesIn(phase());
    const ClusterGates before = cell_.GatesIn(phase(first ? 0 : number() - 1));
    const bool manager = gates.controller_manager != before.controller_manager;
    const bool apiserver = gates.apiserver != (first ? before.controller_manager : before.apiserver);
    // As KEP-3973 requires: the apiserver is upgraded first and downgraded last.
    const bool upgrade = phase().apiserver;
    if (upgrade && apiserver) SetGates("apiserver", gates.apiserver);
    if (manager) SetGates("controller-manager", gates.controller_manager);
    if (!upgrade && apiserver) SetGates("apiserver", gates.apiserver);
    cluster_.Advance(1s);
    model_.Switch(gates, manager);
  }

  void SetGates(const std::string& component, const DeploymentGates& gates) {
    cluster_.bed().Must(cluster_.bed().SetGates(component, gates.Map()));
  }

  void Apply() override {
    if (number() == 0) {
      cluster_.Create(kReplicas, StrategyOf(cell_.action), {{"hold", "terminating"}});
    } else if (cell_.policy) {
      cluster_.PatchSpec({{"podReplacementPolicy", *cell_.policy}});
    }
    cluster_.Advance(1s);
    model_.Apply();
  }

  void Begin() override {
    cluster_.ScaleTo(kReplicas);
    cluster_.Advance(1s);
    cluster_.peak().Restart();
    switch (cell_.action) {
      case DeploymentAction::kRollingUpdate:
      case DeploymentAction::kRecreate: cluster_.SetImage("web:" + std::to_string(number() + 2)); break;
      case DeploymentAction::kScaleUp:
      case DeploymentAction::kScaleUpUnderRecreate:
        cluster_.ScaleTo(kScaledDown);
        cluster_.Advance(1s);
        cluster_.ScaleTo(kReplicas);
        break;
      case DeploymentAction::kScaleDown: cluster_.ScaleTo(kScaledDown); break;
      case DeploymentAction::kEviction: {
        const std::string pod = cluster_.bed().List("pods", "default")[0]->header().name;
        cluster_.bed().Must(cluster_.bed().Evict({"default", pod}));
        break;
      }
    }
    cluster_.Advance(1s);
    model_.Begin();
  }

  void End() override {
    for (int i = 0; i < 4 * kReplicas && (i == 0 || cluster_.Terminating() > 0); ++i) {
      cluster_.ReleaseTerminating(std::max<int>(static_cast<int>(cluster_.Terminating()) - 1, 0));
      cluster_.Advance(1s);
    }
    model_.End();
  }

  void Check(Moment& moment) override {
    DeploymentSight sight;
    const Json document = cluster_.Document();
    if (const Json* policy = api::Find(document, "spec", "podReplacementPolicy"))
      sight.policy = policy->get<std::string>();
    sight.live = static_cast<int>(cluster_.LivePods());
    sight.terminating = static_cast<int>(cluster_.Terminating());
    sight.most = static_cast<int>(cluster_.peak().Most());
    sight.status_replicas = static_cast<int>(cluster_.Counter("replicas"));
    sight.reported = NumberAt(document, "terminatingReplicas");
    for (const Json& set : cluster_.Sets()) {
      sight.reported_by_sets.push_back(NumberAt(set, "terminatingReplicas"));
      sight.partial_scale = sight.partial_scale || !cluster_.Annotation(set, kReplicasBeforeScale).empty();
    }
    sight.complete = cluster_.Complete();
    model_.Check(sight, moment);
  }

  const DeploymentCell& cell_;
  DeploymentModel model_;
  WebCluster cluster_;
};

}  // namespace

std::string DeploymentCell::Name() const {
  return history.Name() + "_" + matrix::NameOf(policy.value_or("NoPolicy")) + "_" + matrix::NameOf(action);
}

ClusterGates DeploymentCell::GatesIn(const Phase& phase) const {
  const bool both = gate == Gate::kTerminating;
  return {.apiserver = {.policy = phase.apiserver, .terminating = phase.apiserver || !both},
          .controller_manager = {.policy = phase.controller_manager,
                                 .terminating = phase.controller_manager || !both}};
}

std::ostream& operator<<(std::ostream& out, const DeploymentCell& cell) { return out << cell.Name(); }

std::vector<DeploymentCell> AllDeploymentCells(DeploymentCell::Gate gate) {
  std::vector<DeploymentCell> cells;
  const std::optional<std::string> policies[] = {std::nullopt, "TerminationStarted", "TerminationComplete"};
  for (const History& history : AllHistories())
    for (const auto& policy : policies)
      for (DeploymentAction action : kDeploymentActions) cells.push_back({gate, history, policy, action});
  return cells;
}

CellReport Play(const DeploymentCell& cell) { return DeploymentPlay(cell).Play(); }

}  // namespace terrarium::matrix

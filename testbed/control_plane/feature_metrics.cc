#include "testbed/control_plane/feature_metrics.h"

namespace terrarium::testbed {
namespace {

constexpr const char* kHead =
    "# HELP kubernetes_feature_enabled [BETA] This metric records the data about the stage and enablement of "
    "a k8s "
    "feature.\n# TYPE kubernetes_feature_enabled gauge\n";

std::string_view NameOf(api::GateStage stage) {
  switch (stage) {
    case api::GateStage::kAlpha: return "ALPHA";
    case api::GateStage::kBeta: return "BETA";
    case api::GateStage::kStable: break;  // Kubernetes writes an empty one
  }
  return "";
}

}  // namespace

std::string FeatureMetricsText(std::span<const ComponentInfo> components) {
  std::string out = kHead;
  for (const ComponentInfo& component : components) {
    if (!component.running) continue;
    for (const api::GateDef& gate : api::AllGates()) {
      out += "kubernetes_feature_enabled{component=\"" + component.name + "\",name=\"" +
             std::string(gate.name) + "\",stage=\"" + std::string(NameOf(gate.stage)) + "\"} " +
             (component.gates.Enabled(gate.name) ? "1" : "0") + "\n";
    }
  }
  return out;
}

}  // namespace terrarium::testbed

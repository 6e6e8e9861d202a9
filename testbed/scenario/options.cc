#include "testbed/scenario/options.h"

#include "api/base/clock.h"
#include "api/base/feature_gates.h"
#include "api/codec/yaml.h"
#include "api/pod_script/pod_script.h"
#include "controllers/controller_table.h"
#include "testbed/scenario/shapes.h"

namespace terrarium::testbed::scenario {
namespace {

using Type = Shape::Type;
using api::YamlPathBelow;

// {A: true} as "A=true".
std::string GatesText(const Json& gates) {
  std::string out;
  for (const auto& [name, on] : gates.items())
    out += (out.empty() ? "" : ",") + name + (on ? "=true" : "=false");
  return out;
}

std::string ControllersText(const Json& list) {
  std::string out;
  for (const Json& name : list) out += (out.empty() ? "" : ",") + name.get<std::string>();
  return out;
}

}  // namespace

const Shape& OptionsShape() {
  static const Shape seeds{.type = Type::kList, .is = "a list of seeds", .of = &NotNegative(), .least = 1};
  static const Shape by_component{
      .type = Type::kMap, .is = "component", .words = ComponentName().words, .of = &GateValues()};
  static const Shape shape{
      .type = Type::kFields,
      .is = "options",
      .members = {
          {"seeds", seeds,
           "of uids, names and the order of work; the scenario runs once for each. [1] by default"},
          {"featureGates", GateValues(), "gates of all components, where they differ from their defaults"},
          {"componentFeatureGates", by_component, "gates of one component, on top of featureGates"},
          {"nodes", NotNegative(), "how many nodes there are: node-0, node-1, ...; 3 by default"},
          {"controllers", Texts(),
           "which controllers run, as kube-controller-manager's --controllers; [\"*\"] by default"},
          {"scheduler", AnyBoolean(), "false: no pod is bound to a node"},
          {"kubelet", AnyBoolean(), "false: no pod runs, and there are no nodes"},
          {"podDefaults", ScriptKeys(),
           "how pods without a pod script behave: keys of a pod script without terrarium.dev/"},
          {"startTime", TimeText(), "the time at the start; 2026-01-01T00:00:00Z by default"},
      }};
  return shape;
}

void CheckOptions(const Json& options, const std::string& path, Mistakes& mistakes) {
  api::FeatureGates gates;
  if (options.contains("featureGates")) {
    auto with = gates.With(GatesText(options["featureGates"]));
    if (with)
      gates = *with;
    else
      mistakes.push_back({YamlPathBelow(path, "featureGates"), with.status().message});
  }
  if (options.contains("componentFeatureGates")) {
    const std::string its_path = YamlPathBelow(path, "componentFeatureGates");
    for (const auto& [component, values] : options["componentFeatureGates"].items())
      if (auto with = gates.With(GatesText(values)); !with)
        mistakes.push_back({YamlPathBelow(its_path, component), with.status().message});
  }
  if (options.contains("controllers"))
    if (auto known = controllers::SelectControllers(ControllersText(options["controllers"])); !known)
      mistakes.push_back({YamlPathBelow(path, "controllers"), known.status().message});
}

TestbedOptions OptionsOf(const Json& options) {
  TestbedOptions out;
  out.quiet = true;  // what matters is in the timeline
  if (options.contains("featureGates")) out.feature_gates = GatesText(options["featureGates"]);
  if (options.contains("componentFeatureGates"))
    for (const auto& [component, gates] : options["componentFeatureGates"].items())
      out.component_feature_gates[component] = GatesText(gates);
  if (options.contains("podDefaults"))
    CHECK(api::ParseScriptKeys(options["podDefaults"], api::Path(), &out.pod_defaults).empty());
  if (options.contains("nodes")) out.nodes = options["nodes"].get<int>();
  if (options.contains("controllers")) out.controllers = ControllersText(options["controllers"]);
  if (options.contains("scheduler")) out.scheduler = options["scheduler"].get<bool>();
  if (options.contains("kubelet")) out.kubelet = options["kubelet"].get<bool>();
  if (options.contains("startTime"))
    out.start = *api::ParseTime(options["startTime"].get_ref<const std::string&>());
  return out;
}

}  // namespace terrarium::testbed::scenario

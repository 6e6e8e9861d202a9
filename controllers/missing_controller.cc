#include "controllers/missing_controller.h"

#include <algorithm>

namespace terrarium::controllers {
namespace {

struct Actor {
  std::string_view resource;
  std::string_view controller;
};

constexpr Actor kActors[] = {
    {"certificatesigningrequests", "certificatesigningrequest-signing-controller"},
    {"cronjobs", "cronjob-controller"},
    {"daemonsets", "daemonset-controller"},
    {"deployments", "deployment-controller"},
    {"horizontalpodautoscalers", "horizontal-pod-autoscaler-controller"},
    {"jobs", "job-controller"},
    {"persistentvolumeclaims", "persistentvolume-binder-controller"},
    {"persistentvolumes", "persistentvolume-binder-controller"},
    {"poddisruptionbudgets", "disruption-controller"},
    {"replicasets", "replicaset-controller"},
    {"replicationcontrollers", "replicationcontroller-controller"},
    {"resourceclaims", "resourceclaim-controller"},
    {"resourceclaimtemplates", "resourceclaim-controller"},
    {"resourcequotas", "resourcequota-controller"},
    {"servicecidrs", "service-cidr-controller"},
    {"services", "endpointslice-controller"},
    {"statefulsets", "statefulset-controller"},
    {"validatingadmissionpolicies", "validatingadmissionpolicy-status-controller"},
};

bool RunsHere(const ControllerEntry* entry) { return entry->make != nullptr; }

}  // namespace

std::string WhyNothingActsOn(std::string_view resource, std::span<const ControllerEntry* const> selected) {
  const auto actor = std::find_if(std::begin(kActors), std::end(kActors),
                                  [&](const Actor& each) { return each.resource == resource; });
  if (actor == std::end(kActors) || std::none_of(selected.begin(), selected.end(), RunsHere)) return "";
  const auto all = AllControllers();
  const auto entry = std::find_if(
      all.begin(), all.end(), [&](const ControllerEntry& each) { return each.name == actor->controller; });
  const std::string name(actor->controller);
  if (!RunsHere(&*entry))
    return "nothing acts on " + std::string(resource) + " here: Terrarium has no " + name;
  if (std::find(selected.begin(), selected.end(), &*entry) != selected.end()) return "";
  return "nothing acts on " + std::string(resource) + " here: " + name + " was not selected by --controllers";
}

}  // namespace terrarium::controllers

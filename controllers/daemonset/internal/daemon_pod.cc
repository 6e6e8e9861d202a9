#include "controllers/daemonset/internal/daemon_pod.h"

#include <charconv>
#include <utility>

#include "api/core_v1/taint.h"
#include "api/json_access.h"
#include "controllers/history/revision.h"
#include "controllers/runtime/owner_references.h"

namespace terrarium::controllers::daemonset {
namespace {

using api::Json;

constexpr const char* kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
constexpr std::string_view kNameField = "metadata.name";

// Replaces a toleration that differs only in its seconds, otherwise adds one.
void Tolerate(Json& tolerations, std::string_view key, std::string_view effect) {
  const Json wanted = {{"key", key}, {"operator", "Exists"}, {"effect", effect}};
  bool found = false;
  for (Json& toleration : tolerations) {
    const bool same =
        api::StringAt(toleration, "key") == key && api::StringAt(toleration, "effect") == effect &&
        api::StringAt(toleration, "operator") == "Exists" && api::StringAt(toleration, "value").empty();
    if (!same) continue;
    toleration = wanted;
    found = true;
  }
  if (!found) tolerations.push_back(wanted);
}

}  // namespace

Json DaemonTolerations(const Json& pod_spec) {
  Json tolerations = api::ListAt(pod_spec, "tolerations");
  Tolerate(tolerations, api::taint::kNotReady, api::taint::kNoExecute);
  Tolerate(tolerations, api::taint::kUnreachable, api::taint::kNoExecute);
  Tolerate(tolerations, api::taint::kDiskPressure, api::taint::kNoSchedule);
  Tolerate(tolerations, api::taint::kMemoryPressure, api::taint::kNoSchedule);
  Tolerate(tolerations, api::taint::kPidPressure, api::taint::kNoSchedule);
  Tolerate(tolerations, api::taint::kUnschedulable, api::taint::kNoSchedule);
  if (api::BoolAt(pod_spec, "hostNetwork"))
    Tolerate(tolerations, api::taint::kNetworkUnavailable, api::taint::kNoSchedule);
  return tolerations;
}

std::string TemplateGeneration(const Json& daemon_set) {
  const std::string_view text = api::StringAt(daemon_set, "metadata", "annotations", kGenerationAnnotation);
  std::int64_t generation = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), generation);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return "";
  return std::to_string(generation);
}

Json PodTemplateFor(const api::Object& owner, const Json& daemon_set, std::string_view hash) {
  const Json& of_template = api::ObjectAt(daemon_set, "spec", "template");
  Json metadata = {{"generateName", owner.header().name + "-"}};
  for (const char* field : {"labels", "annotations", "finalizers"})
    if (const Json* value = api::Find(of_template, "metadata", field)) metadata[field] = *value;
  const std::string generation = TemplateGeneration(daemon_set);
  if (!generation.empty()) metadata["labels"][std::string(kGenerationLabel)] = generation;
  if (!hash.empty()) metadata["labels"][std::string(history::kRevisionHashLabel)] = hash;
  metadata["ownerReferences"] = Json::array({ControllerReference(owner, "apps/v1", "DaemonSet")});
  Json spec = api::ObjectAt(of_template, "spec");
  spec["tolerations"] = DaemonTolerations(spec);
  return {{"metadata", std::move(metadata)}, {"spec", std::move(spec)}};
}

void PinToNode(Json& pod, std::string_view node) {
  Json requirement = {{"key", kNameField}, {"operator", "In"}, {"values", Json::array({node})}};
  Json term;
  term["matchFields"] = Json::array({std::move(requirement)});
  pod["spec"]["affinity"]["nodeAffinity"][kRequired]["nodeSelectorTerms"] = Json::array({std::move(term)});
}

std::string TargetNode(const api::Object& pod, const Json& document) {
  if (!api::PodNodeName(pod).empty()) return api::PodNodeName(pod);
  for (const Json& term :
       api::ListAt(document, "spec", "affinity", "nodeAffinity", kRequired, "nodeSelectorTerms")) {
    for (const Json& field : api::ListAt(term, "matchFields")) {
      if (api::StringAt(field, "key") != kNameField || api::StringAt(field, "operator") != "In") continue;
      const Json& values = api::ListAt(field, "values");
      return values.size() == 1 ? values[0].get<std::string>() : std::string();
    }
  }
  return "";
}

api::Time DaemonPod::AvailableFrom(api::Duration min_ready) const {
  if (!ready) return kNoTime;
  if (min_ready == api::Duration::zero()) return api::Time::min();
  return ready_since == kNoTime ? kNoTime : ready_since + min_ready;
}

DaemonPod ReadDaemonPod(const api::ObjectPtr& pod, const Json& document) {
  const api::PodReadiness readiness = api::ReadinessOf(document);
  return {
      .pod = pod,
      .bound = !api::PodNodeName(*pod).empty(),
      .deleting = pod->header().deleting,
      .phase = api::ParsePhase(api::PodPhase(*pod)),
      .ready = readiness.ready,
      .ready_since = readiness.since.value_or(kNoTime),
      .created = api::ParseTime(api::StringAt(document, "metadata", "creationTimestamp")).value_or(kNoTime)};
}

}  // namespace terrarium::controllers::daemonset

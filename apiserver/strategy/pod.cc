#include <array>

#include "api/json_access.h"
#include "apiserver/strategies.h"
#include "apiserver/strategy/internal/pod_admission.h"
#include "apiserver/validation/metadata.h"
#include "apiserver/validation/pod_template.h"

namespace terrarium::apiserver {
namespace {

using api::Find;
using api::IntAt;
using api::ListAt;
using api::ObjectAt;
using api::StringAt;

std::string SpecText(const Json& pod, const char* field) { return std::string(StringAt(pod, "spec", field)); }
std::string StatusText(const Json& pod, const char* field) {
  return std::string(StringAt(pod, "status", field));
}

std::string FirstPodIp(const Json& pod) {
  const Json& ips = ListAt(pod, "status", "podIPs");
  return ips.empty() ? "" : std::string(StringAt(ips[0], "ip"));
}

constexpr std::array<SelectableField, 7> kSelectableFields = {{
    {"spec.restartPolicy", [](const Json& pod) { return SpecText(pod, "restartPolicy"); }},
    {"spec.schedulerName", [](const Json& pod) { return SpecText(pod, "schedulerName"); }},
    {"spec.serviceAccountName", [](const Json& pod) { return SpecText(pod, "serviceAccountName"); }},
    {"spec.hostNetwork",
     [](const Json& pod) { return std::string(api::BoolAt(pod, "spec", "hostNetwork") ? "true" : "false"); }},
    {"status.podIP", FirstPodIp},
    // Kubernetes takes the name but gives it no value.
    {"status.podIPs", [](const Json&) { return std::string(); }},
    {"status.nominatedNodeName", [](const Json& pod) { return StatusText(pod, "nominatedNodeName"); }},
}};

constexpr api::Keep kContainerRules[] = {{"name"}, {"restartPolicy"}, {"restartPolicyRules"}};
constexpr api::Keep kSpecOfStatusRules[] = {{"containers", kContainerRules},
                                            {"ephemeralContainers", kContainerRules},
                                            {"initContainers", kContainerRules},
                                            {"nodeName"},
                                            {"os"},
                                            {"resourceClaims"},
                                            {"restartPolicy"}};
constexpr api::Keep kReadForStatusUpdate[] = {{"metadata"}, {"spec", kSpecOfStatusRules}, {"status"}};
constexpr api::Keep kSpecOfDeletion[] = {{"nodeName"}, {"terminationGracePeriodSeconds"}};
constexpr api::Keep kStatusOfDeletion[] = {{"phase"}};
constexpr api::Keep kReadForDeletion[] = {
    {"metadata"}, {"spec", kSpecOfDeletion}, {"status", kStatusOfDeletion}};

// podIP is the first of podIPs; a writer who knows one of them has both.
void PairPodIps(Json& status) {
  const std::string ip(StringAt(status, "podIP"));
  const Json& ips = ListAt(status, "podIPs");
  const std::string first = ips.empty() ? "" : std::string(StringAt(ips[0], "ip"));
  if (ip == first) return;
  if (ip.empty()) {
    status["podIP"] = first;
  } else {
    status["podIPs"] = Json::array({Json{{"ip", ip}}});
  }
}

// A writer that does not know observedGeneration keeps what others wrote there.
void KeepObservedGenerations(Json& status, const Json& old_status) {
  if (IntAt(status, 0, "observedGeneration") == 0 && Find(old_status, "observedGeneration") != nullptr) {
    status["observedGeneration"] = old_status["observedGeneration"];
  }
  const auto conditions = status.find("conditions");
  if (conditions == status.end()) return;
  for (Json& condition : *conditions) {
    if (IntAt(condition, 0, "observedGeneration") != 0) continue;
    for (const Json& old : ListAt(old_status, "conditions")) {
      if (StringAt(old, "type") != StringAt(condition, "type")) continue;
      if (const Json* generation = Find(old, "observedGeneration"))
        condition["observedGeneration"] = *generation;
      break;
    }
  }
}

PodValidationOptions Options(const StrategyContext& context, const Json* old) {
  PodValidationOptions options = PodOptions(context, old);
  options.resource_is_pod = true;
  return options;
}

class Pod final : public Strategy {
 public:
  void Default(Json& object) const override {
    DefaultPod(object);
    if (const auto status = object.find("status"); status != object.end() && status->is_object())
      PairPodIps(*status);
  }

  void PrepareForCreate(const StrategyContext& context, Json& object) const override {
    Json& spec = object["spec"];
    if (!spec.is_object()) spec = Json::object();
    AddDefaultTolerations(spec);
    MergeMatchLabelKeys(spec, ObjectAt(object, "metadata", "labels"));
    Json status = {{"phase", "Pending"}, {"qosClass", PodQosClass(spec)}};
    if (!ListAt(spec, "schedulingGates").empty()) {
      status["conditions"] = Json::array({SchedulingGatedCondition(context.now)});
    }
    object["status"] = std::move(status);
  }

  FieldErrors Validate(const StrategyContext& context, const Json& object) const override {
    return ValidatePodCreate(object, Options(context, nullptr));
  }

  void PrepareForUpdate(const StrategyContext& /*context*/, Json& object, const Json& old) const override {
    Json& spec = object["spec"];
    if (!spec.is_object()) spec = Json::object();
    AddDefaultTolerations(spec);
    for (const char* field : {"priority", "preemptionPolicy"}) {
      const Json* value = Find(old, "spec", field);
      if (value != nullptr && Find(spec, field) == nullptr) spec[field] = *value;
    }
  }

  FieldErrors ValidateUpdate(const StrategyContext& context, const Json& object,
                             const Json& old) const override {
    return ValidatePodUpdate(object, old, Options(context, &old));
  }

  void PrepareForStatusUpdate(const StrategyContext& /*context*/, Json& object,
                              const Json& old) const override {
    Json& metadata = object["metadata"];
    if (Find(old, "metadata", "deletionTimestamp") == nullptr) metadata.erase("deletionTimestamp");
    if (const Json* owners = Find(old, "metadata", "ownerReferences"))
      metadata["ownerReferences"] = *owners;
    else
      metadata.erase("ownerReferences");
    Json& status = object["status"];
    if (!status.is_object()) status = Json::object();
    if (StringAt(status, "qosClass").empty() && Find(old, "status", "qosClass") != nullptr) {
      status["qosClass"] = StringAt(old, "status", "qosClass");
    }
    KeepObservedGenerations(status, ObjectAt(old, "status"));
  }

  FieldErrors ValidateStatusUpdate(const StrategyContext& context, const Json& object,
                                   const Json& old) const override {
    return ValidatePodStatusUpdate(object, old, Options(context, &old));
  }

  std::vector<std::string> Warnings(const StrategyContext& /*context*/, const Json& object,
                                    const Json* old) const override {
    if (old != nullptr) return {};
    std::vector<std::string> warnings;
    if (const Messages messages = IsDns1123Label(StringAt(object, "metadata", "name")); !messages.empty()) {
      std::string text =
          "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a DNS "
          "label is "
          "recommended: [";
      for (const std::string& message : messages) text.append(text.back() == '[' ? "" : " ").append(message);
      warnings.push_back(text + "]");
    }
    for (std::string& text : PodSpecWarnings(object, api::Path())) warnings.push_back(std::move(text));
    return warnings;
  }

  std::span<const SelectableField> SelectableFields() const override { return kSelectableFields; }
  std::span<const api::Keep> ReadForStatusUpdate() const override { return kReadForStatusUpdate; }
  std::span<const api::Keep> ReadForDeletion() const override { return kReadForDeletion; }
  bool ReturnsDeletedObject() const override { return true; }
};

}  // namespace

const Strategy& PodStrategy() {
  static const Pod strategy;
  return strategy;
}

}  // namespace terrarium::apiserver

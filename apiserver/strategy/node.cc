#include <set>

#include "api/base/quantity.h"
#include "apiserver/strategies.h"
#include "apiserver/strategy/internal/checks.h"
#include "apiserver/strategy/internal/ip.h"
#include "apiserver/validation/formats.h"

namespace terrarium::apiserver {
namespace {

using namespace strategy;  // NOLINT: the helpers of this folder

void Taints(FieldErrors& errors, const Json& taints, const Path& path) {
  std::set<std::pair<std::string_view, std::string_view>> seen;
  for (std::size_t i = 0; i < taints.size(); ++i) {
    const Path here = path.Index(i);
    const std::string_view key = StringAt(taints[i], "key");
    const std::string_view value = StringAt(taints[i], "value");
    const std::string_view effect = StringAt(taints[i], "effect");
    api::Append(errors, ValidateLabelName(key, here.Child("key")));
    if (const auto wrong = IsValidLabelValue(value); !wrong.empty()) {
      std::string text;
      for (const std::string& message : wrong) text.append(text.empty() ? "" : ";").append(message);
      errors.push_back(api::InvalidError(here.Child("value"), value, text));
    }
    if (effect.empty()) {
      errors.push_back(api::RequiredError(here.Child("effect")));
    } else {
      OneOf(errors, here.Child("effect"), effect, {"NoSchedule", "PreferNoSchedule", "NoExecute"});
    }
    if (!seen.emplace(key, effect).second) {
      api::FieldError duplicate = api::DuplicateError(here, taints[i]);
      duplicate.message += ": taints must be unique by key and effect pair";
      errors.push_back(std::move(duplicate));
    }
  }
}

// Resources with integer amounts: object counts and extended resources.
bool ComesInPieces(std::string_view resource) {
  static const std::set<std::string_view> kCounted = {
      "pods",       "resourcequotas",         "services",           "replicationcontrollers", "secrets",
      "configmaps", "persistentvolumeclaims", "services.nodeports", "services.loadbalancers"};
  if (kCounted.contains(resource)) return true;
  const bool native = resource.find('/') == std::string_view::npos ||
                      resource.find("kubernetes.io/") != std::string_view::npos;
  return !native && !resource.starts_with("requests.");
}

void Resources(FieldErrors& errors, const Json& status) {
  for (const char* list : {"capacity", "allocatable"}) {
    for (const auto& [name, value] : ObjectAt(status, list).items()) {
      const Path path = Path("status").Child(list, name);
      std::string error;
      const auto amount = api::Quantity::Parse(value.get_ref<const std::string&>(), &error);
      if (!amount) continue;  // unreachable: the codec has parsed it already
      if (amount->Sign() < 0) {
        errors.push_back(api::InvalidError(path, value, "must be greater than or equal to 0"));
      }
      if (ComesInPieces(name) && amount->MilliValue() % 1000 != 0) {
        errors.push_back(api::InvalidError(path, value, "must be an integer"));
      }
    }
  }
}

void PodCidrs(FieldErrors& errors, const Json& cidrs) {
  const Path path = Path("spec").Child("podCIDRs");
  for (std::size_t i = 0; i < cidrs.size(); ++i) {
    ValidCidr(errors, cidrs[i].get_ref<const std::string&>(), {}, path.Index(i));
  }
  if (cidrs.size() < 2) return;
  const bool dual =
      FamilyOf(cidrs[0].get_ref<const std::string&>()) != FamilyOf(cidrs[1].get_ref<const std::string&>());
  if (!dual || cidrs.size() > 2) {
    errors.push_back(api::InvalidError(path, cidrs, "may specify no more than one CIDR for each IP family"));
  }
}

FieldErrors WholeNode(const Json& object, NameCheck rule) {
  FieldErrors errors = NewMetadata(object, false, rule);
  // Taints belong to the spec, but Kubernetes reports their errors below metadata.
  Taints(errors, ListAt(object, "spec", "taints"), Path("metadata").Child("taints"));
  Resources(errors, ObjectAt(object, "status"));
  PodCidrs(errors, ListAt(object, "spec", "podCIDRs"));
  return errors;
}

FieldErrors Changes(const Json& object, const Json& old) {
  FieldErrors errors = ChangedMetadata(object, old);
  const Path spec("spec");
  Resources(errors, ObjectAt(object, "status"));
  std::set<std::pair<std::string_view, std::string_view>> seen;
  const Json& addresses = ListAt(object, "status", "addresses");
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    if (!seen.emplace(StringAt(addresses[i], "type"), StringAt(addresses[i], "address")).second) {
      errors.push_back(api::DuplicateError(Path("status").Child("addresses").Index(i), addresses[i]));
    }
  }
  const Json& cidrs = ListAt(old, "spec", "podCIDRs");
  if (!cidrs.empty() && cidrs != ListAt(object, "spec", "podCIDRs")) {
    errors.push_back(api::ForbiddenError(spec.Child("podCIDRs"),
                                         "node updates may not change podCIDR except from \"\" to valid"));
  }
  const std::string_view provider = StringAt(old, "spec", "providerID");
  if (!provider.empty() && provider != StringAt(object, "spec", "providerID")) {
    errors.push_back(api::ForbiddenError(spec.Child("providerID"),
                                         "node updates may not change providerID except from \"\" to valid"));
  }
  Taints(errors, ListAt(object, "spec", "taints"), Path("metadata").Child("taints"));
  if (StringAt(object, "spec", "externalID") != StringAt(old, "spec", "externalID")) {
    errors.push_back(api::ForbiddenError(spec.Child("externalID"), "may not be updated"));
  }
  return errors;
}

// Makes podCIDR the first of podCIDRs when a client sets only one of them. If they disagree, podCIDR wins.
void AlignPodCidrs(Json& spec) {
  const std::string first(StringAt(spec, "podCIDR"));
  const Json& list = ListAt(spec, "podCIDRs");
  if (!first.empty()) {
    if (list.empty() || list[0] != first) spec["podCIDRs"] = Json::array({first});
  } else if (!list.empty()) {
    const Json primary = list[0];
    spec["podCIDR"] = primary;
  }
}

std::string Unschedulable(const Json& object) {
  return BoolAt(object, "spec", "unschedulable") ? "true" : "false";
}

constexpr SelectableField kFields[] = {{"spec.unschedulable", Unschedulable}};

// Adds the not-ready taint to a new node, as Kubernetes' admission plugin TaintNodesByCondition does. The
// node lifecycle controller removes the taint when the node is ready.
void TaintUntilReady(Json& node) {
  static constexpr const char* kNotReady = "node.kubernetes.io/not-ready";
  for (const Json& taint : ListAt(node, "spec", "taints"))
    if (StringAt(taint, "key") == kNotReady && StringAt(taint, "effect") == "NoSchedule") return;
  node["spec"]["taints"].push_back({{"key", kNotReady}, {"effect", "NoSchedule"}});
}

class Node final : public Strategy {
 public:
  // A kubelet registers its node and the status in one request, so a create must keep the status.
  // PrepareForUpdate protects the status from updates.
  bool HasStatus() const override { return false; }
  bool HasGeneration() const override { return false; }

  void Default(Json& object) const override {
    if (Find(object, "spec") != nullptr) AlignPodCidrs(object["spec"]);
    if (Find(object, "status", "allocatable") != nullptr) return;
    if (const Json* capacity = Find(object, "status", "capacity")) {
      const Json copy = *capacity;
      object["status"]["allocatable"] = copy;
    }
  }

  // spec.configSource and status.config belong to DynamicKubeletConfig, which Kubernetes has removed.
  void PrepareForCreate(const StrategyContext& /*context*/, Json& object) const override {
    if (Find(object, "spec") != nullptr) object["spec"].erase("configSource");
    if (Find(object, "status") != nullptr) object["status"].erase("config");
    TaintUntilReady(object);
  }

  void PrepareForUpdate(const StrategyContext& /*context*/, Json& object, const Json& old) const override {
    if (Find(old, "spec", "configSource") == nullptr && Find(object, "spec") != nullptr) {
      object["spec"].erase("configSource");
    }
    object["status"] = ObjectAt(old, "status");
  }

  void PrepareForStatusUpdate(const StrategyContext& /*context*/, Json& object,
                              const Json& old) const override {
    if (Find(old, "status", "config") == nullptr && Find(object, "status") != nullptr)
      object["status"].erase("config");
  }

  FieldErrors Validate(const StrategyContext& /*context*/, const Json& object) const override {
    return WholeNode(object, NameRule());
  }

  FieldErrors ValidateUpdate(const StrategyContext& /*context*/, const Json& object,
                             const Json& old) const override {
    FieldErrors errors = WholeNode(object, NameRule());
    api::Append(errors, Changes(object, old));
    return errors;
  }

  FieldErrors ValidateStatusUpdate(const StrategyContext& /*context*/, const Json& object,
                                   const Json& old) const override {
    return Changes(object, old);
  }

  std::vector<std::string> Warnings(const StrategyContext& /*context*/, const Json& object,
                                    const Json* /*old*/) const override {
    std::vector<std::string> warnings;
    if (Find(object, "spec", "configSource") != nullptr) {
      warnings.push_back("spec.configSource: the feature is removed");
    }
    if (!StringAt(object, "spec", "externalID").empty()) {
      warnings.push_back("spec.externalID: this field is deprecated, and is unused by Kubernetes");
    }
    return warnings;
  }

  std::span<const SelectableField> SelectableFields() const override { return kFields; }
};

}  // namespace

const Strategy& NodeStrategy() {
  static const Node strategy;
  return strategy;
}

}  // namespace terrarium::apiserver

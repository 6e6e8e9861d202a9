#include "apiserver/strategies.h"
#include "apiserver/strategy/internal/checks.h"
#include "apiserver/strategy/internal/service_allocation.h"
#include "apiserver/strategy/internal/service_validation.h"

namespace terrarium::apiserver {
namespace {

using namespace strategy;  // NOLINT: the helpers of this folder

constexpr std::int64_t kDefaultAffinitySeconds = 10800;

void DefaultPorts(Json& spec) {
  if (ListAt(spec, "ports").empty()) return;
  for (Json& port : spec["ports"]) {
    const Json* target = Find(port, "targetPort");
    if (target == nullptr || *target == 0 || *target == "") port["targetPort"] = IntAt(port, 0, "port");
  }
}

void DefaultAffinity(Json& spec) {
  const std::string_view affinity = StringAt(spec, "sessionAffinity");
  if (affinity == "None") spec.erase("sessionAffinityConfig");
  if (affinity == "ClientIP" &&
      Find(spec, "sessionAffinityConfig", "clientIP", "timeoutSeconds") == nullptr) {
    spec["sessionAffinityConfig"] = {{"clientIP", {{"timeoutSeconds", kDefaultAffinitySeconds}}}};
  }
}

std::string ClusterIp(const Json& object) { return std::string(StringAt(object, "spec", "clusterIP")); }
std::string Type(const Json& object) { return std::string(StringAt(object, "spec", "type")); }

constexpr SelectableField kFields[] = {{"spec.clusterIP", ClusterIp}, {"spec.type", Type}};

class Service final : public Strategy {
 public:
  NameCheck NameRule() const override { return NameIsDnsLabel; }
  bool ReturnsDeletedObject() const override { return true; }
  bool HasGeneration() const override { return false; }
  bool AllowCreateOnUpdate() const override { return true; }

  void Default(Json& object) const override {
    Json& spec = ObjectField(object, "spec");
    DefaultPorts(spec);
    DefaultAffinity(spec);
    if (IsExternallyAccessible(object) && StringAt(spec, "externalTrafficPolicy").empty()) {
      spec["externalTrafficPolicy"] = "Cluster";
    }
    const std::string_view type = StringAt(spec, "type");
    if (Find(spec, "internalTrafficPolicy") == nullptr && (type == "ClusterIP" || NeedsNodePorts(object))) {
      spec["internalTrafficPolicy"] = "Cluster";
    }
    if (type != "LoadBalancer") return;
    if (Find(spec, "allocateLoadBalancerNodePorts") == nullptr) spec["allocateLoadBalancerNodePorts"] = true;
    if (ListAt(object, "status", "loadBalancer", "ingress").empty()) return;
    for (Json& point : object["status"]["loadBalancer"]["ingress"]) {
      if (!StringAt(point, "ip").empty() && Find(point, "ipMode") == nullptr) point["ipMode"] = "VIP";
    }
  }

  void PrepareForCreate(const StrategyContext& /*context*/, Json& object) const override {
    AllocateService(object);
  }

  void PrepareForUpdate(const StrategyContext& /*context*/, Json& object, const Json& old) const override {
    ReallocateService(object, old);
  }

  FieldErrors Validate(const StrategyContext& /*context*/, const Json& object) const override {
    FieldErrors errors = ServiceAllocationErrors(object, nullptr);
    if (!errors.empty()) return errors;
    errors = NewMetadata(object, true, NameRule());
    api::Append(errors, ValidateServiceSpec(object, nullptr));
    return errors;
  }

  FieldErrors ValidateUpdate(const StrategyContext& /*context*/, const Json& object,
                             const Json& old) const override {
    FieldErrors errors = ServiceAllocationErrors(object, &old);
    if (!errors.empty()) return errors;
    errors = ChangedMetadata(object, old);
    api::Append(errors, ValidateServiceChanges(object, old));
    api::Append(errors, ValidateServiceSpec(object, &old));
    return errors;
  }

  FieldErrors ValidateStatusUpdate(const StrategyContext& /*context*/, const Json& object,
                                   const Json& old) const override {
    return ValidateServiceStatus(object, old);
  }

  std::vector<std::string> Warnings(const StrategyContext& /*context*/, const Json& object,
                                    const Json* /*old*/) const override {
    const Json& spec = ObjectAt(object, "spec");
    const bool external_name = StringAt(spec, "type") == "ExternalName";
    const bool external_ips = !ListAt(spec, "externalIPs").empty();
    std::vector<std::string> warnings;
    if (IsHeadless(object)) {
      if (!StringAt(spec, "loadBalancerIP").empty()) {
        warnings.push_back("spec.loadBalancerIP is ignored for headless services");
      }
      if (external_ips) warnings.push_back("spec.externalIPs is ignored for headless services");
      if (StringAt(spec, "sessionAffinity") != "None") {
        warnings.push_back("spec.SessionAffinity is ignored for headless services");
      }
    } else if (external_ips && !external_name) {
      warnings.push_back("spec.externalIPs is deprecated and may no longer be implemented in some clusters");
    }
    if (external_name && external_ips) {
      warnings.push_back("spec.externalIPs is ignored when spec.type is \"ExternalName\"");
    }
    if (!external_name && !StringAt(spec, "externalName").empty()) {
      warnings.push_back("spec.externalName is ignored when spec.type is not \"ExternalName\"");
    }
    if (StringAt(spec, "trafficDistribution") == "PreferClose") {
      warnings.push_back("spec.trafficDistribution: \"PreferClose\" is deprecated; use \"PreferSameZone\"");
    }
    return warnings;
  }

  std::span<const SelectableField> SelectableFields() const override { return kFields; }
};

}  // namespace

const Strategy& ServiceStrategy() {
  static const Service strategy;
  return strategy;
}

}  // namespace terrarium::apiserver

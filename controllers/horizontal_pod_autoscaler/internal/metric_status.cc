#include "controllers/horizontal_pod_autoscaler/internal/metric_status.h"

#include <algorithm>

#include "api/base/quantity.h"
#include "api/json_access.h"

namespace terrarium::controllers::autoscaler {
namespace {

using api::StringAt;

Json* FindIn(Json& conditions, std::string_view type) {
  const auto found = std::find_if(conditions.begin(), conditions.end(),
                                  [&](const Json& each) { return StringAt(each, "type") == type; });
  return found == conditions.end() ? nullptr : &*found;
}

bool IsEmpty(const Json& value) {
  return value.is_null() || value == 0 || ((value.is_array() || value.is_object()) && value.empty());
}

}  // namespace

void SetCondition(Json& conditions, const ConditionValue& value, api::Time now) {
  Json* condition = FindIn(conditions, value.type);
  if (condition == nullptr) {
    conditions.push_back({{"type", value.type}});
    condition = &conditions.back();
  }
  const char* status = value.status ? "True" : "False";
  if (StringAt(*condition, "status") != status) (*condition)["lastTransitionTime"] = api::FormatTime(now);
  (*condition)["status"] = status;
  (*condition)["reason"] = value.reason;
  (*condition)["message"] = value.message;
}

void RemoveCondition(Json& conditions, std::string_view type) {
  const auto end = std::remove_if(conditions.begin(), conditions.end(),
                                  [&](const Json& each) { return StringAt(each, "type") == type; });
  conditions.erase(end, conditions.end());
}

bool IsConditionTrue(const Json& conditions, std::string_view type) {
  return std::any_of(conditions.begin(), conditions.end(), [&](const Json& each) {
    return StringAt(each, "type") == type && StringAt(each, "status") == "True";
  });
}

std::string UsageText(std::string_view resource, std::int64_t thousandths) {
  std::string error;
  const api::Quantity usage = *api::Quantity::Parse(std::to_string(thousandths) + "m", &error);
  if (resource != "memory") return usage.ToString();
  // A sum has the format of its first term.
  const api::Quantity kibi = *api::Quantity::Parse("1Ki", &error);
  api::Quantity binary = kibi;
  binary.Add(usage);
  binary.Sub(kibi);
  return binary.ToString();
}

Json CurrentOf(const Json& metric_spec, const Proposal& proposal) {
  const bool of_container = StringAt(metric_spec, "type") == "ContainerResource";
  const char* field = of_container ? "containerResource" : "resource";
  const std::string name(StringAt(metric_spec, field, "name"));
  Json current = {{"averageValue", UsageText(name, proposal.average)}};
  if (proposal.utilization) current["averageUtilization"] = *proposal.utilization;
  Json source = {{"name", name}, {"current", std::move(current)}};
  if (of_container) source["container"] = StringAt(metric_spec, field, "container");
  return {{"type", of_container ? "ContainerResource" : "Resource"}, {field, std::move(source)}};
}

bool SameStatus(const Json& a, const Json& b) {
  const auto covers = [](const Json& these, const Json& those) {
    return std::all_of(these.items().begin(), these.items().end(), [&](const auto& member) {
      const Json* other = api::Find(those, member.key());
      return other == nullptr ? IsEmpty(member.value()) : IsEmpty(member.value()) || *other == member.value();
    });
  };
  return covers(a, b) && covers(b, a);
}

}  // namespace terrarium::controllers::autoscaler

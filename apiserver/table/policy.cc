// How disruption budgets and the scale subresource are printed.

#include "api/json_access.h"
#include "apiserver/table/internal/printer.h"

namespace terrarium::apiserver::table {
namespace {

using api::Json;

constexpr Column kBudgetColumns[] = {
    kNameColumn,
    {"Min Available", "string", "", "The minimum number of pods that must be available."},
    {"Max Unavailable", "string", "", "The maximum number of pods that may be unavailable."},
    {"Allowed Disruptions", "integer", "", "Calculated number of pods that may be disrupted at this time."},
    kAgeColumn,
};

constexpr Column kScaleColumns[] = {
    {"Name", "string", "", kNameColumn.description},
    {"Desired", "integer", "", "How many replicas are asked for."},
    {"Available", "integer", "", "How many replicas have been observed."},
    kAgeColumn,
};

// An int-or-percent field as text.
std::string Amount(const Json* value) {
  if (value == nullptr) return "N/A";
  return value->is_string() ? value->get<std::string>() : value->dump();
}

std::vector<Json> BudgetCells(const Json& object, api::Time now) {
  return {Name(object), Amount(api::Find(object, "spec", "minAvailable")),
          Amount(api::Find(object, "spec", "maxUnavailable")),
          api::IntAt(object, 0, "status", "disruptionsAllowed"), Age(object, now)};
}

std::vector<Json> ScaleCells(const Json& object, api::Time now) {
  return {Name(object), api::IntAt(object, 0, "spec", "replicas"),
          api::IntAt(object, 0, "status", "replicas"), Age(object, now)};
}

constexpr Printer kPolicyPrinters[] = {
    {"autoscaling", "Scale", kScaleColumns, ScaleCells},
    {"policy", "PodDisruptionBudget", kBudgetColumns, BudgetCells},
};

}  // namespace

std::span<const Printer> PolicyPrinters() { return kPolicyPrinters; }

}  // namespace terrarium::apiserver::table

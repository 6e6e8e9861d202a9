#include "controllers/volume_driver/internal/claim_growth.h"

#include <utility>

#include "api/base/quantity.h"
#include "api/core_v1/pod.h"
#include "api/core_v1/volume_binding.h"
#include "api/json_access.h"

namespace terrarium::controllers::volume_driver {
namespace {

using api::Json;

bool IsBound(const Json& claim) { return api::StringAt(claim, "status", "phase") == "Bound"; }

}  // namespace

std::optional<std::string> WantedSize(const Json& claim) {
  const api::Quantity wanted = api::StorageIn(api::ObjectAt(claim, "spec", "resources", "requests"));
  if (!IsBound(claim) || wanted <= api::StorageIn(api::ObjectAt(claim, "status", "capacity")))
    return std::nullopt;
  return wanted.ToString();
}

Json GrowingStatus(const Json& claim, const std::string& size, api::Time now) {
  Json status = api::ObjectAt(claim, "status");
  status["allocatedResources"]["storage"] = size;
  status["allocatedResourceStatuses"]["storage"] = "ControllerResizeInProgress";
  if (api::FindCondition(claim, "Resizing") != nullptr) return status;
  if (!status.contains("conditions")) status["conditions"] = Json::array();
  status["conditions"].push_back(
      {{"type", "Resizing"}, {"status", "True"}, {"lastTransitionTime", api::FormatTime(now)}});
  return status;
}

Json GrownStatus(const Json& claim, const std::string& size) {
  Json status = api::ObjectAt(claim, "status");
  status["capacity"]["storage"] = size;
  status["allocatedResources"]["storage"] = size;
  status.erase("allocatedResourceStatuses");
  Json conditions = Json::array();
  for (const Json& condition : api::ListAt(status, "conditions"))
    if (api::StringAt(condition, "type") != "Resizing") conditions.push_back(condition);
  if (conditions.empty())
    status.erase("conditions");
  else
    status["conditions"] = std::move(conditions);
  return status;
}

std::optional<std::string> WantedAttributesClass(const Json& claim) {
  const std::string_view wanted = api::StringAt(claim, "spec", "volumeAttributesClassName");
  if (!IsBound(claim) || wanted.empty() ||
      wanted == api::StringAt(claim, "status", "currentVolumeAttributesClassName"))
    return std::nullopt;
  return std::string(wanted);
}

}  // namespace terrarium::controllers::volume_driver

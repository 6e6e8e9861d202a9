#include "controllers/endpoints/internal/endpoints_document.h"

#include <utility>

#include "api/json_access.h"

namespace terrarium::controllers::endpoints {
namespace {

using api::Json;

constexpr const char* kManagedBy = "endpoints.kubernetes.io/managed-by";
constexpr const char* kManager = "endpoint-controller";
constexpr const char* kOverCapacity = "endpoints.kubernetes.io/over-capacity";

bool AreLabelsCurrent(const Json& endpoints, const Labels& service) {
  Labels labels = ReadLabels(api::ObjectAt(endpoints, "metadata", "labels"));
  const auto manager = labels.find(kManagedBy);
  if (manager == labels.end() || manager->second != kManager) return false;
  labels.erase(kManagedBy);
  labels.erase(kHeadlessLabel);
  return labels == service;
}

}  // namespace

bool AreEndpointsCurrent(const Json& endpoints, const Subsets& subsets, const ServiceView& service) {
  const Subsets stored = ReadSubsets(api::ListAt(endpoints, "subsets"));
  return CountAddresses(stored) <= kAddressesMax &&
         api::Find(endpoints, "metadata", "annotations", kOverCapacity) == nullptr &&
         AreLabelsCurrent(endpoints, service.labels) && Repack(stored) == subsets;
}

Json EndpointsDocument(Json current, Subsets subsets, const ServiceView& service,
                       std::optional<api::Time> trigger) {
  Json document = std::move(current);
  if (document.is_null()) document = {{"metadata", {{"name", service.name.name}}}};
  Json& metadata = document["metadata"];
  Json labels = service.labels;
  if (!service.HasClusterIp())
    labels[kHeadlessLabel] = "";
  else
    labels.erase(kHeadlessLabel);
  labels[kManagedBy] = kManager;
  metadata["labels"] = std::move(labels);
  Json annotations = api::ObjectAt(metadata, "annotations");
  if (trigger)
    annotations[kTriggerTime] = api::FormatTime(*trigger);
  else
    annotations.erase(kTriggerTime);
  if (Truncate(subsets))
    annotations[kOverCapacity] = "truncated";
  else
    annotations.erase(kOverCapacity);
  if (annotations.empty())
    metadata.erase("annotations");
  else
    metadata["annotations"] = std::move(annotations);
  if (subsets.empty())
    document.erase("subsets");
  else
    document["subsets"] = ToJson(subsets);
  return document;
}

}  // namespace terrarium::controllers::endpoints

#include "controllers/statefulset/internal/pod_template.h"

#include <algorithm>
#include <set>
#include <utility>

#include "api/json_access.h"
#include "controllers/history/revision.h"
#include "controllers/runtime/owner_references.h"
#include "controllers/statefulset/internal/identity.h"

namespace terrarium::controllers::statefulset {
namespace {

using api::Json;

const Json& ClaimTemplates(const Json& document) {
  return api::ListAt(document, "spec", "volumeClaimTemplates");
}

std::string_view NameOf(const Json& claim_template) {
  return api::StringAt(claim_template, "metadata", "name");
}

}  // namespace

Json NewPod(const api::Object& set, const Json& document, const Json& pod_template, std::string_view revision,
            int ordinal) {
  const std::string name = PodName(set.header().name, ordinal);
  Json metadata = {{"name", name},
                   {"namespace", set.header().ns},
                   {"generateName", set.header().name + "-"},
                   {"ownerReferences", Json::array({ControllerReference(set, "apps/v1", "StatefulSet")})}};
  for (const char* field : {"labels", "annotations", "finalizers"})
    if (const Json* value = api::Find(pod_template, "metadata", field)) metadata[field] = *value;
  Json pod = {{"metadata", std::move(metadata)}, {"spec", api::ObjectAt(pod_template, "spec")}};
  SetIdentity(pod, ordinal);
  pod["metadata"]["labels"][std::string(history::kRevisionHashLabel)] = revision;
  pod["spec"]["hostname"] = name;
  pod["spec"].erase("subdomain");
  if (const std::string_view service = api::StringAt(document, "spec", "serviceName"); !service.empty())
    pod["spec"]["subdomain"] = service;
  SetStorage(pod, document, set.header().name, ordinal);
  return pod;
}

void SetIdentity(Json& pod, int ordinal) {
  const std::string name(api::StringAt(pod, "metadata", "name"));
  Json& labels = pod["metadata"]["labels"];
  labels[std::string(kPodNameLabel)] = name;
  labels[std::string(kPodIndexLabel)] = std::to_string(ordinal);
}

void SetStorage(Json& pod, const Json& document, std::string_view set, int ordinal) {
  const Json& templates = ClaimTemplates(document);
  if (templates.empty()) return;
  Json volumes = Json::array();
  std::set<std::string_view> claimed;
  for (const Json& claim_template : templates) {
    const std::string_view name = NameOf(claim_template);
    claimed.insert(name);
    volumes.push_back(
        {{"name", name}, {"persistentVolumeClaim", {{"claimName", ClaimName(name, set, ordinal)}}}});
  }
  for (const Json& volume : api::ListAt(pod, "spec", "volumes"))
    if (!claimed.contains(api::StringAt(volume, "name"))) volumes.push_back(volume);
  pod["spec"]["volumes"] = std::move(volumes);
}

bool HasStorage(const PodFacts& pod, const Json& document, std::string_view set, int ordinal) {
  const Json& templates = ClaimTemplates(document);
  return std::all_of(templates.begin(), templates.end(), [&](const Json& claim_template) {
    const std::string_view name = NameOf(claim_template);
    auto volume = pod.claims.find(std::string(name));
    return volume != pod.claims.end() && volume->second == ClaimName(name, set, ordinal);
  });
}

std::vector<std::string> ClaimNames(const Json& document, std::string_view set, int ordinal) {
  std::vector<std::string> names;
  for (const Json& claim_template : ClaimTemplates(document))
    names.push_back(ClaimName(NameOf(claim_template), set, ordinal));
  return names;
}

std::vector<Json> NewClaims(const Json& document, const api::ObjectName& set, int ordinal) {
  std::vector<Json> claims;
  for (const Json& claim_template : ClaimTemplates(document)) {
    Json claim = claim_template;
    claim.erase("status");
    Json& metadata = claim["metadata"];
    metadata["name"] = ClaimName(NameOf(claim_template), set.name, ordinal);
    metadata["namespace"] = set.ns;
    for (const auto& [key, value] : api::ObjectAt(document, "spec", "selector", "matchLabels").items())
      metadata["labels"][key] = value;
    claims.push_back(std::move(claim));
  }
  return claims;
}

}  // namespace terrarium::controllers::statefulset

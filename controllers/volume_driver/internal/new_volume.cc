#include "controllers/volume_driver/internal/new_volume.h"

#include <algorithm>
#include <set>
#include <utility>

#include "api/base/errors.h"
#include "api/json_access.h"
#include "api/storage_v1/volume_script.h"
#include "controllers/runtime/name_hash.h"

namespace terrarium::controllers::volume_driver {
namespace {

using api::Json;

bool CanNameCsiDriver(std::string_view name) {
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.';
  });
}

Json In(const std::string& key, const Json& values) {
  return {{"key", key}, {"operator", "In"}, {"values", values}};
}
Json In(const std::string& key, const std::string& value) { return In(key, Json::array({value})); }

// One term with these expressions.
Json Term(Json expressions) { return Json{{"matchExpressions", std::move(expressions)}}; }
Json Selector(Json terms) { return {{"nodeSelectorTerms", std::move(terms)}}; }

// The labels that make up the topology of the class.
std::vector<std::string> TopologyKeys(const Json& storage_class) {
  std::set<std::string> keys;
  const std::string topology = api::ReadVolumeScript(storage_class).topology;
  if (!topology.empty()) keys.insert(topology);
  for (const Json& term : api::ListAt(storage_class, "allowedTopologies"))
    for (const Json& expression : api::ListAt(term, "matchLabelExpressions"))
      keys.emplace(api::StringAt(expression, "key"));
  return {keys.begin(), keys.end()};
}

Json AllowedTerms(const Json& storage_class) {
  Json terms = Json::array();
  for (const Json& term : api::ListAt(storage_class, "allowedTopologies")) {
    Json expressions = Json::array();
    for (const Json& expression : api::ListAt(term, "matchLabelExpressions"))
      expressions.push_back(
          In(std::string(api::StringAt(expression, "key")), api::ListAt(expression, "values")));
    terms.push_back(Term(std::move(expressions)));
  }
  return terms;
}

// One of the label's values, the same one for each attempt.
std::optional<std::string> AnyValue(const std::string& label, const std::vector<api::ObjectPtr>& nodes,
                                    const std::string& seed) {
  std::set<std::string> values;
  for (const api::ObjectPtr& node : nodes)
    if (const std::string* value = api::FindLabel(node->header(), label)) values.insert(*value);
  if (values.empty()) return std::nullopt;
  return *std::next(values.begin(), static_cast<std::ptrdiff_t>(Fnv1a(seed) % values.size()));
}

}  // namespace

std::string VolumeNameFor(const api::VolumeClaim& claim) { return "pvc-" + claim.header().uid; }

api::Result<std::optional<Json>> TopologyOf(const Json& storage_class, const api::VolumeClaim& claim,
                                            const api::ObjectHeader* node,
                                            const std::vector<api::ObjectPtr>& nodes) {
  if (node != nullptr) {
    Json expressions = Json::array();
    for (const std::string& key : TopologyKeys(storage_class)) {
      const std::string* value = api::FindLabel(*node, key);
      if (value == nullptr)
        return api::GenericServerError("error generating accessibility requirements: topology label " +
                                       api::Quote(key) + " is missing on node " + api::Quote(node->name));
      expressions.push_back(In(key, *value));
    }
    if (expressions.empty()) return std::optional<Json>();
    return std::optional(Selector(Json::array({Term(std::move(expressions))})));
  }
  if (!api::ListAt(storage_class, "allowedTopologies").empty())
    return std::optional(Selector(AllowedTerms(storage_class)));
  const std::string topology = api::ReadVolumeScript(storage_class).topology;
  if (topology.empty()) return std::optional<Json>();
  const std::optional<std::string> value = AnyValue(topology, nodes, claim.header().uid);
  if (!value)
    return api::GenericServerError(
        "error generating accessibility requirements: no available topology found");
  return std::optional(Selector(Json::array({Term(Json::array({In(topology, *value)}))})));
}

Json NewVolume(const api::VolumeClaim& claim, const Json& storage_class, std::optional<Json> node_selector) {
  const auto document = claim.object->Document();
  const Json& of_claim = api::ObjectAt(*document, "spec");
  const std::string name = VolumeNameFor(claim);
  const std::string provisioner(
      api::StringAt(*document, "metadata", "annotations", api::kStorageProvisioner));
  Json spec = {{"accessModes", api::ListAt(of_claim, "accessModes")},
               {"capacity", {{"storage", claim.request.ToString()}}},
               {"persistentVolumeReclaimPolicy", api::StringAt(storage_class, "reclaimPolicy")},
               {"storageClassName", claim.class_name},
               {"volumeMode", claim.block ? "Block" : "Filesystem"},
               {"claimRef",
                {{"apiVersion", "v1"},
                 {"kind", "PersistentVolumeClaim"},
                 {"namespace", claim.header().ns},
                 {"name", claim.header().name},
                 {"uid", claim.header().uid},
                 {"resourceVersion", std::to_string(claim.header().revision)}}}};
  if (const Json* options = api::Find(storage_class, "mountOptions")) spec["mountOptions"] = *options;
  if (CanNameCsiDriver(provisioner)) {
    spec["csi"] = {{"driver", provisioner}, {"volumeHandle", name}};
    if (!claim.block) spec["csi"]["fsType"] = "ext4";
    if (!claim.attributes_class.empty()) spec["volumeAttributesClassName"] = claim.attributes_class;
  } else {
    spec["hostPath"] = {{"path", "/var/lib/terrarium/volumes/" + name}, {"type", ""}};
  }
  if (node_selector) spec["nodeAffinity"] = {{"required", std::move(*node_selector)}};
  Json metadata = {{"name", name}, {"annotations", {{std::string(api::kProvisionedBy), provisioner}}}};
  // It goes when the volume itself was deleted.
  if (api::StringAt(spec, "persistentVolumeReclaimPolicy") == "Delete")
    metadata["finalizers"] = Json::array({std::string(kDriverFinalizer)});
  return {{"metadata", std::move(metadata)}, {"spec", std::move(spec)}};
}

}  // namespace terrarium::controllers::volume_driver

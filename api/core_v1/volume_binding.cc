#include "api/core_v1/volume_binding.h"

#include <algorithm>
#include <utility>

#include "api/core_v1/resource_list.h"
#include "api/json_access.h"

namespace terrarium::api {
namespace {

constexpr std::string_view kClassAnnotation = "volume.beta.kubernetes.io/storage-class";

const Json* Annotation(const Json& document, std::string_view key) {
  return Find(document, "metadata", "annotations", key);
}

Quantity StorageOf(const Json& list) {
  std::string error;
  return Quantity::Parse(StringAt(list, "storage"), &error).value_or(Quantity());
}

AccessModes ReadModes(const Json& spec) {
  AccessModes modes = 0;
  for (const Json& mode : ListAt(spec, "accessModes")) {
    const std::string_view text = mode.get_ref<const std::string&>();
    if (text == "ReadWriteOnce") modes |= kReadWriteOnce;
    if (text == "ReadOnlyMany") modes |= kReadOnlyMany;
    if (text == "ReadWriteMany") modes |= kReadWriteMany;
    if (text == "ReadWriteOncePod") modes |= kReadWriteOncePod;
  }
  return modes;
}

bool IsBlock(const Json& spec) { return StringAt(spec, "volumeMode") == "Block"; }

// A selector that admission should have refused selects nothing.
LabelSelector ReadSelector(const Json& selector) {
  auto read = LabelSelector::FromDocument(&selector);
  return read ? std::move(*read) : LabelSelector::Nothing();
}

}  // namespace

// The annotation wins, also when it is empty.
std::optional<std::string> ClassOfClaim(const Json& claim) {
  const Json* name = Annotation(claim, kClassAnnotation);
  if (name == nullptr) name = Find(claim, "spec", "storageClassName");
  return name == nullptr ? std::nullopt : std::optional(name->get<std::string>());
}

VolumeClaim ReadVolumeClaim(const ObjectPtr& claim) {
  const auto document = claim->Document();
  const Json& spec = ObjectAt(*document, "spec");
  VolumeClaim out;
  out.object = claim;
  const std::optional<std::string> class_name = ClassOfClaim(*document);
  out.has_class = class_name.has_value();
  out.class_name = class_name.value_or("");
  out.request = StorageOf(ObjectAt(spec, "resources", "requests"));
  out.modes = ReadModes(spec);
  out.block = IsBlock(spec);
  if (const Json* selector = Find(spec, "selector")) out.selector = ReadSelector(*selector);
  out.attributes_class = StringAt(spec, "volumeAttributesClassName");
  out.volume_name = StringAt(spec, "volumeName");
  out.bind_completed = Annotation(*document, kBindCompleted) != nullptr;
  out.bound_by_controller = Annotation(*document, kBoundByController) != nullptr;
  if (const Json* node = Annotation(*document, kSelectedNode)) out.selected_node = node->get<std::string>();
  return out;
}

Volume ReadVolume(const ObjectPtr& volume) {
  const auto document = volume->Document();
  const Json& spec = ObjectAt(*document, "spec");
  Volume out;
  out.object = volume;
  out.class_name = ClassOfClaim(*document).value_or("");
  out.capacity = StorageOf(ObjectAt(spec, "capacity"));
  out.modes = ReadModes(spec);
  out.block = IsBlock(spec);
  out.attributes_class = StringAt(spec, "volumeAttributesClassName");
  if (const Json* claim = Find(spec, "claimRef"))
    out.claim =
        ClaimReference{{std::string(StringAt(*claim, "namespace")), std::string(StringAt(*claim, "name"))},
                       std::string(StringAt(*claim, "uid"))};
  out.bound_by_controller = Annotation(*document, kBoundByController) != nullptr;
  out.provisioned_by = StringAt(*document, "metadata", "annotations", kProvisionedBy);
  out.reclaim_policy = StringAt(spec, "persistentVolumeReclaimPolicy");
  if (const Json* required = Find(spec, "nodeAffinity", "required"))
    out.required_nodes = NodeTermsOf(*required);
  return out;
}

bool IsVolumeFor(const Volume& volume, const VolumeClaim& claim) {
  const ObjectHeader& header = claim.header();
  return volume.claim && volume.claim->name == claim.object->name() &&
         (volume.claim->uid.empty() || volume.claim->uid == header.uid);
}

bool MatchesNode(const Volume& volume, const ObjectHeader& node) {
  return !volume.required_nodes || std::any_of(volume.required_nodes->begin(), volume.required_nodes->end(),
                                               [&](const NodeTerm& term) { return term.Matches(node); });
}

bool FitsReserved(const Volume& volume, const VolumeClaim& claim) {
  return volume.capacity >= claim.request && volume.block == claim.block &&
         volume.attributes_class == claim.attributes_class && !volume.header().deleting;
}

bool FitsFree(const Volume& volume, const VolumeClaim& claim) {
  return !volume.claim && volume.IsAvailable() && volume.class_name == claim.class_name &&
         (claim.modes & ~volume.modes) == 0 && FitsReserved(volume, claim) &&
         (!claim.selector || claim.selector->Matches(volume.header()));
}

std::string WhyMismatched(const Volume& volume, const VolumeClaim& claim) {
  if (volume.header().deleting) return "the volume is marked for deletion \"" + volume.name() + "\"";
  if (volume.capacity.Value() < claim.request.Value()) return "requested PV is too small";
  if (volume.class_name != claim.class_name) return "storageClassName does not match";
  if (volume.attributes_class != claim.attributes_class) return "volumeAttributesClassName does not match";
  if (volume.block != claim.block) return "incompatible volumeMode";
  if ((claim.modes & ~volume.modes) != 0) return "incompatible accessMode";
  return "";
}

const Volume* FindVolumeOnNode(const VolumeClaim& claim, const std::vector<const Volume*>& volumes,
                               const ObjectHeader& node, const std::set<std::string>& taken) {
  const Volume* smallest = nullptr;
  for (const Volume* volume : volumes) {
    if (taken.count(volume->name()) != 0) continue;
    if (IsVolumeFor(*volume, claim)) {
      if (!FitsReserved(*volume, claim)) continue;
      return MatchesNode(*volume, node) ? volume : nullptr;
    }
    if (!FitsFree(*volume, claim) || !MatchesNode(*volume, node)) continue;
    const bool better = smallest == nullptr || volume->capacity < smallest->capacity ||
                        (volume->capacity == smallest->capacity && volume->name() < smallest->name());
    if (better) smallest = volume;
  }
  return smallest;
}

Binding BindVolumeToClaim(Json& volume, const VolumeClaim& claim) {
  const ObjectHeader& header = claim.header();
  const Json* ref = Find(volume, "spec", "claimRef");
  const bool same_name =
      ref != nullptr && StringAt(*ref, "name") == header.name && StringAt(*ref, "namespace") == header.ns;
  const std::string_view uid = ref == nullptr ? std::string_view() : StringAt(*ref, "uid");
  if (same_name && uid == header.uid) return Binding::kUnchanged;
  const bool reserved = same_name && uid.empty();
  volume["spec"]["claimRef"] = {{"apiVersion", "v1"},
                                {"kind", "PersistentVolumeClaim"},
                                {"name", header.name},
                                {"namespace", header.ns},
                                {"resourceVersion", std::to_string(header.revision)},
                                {"uid", header.uid}};
  if (!reserved) volume["metadata"]["annotations"][std::string(kBoundByController)] = "yes";
  return Binding::kChanged;
}

std::vector<PodClaim> ClaimsOfPod(const Json& pod) {
  std::vector<PodClaim> claims;
  for (const Json& volume : ListAt(pod, "spec", "volumes")) {
    std::string name(StringAt(volume, "name"));
    if (const Json* source = Find(volume, "persistentVolumeClaim")) {
      claims.push_back({std::move(name), std::string(StringAt(*source, "claimName")), false});
    } else if (Find(volume, "ephemeral") != nullptr) {
      std::string claim = std::string(StringAt(pod, "metadata", "name")) + "-" + name;
      claims.push_back({std::move(name), std::move(claim), true});
    }
  }
  return claims;
}

std::vector<PodClaim> ClaimsOfPod(const Object& pod) {
  const std::string& body = pod.body();
  if (body.find("\"persistentVolumeClaim\":") == std::string::npos &&
      body.find("\"ephemeral\":") == std::string::npos)
    return {};
  return ClaimsOfPod(*pod.Document());
}

std::string WhyNotForPod(const Object& claim, const Object& pod) {
  const OwnerReference* controller = claim.controller();
  if (claim.header().ns == pod.header().ns && controller != nullptr && controller->uid == pod.header().uid)
    return "";
  return "PVC " + claim.name().String() + " was not created for pod " + pod.name().String() +
         " (pod is not owner)";
}

}  // namespace terrarium::api

// How volumes, claims and the kinds of storage.k8s.io are printed.

#include <algorithm>
#include <utility>

#include "api/json_access.h"
#include "apiserver/table/internal/printer.h"

namespace terrarium::apiserver::table {
namespace {

using api::Json;

constexpr std::string_view kClassAnnotation = "volume.beta.kubernetes.io/storage-class";

constexpr Column kVolumeColumns[] = {
    kNameColumn,
    {"Capacity", "string", "", "The size of the volume."},
    {"Access Modes", "string", "", "The ways in which the volume can be mounted."},
    {"Reclaim Policy", "string", "", "What happens to the volume when its claim is deleted."},
    {"Status", "string", "", "The phase of the volume."},
    {"Claim", "string", "", "The claim that the volume is bound to."},
    {"StorageClass", "string", "", "StorageClass of the pv"},
    {"VolumeAttributesClass", "string", "", "VolumeAttributesClass of the pv"},
    {"Reason", "string", "", "Why the volume is in its phase, in one word."},
    kAgeColumn,
    {"VolumeMode", "string", "", "Whether the volume has a file system.", 1},
};

constexpr Column kClaimColumns[] = {
    kNameColumn,
    {"Status", "string", "", "The phase of the claim."},
    {"Volume", "string", "", "The volume that the claim is bound to."},
    {"Capacity", "string", "", "The size of that volume."},
    {"Access Modes", "string", "", "The ways in which that volume can be mounted."},
    {"StorageClass", "string", "", "StorageClass of the pvc"},
    {"VolumeAttributesClass", "string", "", "VolumeAttributesClass of the pvc"},
    kAgeColumn,
    {"VolumeMode", "string", "", "Whether the claim wants a file system.", 1},
};

constexpr Column kStorageClassColumns[] = {
    kNameColumn,
    {"Provisioner", "string", "", "The driver that provisions volumes of this class."},
    {"ReclaimPolicy", "string", "", "The reclaim policy of volumes of this class."},
    {"VolumeBindingMode", "string", "", "When claims of this class are bound."},
    {"AllowVolumeExpansion", "string", "", "Whether volumes of this class can grow."},
    kAgeColumn,
};

constexpr Column kAttributesClassColumns[] = {
    kNameColumn, {"DriverName", "string", "", "The driver that the class is for."}, kAgeColumn};

constexpr Column kAttachmentColumns[] = {
    kNameColumn,
    {"Attacher", "string", "name", "The driver that attaches the volume."},
    {"PV", "string", "", "The volume."},
    {"Node", "string", "", "The node that the volume is attached to."},
    {"Attached", "boolean", "", "Whether the volume is attached."},
    kAgeColumn,
};

constexpr Column kCsiNodeColumns[] = {
    kNameColumn,
    {"Drivers", "integer", "", "Drivers indicates the number of CSI drivers registered on the node"},
    kAgeColumn};

constexpr Column kCsiDriverColumns[] = {
    kNameColumn,
    {"AttachRequired", "boolean", "", "Whether volumes must be attached."},
    {"PodInfoOnMount", "boolean", "", "Whether the driver is told about the pod."},
    {"StorageCapacity", "boolean", "", "Whether the driver publishes its capacity."},
    {"TokenRequests", "string", "", "The audiences of the tokens that the driver needs."},
    {"RequiresRepublish", "boolean", "", "Whether volumes are published again from time to time."},
    {"Modes", "string", "", "The kinds of volumes that the driver supports."},
    kAgeColumn,
};

constexpr Column kCapacityColumns[] = {
    kNameColumn,
    {"StorageClassName", "string", "", "The class that the capacity is for."},
    {"Capacity", "string", "", "The capacity that is left."},
};

std::string ModesText(const Json& modes) {
  constexpr std::pair<std::string_view, std::string_view> kModes[] = {{"ReadWriteOnce", "RWO"},
                                                                      {"ReadOnlyMany", "ROX"},
                                                                      {"ReadWriteMany", "RWX"},
                                                                      {"ReadWriteOncePod", "RWOP"}};
  std::string out;
  for (const auto& [mode, text] : kModes)
    if (std::find(modes.begin(), modes.end(), mode) != modes.end()) AppendItem(out, text);
  return out;
}

std::string_view ClassOf(const Json& object) {
  const std::string_view annotated = api::StringAt(object, "metadata", "annotations", kClassAnnotation);
  return annotated.empty() ? api::StringAt(object, "spec", "storageClassName") : annotated;
}

std::string PhaseOf(const Json& object) {
  const bool going = api::Find(object, "metadata", "deletionTimestamp") != nullptr;
  return std::string(going ? "Terminating" : api::StringAt(object, "status", "phase"));
}

std::string OrUnset(const Json& object, std::string_view field) {
  return OrElse(api::StringAt(object, "spec", field), kUnset);
}

// As Go prints an absent quantity.
std::string StorageText(const Json& list) { return OrElse(api::StringAt(list, "storage"), "0"); }

std::vector<Json> VolumeCells(const Json& volume, api::Time now) {
  std::string claim;
  if (const Json* ref = api::Find(volume, "spec", "claimRef"))
    claim = std::string(api::StringAt(*ref, "namespace")) + "/" + std::string(api::StringAt(*ref, "name"));
  return {Name(volume),
          StorageText(api::ObjectAt(volume, "spec", "capacity")),
          ModesText(api::ListAt(volume, "spec", "accessModes")),
          api::StringAt(volume, "spec", "persistentVolumeReclaimPolicy"),
          PhaseOf(volume),
          claim,
          ClassOf(volume),
          OrUnset(volume, "volumeAttributesClassName"),
          api::StringAt(volume, "status", "reason"),
          Age(volume, now),
          OrUnset(volume, "volumeMode")};
}

std::vector<Json> ClaimCells(const Json& claim, api::Time now) {
  const std::string_view volume = api::StringAt(claim, "spec", "volumeName");
  const bool bound = !volume.empty();
  return {Name(claim),
          PhaseOf(claim),
          volume,
          bound ? StorageText(api::ObjectAt(claim, "status", "capacity")) : "",
          bound ? ModesText(api::ListAt(claim, "status", "accessModes")) : "",
          ClassOf(claim),
          OrUnset(claim, "volumeAttributesClassName"),
          Age(claim, now),
          OrUnset(claim, "volumeMode")};
}

std::vector<Json> StorageClassCells(const Json& object, api::Time now) {
  return {NameOfDefault(object, {"storageclass.kubernetes.io/is-default-class",
                                 "storageclass.beta.kubernetes.io/is-default-class"}),
          api::StringAt(object, "provisioner"),
          OrElse(api::StringAt(object, "reclaimPolicy"), "Delete"),
          OrElse(api::StringAt(object, "volumeBindingMode"), "Immediate"),
          api::BoolAt(object, "allowVolumeExpansion"),
          Age(object, now)};
}

std::vector<Json> AttributesClassCells(const Json& object, api::Time now) {
  return {Name(object), api::StringAt(object, "driverName"), Age(object, now)};
}

std::vector<Json> AttachmentCells(const Json& object, api::Time now) {
  return {Name(object),
          api::StringAt(object, "spec", "attacher"),
          api::StringAt(object, "spec", "source", "persistentVolumeName"),
          api::StringAt(object, "spec", "nodeName"),
          api::BoolAt(object, "status", "attached"),
          Age(object, now)};
}

std::vector<Json> CsiNodeCells(const Json& object, api::Time now) {
  return {Name(object), api::ListAt(object, "spec", "drivers").size(), Age(object, now)};
}

std::vector<Json> CsiDriverCells(const Json& object, api::Time now) {
  const Json& spec = api::ObjectAt(object, "spec");
  std::string tokens(kUnset);
  if (api::Find(spec, "tokenRequests") != nullptr) {
    tokens.clear();
    for (const Json& request : api::ListAt(spec, "tokenRequests"))
      AppendItem(tokens, api::StringAt(request, "audience"));
  }
  return {Name(object),
          api::BoolAt(spec, "attachRequired"),
          api::BoolAt(spec, "podInfoOnMount"),
          api::BoolAt(spec, "storageCapacity"),
          tokens,
          api::BoolAt(spec, "requiresRepublish"),
          OrElse(JoinTexts(api::ListAt(spec, "volumeLifecycleModes")), kNone),
          Age(object, now)};
}

std::vector<Json> CapacityCells(const Json& object, api::Time) {
  return {Name(object), api::StringAt(object, "storageClassName"),
          OrElse(api::StringAt(object, "capacity"), kUnset)};
}

constexpr std::string_view kGroup = "storage.k8s.io";
constexpr Printer kPrinters[] = {
    {"", "PersistentVolume", kVolumeColumns, VolumeCells},
    {"", "PersistentVolumeClaim", kClaimColumns, ClaimCells},
    {kGroup, "CSIDriver", kCsiDriverColumns, CsiDriverCells},
    {kGroup, "CSINode", kCsiNodeColumns, CsiNodeCells},
    {kGroup, "CSIStorageCapacity", kCapacityColumns, CapacityCells},
    {kGroup, "StorageClass", kStorageClassColumns, StorageClassCells},
    {kGroup, "VolumeAttachment", kAttachmentColumns, AttachmentCells},
    {kGroup, "VolumeAttributesClass", kAttributesClassColumns, AttributesClassCells},
};

}  // namespace

std::span<const Printer> StoragePrinters() { return kPrinters; }

}  // namespace terrarium::apiserver::table

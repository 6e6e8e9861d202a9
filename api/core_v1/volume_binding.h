#pragma once

// PersistentVolumes and the claims that they are bound to. The volume binder and the scheduler decide by
// these functions which volume a claim gets. Mirrors component-helpers/storage/volume, v1.36.

#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/quantity.h"
#include "api/core_v1/node_affinity.h"
#include "api/json.h"
#include "api/object.h"
#include "api/selector/label_selector.h"

namespace terrarium::api {

// Annotations. The value of the first two does not matter.
inline constexpr std::string_view kBindCompleted = "pv.kubernetes.io/bind-completed";
inline constexpr std::string_view kBoundByController = "pv.kubernetes.io/bound-by-controller";
inline constexpr std::string_view kSelectedNode = "volume.kubernetes.io/selected-node";
inline constexpr std::string_view kStorageProvisioner = "volume.kubernetes.io/storage-provisioner";
inline constexpr std::string_view kBetaStorageProvisioner = "volume.beta.kubernetes.io/storage-provisioner";
inline constexpr std::string_view kProvisionedBy = "pv.kubernetes.io/provisioned-by";

// Finalizers that keep what is in use.
inline constexpr std::string_view kClaimProtection = "kubernetes.io/pvc-protection";
inline constexpr std::string_view kVolumeProtection = "kubernetes.io/pv-protection";
inline constexpr std::string_view kAttributesClassProtection = "kubernetes.io/vac-protection";

// A set of access modes.
enum AccessMode : std::uint8_t {
  kReadWriteOnce = 1,
  kReadOnlyMany = 2,
  kReadWriteMany = 4,
  kReadWriteOncePod = 8,
};
using AccessModes = std::uint8_t;

// A PersistentVolumeClaim as far as binding depends on it.
struct VolumeClaim {
  ObjectPtr object;
  bool has_class = false;  // a claim without one gets the default class
  std::string class_name;  // "": none
  Quantity request;
  AccessModes modes = 0;
  bool block = false;  // volumeMode Block
  std::optional<LabelSelector> selector;
  std::string attributes_class;
  std::string volume_name;
  bool bind_completed = false;
  bool bound_by_controller = false;
  std::optional<std::string> selected_node;

  const ObjectHeader& header() const { return object->header(); }
  // The binder has finished: volume and claim refer to one another.
  bool IsBound() const { return !volume_name.empty() && bind_completed; }
};
// The class that a claim names, by annotation or field, possibly ""; nullopt: none, it gets the default
// class.
std::optional<std::string> ClassOfClaim(const Json& claim);
VolumeClaim ReadVolumeClaim(const ObjectPtr& claim);

// spec.claimRef of a volume.
struct ClaimReference {
  ObjectName name;
  std::string uid;  // "": the volume is reserved for any claim of that name
};

// A PersistentVolume as far as binding depends on it.
struct Volume {
  ObjectPtr object;
  std::string class_name;
  Quantity capacity;
  AccessModes modes = 0;
  bool block = false;
  std::string attributes_class;
  std::optional<ClaimReference> claim;
  bool bound_by_controller = false;
  std::string provisioned_by;
  std::string reclaim_policy;
  std::optional<std::vector<NodeTerm>> required_nodes;  // one of the terms must match

  const ObjectHeader& header() const { return object->header(); }
  const std::string& name() const { return header().name; }
  bool IsAvailable() const { return header().phase.text() == "Available"; }
};
Volume ReadVolume(const ObjectPtr& volume);

// The volume is bound to the claim, or reserved for it.
bool IsVolumeFor(const Volume& volume, const VolumeClaim& claim);
// The volume may be used by pods of that node.
bool MatchesNode(const Volume& volume, const ObjectHeader& node);

// A volume that is for the claim can be bound to it: size, modes and attributes fit. Its class, its access
// modes and the claim's selector do not matter.
bool FitsReserved(const Volume& volume, const VolumeClaim& claim);
// A volume that is for no claim yet can be bound to this one.
bool FitsFree(const Volume& volume, const VolumeClaim& claim);
// Why a volume cannot be bound to a claim that names it, in the words of Kubernetes' event; "" if it can.
std::string WhyMismatched(const Volume& volume, const VolumeClaim& claim);

// For a pod on `node`: the volume that is for the claim, or else the smallest free one, by name among equals.
// nullptr: none, also when the volume that is for the claim does not match the node. `taken` are volumes that
// other claims of the pod get.
const Volume* FindVolumeOnNode(const VolumeClaim& claim, const std::vector<const Volume*>& volumes,
                               const ObjectHeader& node, const std::set<std::string>& taken);

// Makes the volume refer to the claim. kUnchanged: it already did.
enum class Binding { kUnchanged, kChanged };
Binding BindVolumeToClaim(Json& volume, const VolumeClaim& claim);

// A claim that a pod mounts.
struct PodClaim {
  std::string volume;      // its name in the pod
  std::string claim;       // the claim's name
  bool ephemeral = false;  // made for this pod from its template; it must be controlled by the pod
};
std::vector<PodClaim> ClaimsOfPod(const Json& pod);
// The same, but does not parse pods that have no volume with a claim.
std::vector<PodClaim> ClaimsOfPod(const Object& pod);
// Why the claim cannot be the one that was made for the pod's ephemeral volume, or "".
std::string WhyNotForPod(const Object& claim, const Object& pod);

}  // namespace terrarium::api

#pragma once

// The parts of pod validation, one function per part of the spec. All append what they find to `errors`, in
// the order in which Kubernetes 1.36 reports it (mirrors pkg/apis/core/validation).

#include <functional>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "api/base/field_error.h"
#include "api/base/quantity.h"
#include "api/json.h"
#include "api/json_access.h"
#include "apiserver/validation/formats.h"
#include "apiserver/validation/internal/text.h"
#include "apiserver/validation/metadata.h"
#include "apiserver/validation/pod_template.h"
#include "apiserver/validation/shared_fields.h"

namespace terrarium::apiserver::pod_rules {

using api::BoolAt;
using api::FieldErrors;
using api::Find;
using api::IntAt;
using api::Json;
using api::ListAt;
using api::ObjectAt;
using api::Path;
using api::StringAt;

// The context in which the containers of one pod are checked.
struct PodScope {
  const Json& spec;
  const PodValidationOptions& options;
  std::map<std::string, const Json*, std::less<>> volumes{};  // the valid ones, by name
  std::set<std::string, std::less<>> claims{};                // names in spec.resourceClaims
  mutable std::size_t claims_printed = 0;  // bytes of errors that name all of them (api::kRepeatedTextMax)
  bool host_users = true;

  std::string_view RestartPolicy() const { return StringAt(spec, "restartPolicy"); }
};

// volumes.cc, volume_sources.cc, projected_volume.cc: fills scope.volumes.
void CheckVolumes(PodScope& scope, const Json& pod_metadata, const Path& path, FieldErrors& errors);
// The fields of the volume's one source; `source` is the value of the field `name`.
void CheckVolumeSource(std::string_view name, const Json& source, const PodScope& scope, const Path& path,
                       FieldErrors& errors);
// The same in pods and in PersistentVolumes.
void CheckHostPath(const Json& source, const Path& path, FieldErrors& errors);
void CheckNfs(const Json& source, const Path& path, FieldErrors& errors);
// volume_claims.cc: of claims and volumes.
void CheckAccessModes(const Json& spec, const Path& path, FieldErrors& errors);
void CheckOldVolumeSource(std::string_view name, const Json& source, const Path& path, FieldErrors& errors);
void CheckProjectedVolume(const Json& projected, const Path& path, FieldErrors& errors);
void CheckKeyToPath(const Json& item, const Path& path, FieldErrors& errors);
void CheckDownwardFile(const Json& file, const Path& path, FieldErrors& errors);
void CheckFileMode(const Json& object, std::string_view field, const Path& path, FieldErrors& errors);

// Paths inside volumes.
void CheckNoBacksteps(std::string_view text, const Path& path, FieldErrors& errors);
void CheckLocalDescendingPath(std::string_view text, const Path& path, FieldErrors& errors);
void CheckLocalNonReservedPath(std::string_view text, const Path& path, FieldErrors& errors);

// containers.cc
void CheckContainers(const PodScope& scope, const Path& path, FieldErrors& errors);
void CheckInitContainers(const PodScope& scope, const Path& path, FieldErrors& errors);
void CheckEphemeralContainers(const PodScope& scope, const Path& path, FieldErrors& errors);
// An image with blanks around it is refused in pods only.
void CheckImageBlanks(const Json& container, const Path& path, FieldErrors& errors);
void CheckPullPolicy(std::string_view policy, const Path& path, FieldErrors& errors);
// Every container with its path: initContainers, containers, ephemeralContainers.
void VisitContainers(const Json& spec, const Path& spec_path,
                     const std::function<void(const Json& container, const Path& path)>& visit);

// container_env.cc
void CheckPorts(const Json& ports, const Path& path, FieldErrors& errors);
void CheckEnv(const Json& env, const Path& path, FieldErrors& errors);
void CheckEnvFrom(const Json& env_from, const Path& path, FieldErrors& errors);
void CheckFileKeyRefVolumes(const Json& spec, const Path& path, FieldErrors& errors);
// field_refs.cc: `allowed` are the field paths without subscript, sorted.
void CheckObjectFieldRef(const Json& ref, const std::vector<std::string_view>& allowed, const Path& path,
                         FieldErrors& errors);
void CheckResourceFieldRef(const Json& ref, bool in_volume, const Path& path, FieldErrors& errors);

// volume_mounts.cc
void CheckVolumeMounts(const Json& container, const PodScope& scope, const Path& path, FieldErrors& errors);
void CheckVolumeDevices(const Json& container, const PodScope& scope, const Path& path, FieldErrors& errors);

// probes.cc
void CheckProbes(const Json& container, const Path& path, FieldErrors& errors);
void CheckLifecycle(const Json& lifecycle, const Json* grace_period, const Path& path, FieldErrors& errors);

// resources.cc
enum class ResourceOwner { kContainer, kPod };
void CheckResources(const Json& resources, ResourceOwner owner, const PodScope& scope, const Path& path,
                    FieldErrors& errors);
void CheckPodLevelResources(const PodScope& scope, const Path& path, FieldErrors& errors);
void CheckResourceClaims(const PodScope& scope, const Json& pod_metadata, const Path& path,
                         FieldErrors& errors);
bool IsHugePageResource(std::string_view name);
bool IsPodLevelResource(std::string_view name);
api::Quantity QuantityOf(const Json& text);

// scheduling.cc, topology_spread.cc
void CheckAffinity(const Json& affinity, const Path& path, FieldErrors& errors);
void CheckTopologySpread(const Json& constraints, const Path& path, FieldErrors& errors);
void CheckSchedulingGates(const Json& gates, const Path& path, FieldErrors& errors);
void CheckTolerations(const Json& tolerations, const Path& path, FieldErrors& errors);
void CheckNodeSelector(const Json& selector, const Path& path, FieldErrors& errors);
// matchLabelKeys and mismatchLabelKeys of `holder` against its labelSelector.
void CheckMatchLabelKeys(const Json& holder, const Path& path, FieldErrors& errors);

// security_context.cc, windows_rules.cc
void CheckPodSecurityContext(const Json& spec, const Path& path, FieldErrors& errors);
void CheckContainerSecurityContext(const Json* context, bool host_users, const Path& path,
                                   FieldErrors& errors);
void CheckSeccompProfile(const Json* profile, const Path& path, FieldErrors& errors);
void CheckAppArmorProfile(const Json* profile, const Path& path, FieldErrors& errors);
void CheckWindowsOptions(const Json* options, const Path& path, FieldErrors& errors);
void CheckHostProcess(const Json& spec, const Path& path, FieldErrors& errors);
void CheckHostUsers(const Json& spec, const Path& path, FieldErrors& errors);
void CheckOs(const Json& spec, const Path& path, FieldErrors& errors);

// pod_annotations.cc
void CheckPodAnnotations(const Json& annotations, const Json& spec, const PodValidationOptions& options,
                         const Path& path, FieldErrors& errors);
void CheckPodAnnotationUpdates(const Json& pod, const Json& old, const PodValidationOptions& options,
                               const Path& path, FieldErrors& errors);
// The annotations of the pod's script.
void CheckPodScript(const Json& annotations, const Json& spec, const Path& path, FieldErrors& errors);
// Requires seccomp and AppArmor annotations to agree with the fields.
void CheckProfileAnnotations(const Json& metadata, const Json& spec, const Path& spec_path,
                             FieldErrors& errors);
bool IsValidDeletionCost(const Json& annotations);

// Small steps.
inline void CheckSubdomain(std::string_view text, const Path& path, FieldErrors& errors) {
  AddInvalid(IsDns1123Subdomain(text), text, path, errors);
}
inline void CheckDnsLabel(std::string_view text, const Path& path, FieldErrors& errors) {
  AddInvalid(IsDns1123Label(text), text, path, errors);
}
// Requires parent[field] not to be empty.
inline bool RequireText(const Json& parent, std::string_view field, const Path& path, FieldErrors& errors) {
  if (!StringAt(parent, field).empty()) return true;
  errors.push_back(api::RequiredError(path.Child(field)));
  return false;
}

}  // namespace terrarium::apiserver::pod_rules

// What a kubelet may write into a pod's status.

#include <algorithm>

#include "apiserver/validation/internal/pod_rules.h"

namespace terrarium::apiserver {

using namespace pod_rules;  // NOLINT: the helpers of this folder

namespace {

void CheckConditions(const Json& conditions, const Path& path, FieldErrors& errors) {
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    const std::int64_t generation = IntAt(conditions[i], 0, "observedGeneration");
    if (generation < 0) {
      errors.push_back(api::InvalidError(path.Index(i).Child("observedGeneration"), generation,
                                         "must be a non-negative integer"));
    }
    const std::string_view type = StringAt(conditions[i], "type");
    if (type == "PodScheduled" || type == "Ready" || type == "Initialized") continue;
    AddInvalid(IsQualifiedName(type), type, path.Index(i).Child("Type"), errors);
  }
}

void CheckNominatedNode(const Json& pod, const Json& old, const Path& path, FieldErrors& errors) {
  const std::string_view name = StringAt(pod, "status", "nominatedNodeName");
  if (name.empty() || name == StringAt(old, "status", "nominatedNodeName")) return;
  const Path here = path.Child("nominatedNodeName");
  CheckSubdomain(name, here, errors);
  if (!StringAt(old, "spec", "nodeName").empty()) {
    errors.push_back(api::ForbiddenError(here, "may not be set on pods that are already bound to a node"));
  }
}

bool HasRestartAllRule(const Json& spec) {
  for (const char* list : {"initContainers", "containers"}) {
    for (const Json& container : ListAt(spec, list)) {
      const Json& rules = ListAt(container, "restartPolicyRules");
      if (std::any_of(rules.begin(), rules.end(),
                      [](const Json& rule) { return StringAt(rule, "action") == "RestartAllContainers"; })) {
        return true;
      }
    }
  }
  return false;
}

bool PolicyRestarts(std::string_view policy, std::int64_t exit_code) {
  return policy == "OnFailure" ? exit_code != 0 : policy != "Never";
}

// Whether a container that ended with `exit_code` may run again.
bool MayRestart(const Json& container, const Json& spec, std::int64_t exit_code) {
  const Json* own = Find(container, "restartPolicy");
  if (own == nullptr) return PolicyRestarts(StringAt(spec, "restartPolicy"), exit_code);
  for (const Json& rule : ListAt(container, "restartPolicyRules")) {
    const Json& codes = ListAt(rule, "exitCodes", "values");
    const bool listed = std::find(codes.begin(), codes.end(), Json(exit_code)) != codes.end();
    const std::string_view op = StringAt(rule, "exitCodes", "operator");
    if (op == "In" ? listed : op == "NotIn" && !listed) return true;
  }
  return PolicyRestarts(TextOf(*own), exit_code);
}

// The first item of each name.
using ByName = std::map<std::string_view, const Json*>;

ByName FirstByName(const Json& list) {
  ByName out;
  for (const Json& item : list) out.emplace(StringAt(item, "name"), &item);
  return out;
}

// A container that has ended stays so, unless it is one that restarts. `containers` is the spec's list, or
// null for ephemeral ones, which never restart.
void CheckTransitions(const Json& statuses, const Json& old_statuses, const Json& spec,
                      const Json* containers, const Path& path, FieldErrors& errors) {
  if (old_statuses.empty()) return;
  const ByName status_of = FirstByName(statuses);
  const ByName container_of = containers == nullptr ? ByName() : FirstByName(*containers);
  for (std::size_t i = 0; i < old_statuses.size(); ++i) {
    const Json* terminated = Find(old_statuses[i], "state", "terminated");
    if (terminated == nullptr) continue;
    const std::string_view name = StringAt(old_statuses[i], "name");
    const auto status = status_of.find(name);
    if (status == status_of.end() || Find(*status->second, "state", "terminated") != nullptr) continue;
    const auto container = container_of.find(name);
    if (container != container_of.end() &&
        MayRestart(*container->second, spec, IntAt(*terminated, 0, "exitCode"))) {
      continue;
    }
    errors.push_back(
        api::ForbiddenError(path.Index(i).Child("state"), "may not be transitioned to non-terminated state"));
  }
}

void CheckAllTransitions(const Json& status, const Json& old, const Path& path, FieldErrors& errors) {
  const Json& spec = ObjectAt(old, "spec");
  const Json& old_status = ObjectAt(old, "status");
  const auto check = [&](const char* field, const Json* containers) {
    CheckTransitions(ListAt(status, field), ListAt(old_status, field), spec, containers, path.Child(field),
                     errors);
  };
  if (!HasRestartAllRule(spec)) {
    check("containerStatuses", &ListAt(spec, "containers"));
    check("initContainerStatuses", &ListAt(spec, "initContainers"));
  }
  check("ephemeralContainerStatuses", nullptr);
}

void CheckClaimStatuses(const Json& pod, const Path& path, FieldErrors& errors) {
  const Json& statuses = ListAt(pod, "status", "resourceClaimStatuses");
  if (statuses.empty()) return;
  const ByName claims = FirstByName(ListAt(pod, "spec", "resourceClaims"));
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < statuses.size(); ++i) {
    const Path here = path.Index(i);
    const std::string_view name = StringAt(statuses[i], "name");
    if (!claims.contains(name)) {
      errors.push_back(api::InvalidError(here.Child("name"), name,
                                         "must match the name of an entry in `spec.resourceClaims`"));
    }
    if (!seen.insert(name).second) errors.push_back(api::DuplicateError(here.Child("name"), name));
    if (const Json* claim = Find(statuses[i], "resourceClaimName")) {
      CheckSubdomain(TextOf(*claim), here.Child("resourceClaimName"), errors);
    }
  }
}

// podIPs and hostIPs: addresses, at most one of each family. An address that was there may stay.
void CheckIps(const Json& ips, const Json& old_ips, const Path& path, FieldErrors& errors) {
  bool families[2] = {false, false};
  std::set<std::string_view> had;
  for (const Json& old : old_ips) had.insert(StringAt(old, "ip"));
  for (std::size_t i = 0; i < ips.size(); ++i) {
    const std::string_view ip = StringAt(ips[i], "ip");
    if (!had.contains(ip)) Append(errors, IsValidIp(ip, path.Index(i)));
    if (const std::optional<int> family = IpFamily(ip)) families[*family == 6] = true;
  }
  if (ips.size() > 1 && (ips.size() > 2 || !families[0] || !families[1])) {
    errors.push_back(api::InvalidError(path, ips, "may specify no more than one IP for each IP family"));
  }
}

void CheckHostIps(const Json& status, const Json& old_status, const Path& path, FieldErrors& errors) {
  const Json& ips = ListAt(status, "hostIPs");
  if (ips.empty()) return;
  const std::string_view first = StringAt(ips[0], "ip");
  if (StringAt(status, "hostIP") != first) {
    errors.push_back(api::InvalidError(path.Index(0).Child("ip"), first, "must be equal to `hostIP`"));
  }
  CheckIps(ips, ListAt(old_status, "hostIPs"), path, errors);
}

void CheckUsers(const Json& statuses, std::string_view os, const Path& path, FieldErrors& errors) {
  for (std::size_t i = 0; i < statuses.size(); ++i) {
    const Json* user = Find(statuses[i], "user", "linux");
    if (user == nullptr) continue;
    const Path here = path.Index(i).Child("user", "linux");
    if (os == "windows") {
      errors.push_back(api::ForbiddenError(here, "cannot be set for a windows pod"));
      continue;
    }
    for (const char* field : {"uid", "gid"}) {
      const std::int64_t id = IntAt(*user, 0, field);
      for (const std::string& message : IsValidUserOrGroupId(id)) {
        errors.push_back(api::InvalidError(here.Child(field), id, message));
      }
    }
    const Json& groups = ListAt(*user, "supplementalGroups");
    for (std::size_t j = 0; j < groups.size(); ++j) {
      for (const std::string& message : IsValidUserOrGroupId(groups[j].get<std::int64_t>())) {
        errors.push_back(api::InvalidError(here.Child("supplementalGroups").Index(j), groups[j], message));
      }
    }
  }
}

}  // namespace

FieldErrors ValidatePodStatusUpdate(const Json& pod, const Json& old, const PodValidationOptions& options) {
  const Path metadata_path("metadata");
  const Path path("status");
  const Json& status = ObjectAt(pod, "status");
  FieldErrors errors =
      ValidateObjectMetaUpdate(ObjectAt(pod, "metadata"), ObjectAt(old, "metadata"), metadata_path);
  CheckPodAnnotationUpdates(pod, old, options, metadata_path.Child("annotations"), errors);
  CheckConditions(ListAt(status, "conditions"), path.Child("conditions"), errors);
  if (StringAt(pod, "spec", "nodeName") != StringAt(old, "spec", "nodeName")) {
    errors.push_back(api::ForbiddenError(path.Child("nodeName"), "may not be changed directly"));
  }
  CheckNominatedNode(pod, old, path, errors);
  const std::int64_t generation = IntAt(status, 0, "observedGeneration");
  if (generation < 0) {
    errors.push_back(
        api::InvalidError(path.Child("observedGeneration"), generation, "must be a non-negative integer"));
  }
  const std::string_view qos = StringAt(status, "qosClass");
  if (qos != StringAt(old, "status", "qosClass")) {
    errors.push_back(api::InvalidError(path.Child("qosClass"), qos, "field is immutable"));
  }
  CheckAllTransitions(status, old, path, errors);
  CheckClaimStatuses(pod, path.Child("resourceClaimStatuses"), errors);
  CheckIps(ListAt(status, "podIPs"), ListAt(old, "status", "podIPs"), path.Child("podIPs"), errors);
  CheckHostIps(status, ObjectAt(old, "status"), path.Child("hostIPs"), errors);
  for (const char* field : {"containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"}) {
    CheckUsers(ListAt(status, field), StringAt(pod, "spec", "os", "name"), path.Child(field), errors);
  }
  return errors;
}

}  // namespace terrarium::apiserver

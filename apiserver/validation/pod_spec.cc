#include <algorithm>
#include <limits>

#include "apiserver/validation/internal/pod_rules.h"

namespace terrarium::apiserver {

using namespace pod_rules;  // NOLINT: the helpers of this folder

namespace {

constexpr std::int64_t kInt32Max = std::numeric_limits<std::int32_t>::max();

// With hostNetwork a container's ports are the host's. A template may leave host ports out: pods made from it
// get them.
void CheckHostNetworkPorts(const PodScope& scope, const Path& path, FieldErrors& errors) {
  if (!BoolAt(scope.spec, "hostNetwork")) return;
  const Json& containers = ListAt(scope.spec, "containers");
  for (std::size_t i = 0; i < containers.size(); ++i) {
    const Json& ports = ListAt(containers[i], "ports");
    for (std::size_t j = 0; j < ports.size(); ++j) {
      const std::int64_t host = IntAt(ports[j], 0, "hostPort");
      if (host == IntAt(ports[j], 0, "containerPort") || (host == 0 && !scope.options.resource_is_pod))
        continue;
      errors.push_back(
          api::InvalidError(path.Child("containers").Index(i).Child("ports").Index(j).Child("hostPort"), host,
                            "must match `containerPort` when `hostNetwork` is true"));
    }
  }
}

// Requires parent[field] to be one of the values; an empty one is reported as missing.
void CheckWord(const Json& parent, std::string_view field, const std::vector<std::string_view>& words,
               const Path& path, FieldErrors& errors) {
  const std::string_view value = StringAt(parent, field);
  if (value.empty()) {
    errors.push_back(api::RequiredError(path.Child(field)));
  } else if (std::find(words.begin(), words.end(), value) == words.end()) {
    errors.push_back(api::NotSupportedError(path.Child(field), value, words));
  }
}

void CheckDnsSearches(const Json& searches, const Path& path, FieldErrors& errors) {
  if (searches.size() > 32) {
    errors.push_back(api::InvalidError(path, searches, "must not have more than 32 search paths"));
  }
  std::size_t length = searches.empty() ? 0 : searches.size() - 1;
  for (const Json& search : searches) length += TextOf(search).size();
  if (length > 2048) {
    errors.push_back(api::InvalidError(
        path, searches, "must not have more than 2048 characters (including spaces) in the search list"));
  }
  for (std::size_t i = 0; i < searches.size(); ++i) {
    std::string_view search = TextOf(searches[i]);
    if (search == ".") continue;
    if (search.ends_with(".")) search.remove_suffix(1);
    AddInvalid(IsDns1123SubdomainWithUnderscore(search), search, path.Index(i), errors);
  }
}

void CheckDnsConfig(const Json& spec, const Path& path, FieldErrors& errors) {
  const Json* config = Find(spec, "dnsConfig");
  const Path here = path.Child("dnsConfig");
  if (StringAt(spec, "dnsPolicy") == "None") {
    if (config == nullptr) {
      errors.push_back(api::RequiredError(here, "must provide `dnsConfig` when `dnsPolicy` is None"));
      return;
    }
    if (ListAt(*config, "nameservers").empty()) {
      errors.push_back(api::RequiredError(
          here.Child("nameservers"), "must provide at least one DNS nameserver when `dnsPolicy` is None"));
      return;
    }
  }
  if (config == nullptr) return;
  const Json& servers = ListAt(*config, "nameservers");
  if (servers.size() > 3) {
    errors.push_back(
        api::InvalidError(here.Child("nameservers"), servers, "must not have more than 3 nameservers"));
  }
  for (std::size_t i = 0; i < servers.size(); ++i) {
    Append(errors, IsValidIp(TextOf(servers[i]), here.Child("nameservers").Index(i)));
  }
  CheckDnsSearches(ListAt(*config, "searches"), here.Child("searches"), errors);
  const Json& options = ListAt(*config, "options");
  for (std::size_t i = 0; i < options.size(); ++i) {
    if (StringAt(options[i], "name").empty()) {
      errors.push_back(api::RequiredError(here.Child("options").Index(i), "must not be empty"));
    }
  }
}

void CheckHostnameOverride(const Json& spec, const Path& path, FieldErrors& errors) {
  const Json* name = Find(spec, "hostnameOverride");
  if (name == nullptr) return;
  const Path here = path.Child("hostnameOverride");
  if (BoolAt(spec, "setHostnameAsFQDN")) {
    errors.push_back(api::ForbiddenError(here, "may not be specified when setHostnameAsFQDN is true"));
  }
  if (BoolAt(spec, "hostNetwork")) {
    errors.push_back(api::ForbiddenError(here, "may not be specified when hostNetwork is true"));
  }
  if (TextOf(*name).size() > 64) errors.push_back(api::TooLongError(here, 64));
  CheckSubdomain(TextOf(*name), here, errors);
}

void CheckHostAliases(const Json& aliases, const Path& path, FieldErrors& errors) {
  for (std::size_t i = 0; i < aliases.size(); ++i) {
    Append(errors, IsValidIp(StringAt(aliases[i], "ip"), path.Index(i).Child("ip")));
    const Json& names = ListAt(aliases[i], "hostnames");
    for (std::size_t j = 0; j < names.size(); ++j) {
      CheckSubdomain(TextOf(names[j]), path.Index(i).Child("hostnames").Index(j), errors);
    }
  }
}

// parent[field], when not empty, is a DNS subdomain (or label).
void CheckOptionalName(const Json& spec, std::string_view field, Messages (*check)(std::string_view),
                       const Path& path, FieldErrors& errors) {
  const std::string_view name = StringAt(spec, field);
  if (!name.empty()) AddInvalid(check(name), name, path.Child(field), errors);
}

void CheckNamesAndTimes(const PodScope& scope, const Path& path, FieldErrors& errors) {
  const Json& spec = scope.spec;
  CheckOptionalName(spec, "serviceAccountName", IsDns1123Subdomain, path, errors);
  CheckOptionalName(spec, "nodeName", IsDns1123Subdomain, path, errors);
  if (const Json* deadline = Find(spec, "activeDeadlineSeconds")) {
    const std::int64_t seconds = deadline->get<std::int64_t>();
    if (seconds < 1 || seconds > kInt32Max) {
      errors.push_back(
          api::InvalidError(path.Child("activeDeadlineSeconds"), seconds, RangeMessage(1, kInt32Max)));
    }
  }
  CheckOptionalName(spec, "hostname", IsDns1123Label, path, errors);
  CheckOptionalName(spec, "subdomain", IsDns1123Label, path, errors);
  CheckTolerations(ListAt(spec, "tolerations"), path.Child("tolerations"), errors);
  CheckHostAliases(ListAt(spec, "hostAliases"), path.Child("hostAliases"), errors);
  CheckOptionalName(spec, "priorityClassName", IsDns1123Subdomain, path, errors);
  if (const Json* name = Find(spec, "runtimeClassName")) {
    CheckSubdomain(TextOf(*name), path.Child("runtimeClassName"), errors);
  }
  if (Find(spec, "preemptionPolicy") != nullptr) {
    CheckWord(spec, "preemptionPolicy", {"PreemptLowerPriority", "Never"}, path, errors);
  }
  if (const Json* overhead = Find(spec, "overhead")) {
    CheckResources(Json{{"limits", *overhead}}, ResourceOwner::kContainer, scope, path.Child("overhead"),
                   errors);
  }
}

void CheckPodRules(const PodScope& scope, const Path& path, FieldErrors& errors) {
  const Json& spec = scope.spec;
  CheckHostNetworkPorts(scope, path, errors);
  CheckWord(spec, "restartPolicy", {"Always", "OnFailure", "Never"}, path, errors);
  CheckWord(spec, "dnsPolicy", {"ClusterFirstWithHostNet", "ClusterFirst", "Default", "None"}, path, errors);
  Append(errors, ValidateLabels(ObjectAt(spec, "nodeSelector"), path.Child("nodeSelector")));
  CheckPodSecurityContext(spec, path.Child("securityContext"), errors);
  if (const Json* affinity = Find(spec, "affinity")) CheckAffinity(*affinity, path.Child("affinity"), errors);
  CheckDnsConfig(spec, path, errors);
  const Json& readiness_gates = ListAt(spec, "readinessGates");
  for (std::size_t i = 0; i < readiness_gates.size(); ++i) {
    const std::string_view type = StringAt(readiness_gates[i], "conditionType");
    AddInvalid(IsQualifiedName(type), type, path.Child("readinessGates").Index(i).Child("conditionType"),
               errors);
  }
  CheckSchedulingGates(ListAt(spec, "schedulingGates"), path.Child("schedulingGates"), errors);
  CheckTopologySpread(ListAt(spec, "topologySpreadConstraints"), path.Child("topologySpreadConstraints"),
                      errors);
  CheckHostProcess(spec, path, errors);
  CheckHostUsers(spec, path, errors);
  CheckHostnameOverride(spec, path, errors);
  CheckNamesAndTimes(scope, path, errors);
  CheckOs(spec, path, errors);
  CheckFileKeyRefVolumes(spec, path, errors);
}

}  // namespace

PodValidationOptions PodOptions(const StrategyContext& context, const Json* old) {
  PodValidationOptions options;
  options.check_pod_deletion_cost =
      context.gates.Enabled(api::gate::kPodDeletionCost) &&
      (old == nullptr || IsValidDeletionCost(ObjectAt(*old, "metadata", "annotations")));
  return options;
}

FieldErrors ValidatePodSpec(const Json& pod_spec, const Json& pod_metadata,
                            const PodValidationOptions& options, const Path& path) {
  FieldErrors errors;
  if (Find(pod_spec, "terminationGracePeriodSeconds") == nullptr) {
    errors.push_back(api::RequiredError(path.Child("terminationGracePeriodSeconds")));
  }
  PodScope scope{.spec = pod_spec, .options = options};
  const Json* host_users = Find(pod_spec, "hostUsers");
  scope.host_users = host_users == nullptr || host_users->get<bool>();
  for (const Json& claim : ListAt(pod_spec, "resourceClaims")) {
    const std::string_view name = StringAt(claim, "name");
    if (!name.empty()) scope.claims.emplace(name);
  }
  CheckVolumes(scope, pod_metadata, path.Child("volumes"), errors);
  CheckResourceClaims(scope, pod_metadata, path.Child("resourceClaims"), errors);
  CheckContainers(scope, path.Child("containers"), errors);
  CheckInitContainers(scope, path.Child("initContainers"), errors);
  CheckEphemeralContainers(scope, path.Child("ephemeralContainers"), errors);
  CheckPodLevelResources(scope, path, errors);
  CheckPodRules(scope, path, errors);
  return errors;
}

FieldErrors ValidatePodTemplateSpec(const Json& pod_template, const PodValidationOptions& options,
                                    const Path& path) {
  const Json& metadata = ObjectAt(pod_template, "metadata");
  const Json& spec = ObjectAt(pod_template, "spec");
  // Labels and annotations are reported without "metadata", as Kubernetes does for templates.
  FieldErrors errors = ValidateLabels(ObjectAt(metadata, "labels"), path.Child("labels"));
  Append(errors, ValidateAnnotations(ObjectAt(metadata, "annotations"), path.Child("annotations")));
  CheckPodAnnotations(ObjectAt(metadata, "annotations"), spec, options, path.Child("annotations"), errors);
  CheckPodScript(ObjectAt(metadata, "annotations"), spec, path.Child("metadata", "annotations"), errors);
  Append(errors, ValidatePodSpec(spec, api::EmptyObject(), options, path.Child("spec")));
  CheckProfileAnnotations(metadata, spec, path.Child("spec"), errors);
  if (!ListAt(spec, "ephemeralContainers").empty()) {
    errors.push_back(api::ForbiddenError(path.Child("spec", "ephemeralContainers"),
                                         "ephemeral containers not allowed in pod template"));
  }
  return errors;
}

}  // namespace terrarium::apiserver

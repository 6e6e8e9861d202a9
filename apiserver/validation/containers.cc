// containers, initContainers and ephemeralContainers of a pod spec.

#include <algorithm>

#include "apiserver/validation/internal/pod_rules.h"

namespace terrarium::apiserver::pod_rules {
namespace {

using Names = std::set<std::string, std::less<>>;

constexpr std::string_view kOnlySidecars = "may not be set for init containers without restartPolicy=Always";
constexpr std::string_view kNotEphemeral = "cannot be set for an Ephemeral Container";

void CheckTerminationMessagePolicy(const Json& container, const Path& path, FieldErrors& errors) {
  const std::string_view policy = StringAt(container, "terminationMessagePolicy");
  if (policy == "File" || policy == "FallbackToLogsOnError") return;
  const Path here = path.Child("terminationMessagePolicy");
  if (policy.empty()) {
    errors.push_back(api::RequiredError(here));
  } else {
    errors.push_back(api::NotSupportedError(here, policy, {"File", "FallbackToLogsOnError"}));
  }
}

void CheckResizePolicy(const Json& policies, std::string_view restart_policy, const Path& path,
                       FieldErrors& errors) {
  Names seen;
  for (std::size_t i = 0; i < policies.size(); ++i) {
    const std::string_view resource = StringAt(policies[i], "resourceName");
    const std::string_view restart = StringAt(policies[i], "restartPolicy");
    if (!seen.emplace(resource).second) errors.push_back(api::DuplicateError(path.Index(i), resource));
    if (resource.empty()) {
      errors.push_back(api::RequiredError(path));
    } else if (resource != "cpu" && resource != "memory") {
      errors.push_back(api::NotSupportedError(path, resource, {"cpu", "memory"}));
    }
    if (restart.empty()) {
      errors.push_back(api::RequiredError(path));
    } else if (restart != "NotRequired" && restart != "RestartContainer") {
      errors.push_back(api::NotSupportedError(path, restart, {"NotRequired", "RestartContainer"}));
    }
    if (restart_policy == "Never" && restart != "NotRequired") {
      errors.push_back(
          api::InvalidError(path, restart, "must be 'NotRequired' when pod `restartPolicy` is 'Never'"));
    }
  }
}

void CheckRestartRule(const Json& rule, const Path& path, FieldErrors& errors) {
  const std::string_view action = StringAt(rule, "action");
  if (action != "Restart" && action != "RestartAllContainers") {
    errors.push_back(
        api::NotSupportedError(path.Child("action"), action, {"Restart", "RestartAllContainers"}));
  }
  const Json* codes = Find(rule, "exitCodes");
  if (codes == nullptr) {
    errors.push_back(api::RequiredError(path.Child("exitCodes"), "must be specified"));
    return;
  }
  const std::string_view op = StringAt(*codes, "operator");
  if (op != "In" && op != "NotIn") {
    errors.push_back(api::NotSupportedError(path.Child("exitCodes", "operator"), op, {"In", "NotIn"}));
  }
  const int count = static_cast<int>(ListAt(*codes, "values").size());
  if (count > 255) errors.push_back(api::TooManyError(path.Child("exitCodes", "values"), count, 255));
}

// restartPolicy and restartPolicyRules of one container.
void CheckRestart(const Json& container, const Path& path, FieldErrors& errors) {
  const Json* policy = Find(container, "restartPolicy");
  const Json& rules = ListAt(container, "restartPolicyRules");
  const std::string_view text = policy == nullptr ? std::string_view{} : TextOf(*policy);
  if (policy == nullptr && rules.empty()) return;
  if (policy == nullptr) {
    errors.push_back(api::RequiredError(path.Child("restartPolicy"),
                                        "must specify restartPolicy when restart rules are used"));
  } else if (text != "Always" && text != "Never" && text != "OnFailure") {
    errors.push_back(
        api::NotSupportedError(path.Child("restartPolicy"), text, {"Always", "Never", "OnFailure"}));
  }
  const Path here = path.Child("restartPolicyRules");
  if (rules.size() > 20) errors.push_back(api::TooManyError(here, static_cast<int>(rules.size()), 20));
  for (std::size_t i = 0; i < rules.size(); ++i) CheckRestartRule(rules[i], here.Index(i), errors);
}

// Host ports of one or several containers do not clash.
void CheckHostPorts(const Json& container, Names& seen, const Path& path, FieldErrors& errors) {
  const Json& ports = ListAt(container, "ports");
  for (std::size_t i = 0; i < ports.size(); ++i) {
    const std::int64_t port = IntAt(ports[i], 0, "hostPort");
    if (port == 0) continue;
    std::string key(StringAt(ports[i], "protocol"));
    key.append("/").append(StringAt(ports[i], "hostIP")).append("/").append(std::to_string(port));
    if (seen.contains(key)) {
      errors.push_back(api::DuplicateError(path.Child("ports").Index(i).Child("hostPort"), key));
    } else {
      seen.insert(std::move(key));
    }
  }
}

void CheckCommon(const Json& container, const PodScope& scope, const Path& path, FieldErrors& errors) {
  if (RequireText(container, "name", path, errors)) {
    CheckDnsLabel(StringAt(container, "name"), path.Child("name"), errors);
  }
  RequireText(container, "image", path, errors);
  CheckTerminationMessagePolicy(container, path, errors);
  CheckPorts(ListAt(container, "ports"), path.Child("ports"), errors);
  CheckEnv(ListAt(container, "env"), path.Child("env"), errors);
  CheckEnvFrom(ListAt(container, "envFrom"), path.Child("envFrom"), errors);
  CheckVolumeMounts(container, scope, path.Child("volumeMounts"), errors);
  CheckVolumeDevices(container, scope, path.Child("volumeDevices"), errors);
  CheckPullPolicy(StringAt(container, "imagePullPolicy"), path.Child("imagePullPolicy"), errors);
  CheckResources(ObjectAt(container, "resources"), ResourceOwner::kContainer, scope, path.Child("resources"),
                 errors);
  CheckResizePolicy(ListAt(container, "resizePolicy"), scope.RestartPolicy(), path.Child("resizePolicy"),
                    errors);
  CheckContainerSecurityContext(Find(container, "securityContext"), scope.host_users,
                                path.Child("securityContext"), errors);
}

void CheckRunning(const Json& container, const PodScope& scope, const Path& path, FieldErrors& errors) {
  if (const Json* lifecycle = Find(container, "lifecycle")) {
    CheckLifecycle(*lifecycle, Find(scope.spec, "terminationGracePeriodSeconds"), path.Child("lifecycle"),
                   errors);
  }
  CheckProbes(container, path, errors);
}

void CheckInitResizePolicy(const Json& container, const Path& path, FieldErrors& errors) {
  const Json& policies = ListAt(container, "resizePolicy");
  for (std::size_t i = 0; i < policies.size(); ++i) {
    if (StringAt(policies[i], "restartPolicy") != "RestartContainer") continue;
    errors.push_back(
        api::InvalidError(path.Child("resizePolicy").Index(i).Child("restartPolicy"), "RestartContainer",
                          "must not be set to 'RestartContainer' for non-sidecar initContainers"));
  }
}

void CheckEphemeralFields(const Json& container, const Path& path, FieldErrors& errors) {
  for (const char* field : {"ports", "resources", "resizePolicy", "restartPolicy", "restartPolicyRules",
                            "livenessProbe", "readinessProbe", "startupProbe", "lifecycle"}) {
    const Json* value = Find(container, field);
    if (value == nullptr || value->empty()) continue;
    errors.push_back(api::ForbiddenError(path.Child(field), kNotEphemeral));
  }
  const Json& mounts = ListAt(container, "volumeMounts");
  for (std::size_t i = 0; i < mounts.size(); ++i) {
    for (const char* field : {"subPath", "subPathExpr"}) {
      if (StringAt(mounts[i], field).empty()) continue;
      errors.push_back(api::ForbiddenError(path.Child("volumeMounts").Index(i).Child(field), kNotEphemeral));
    }
  }
}

}  // namespace

void CheckPullPolicy(std::string_view policy, const Path& path, FieldErrors& errors) {
  if (policy == "Always" || policy == "IfNotPresent" || policy == "Never") return;
  if (policy.empty()) {
    errors.push_back(api::RequiredError(path));
  } else {
    errors.push_back(api::NotSupportedError(path, policy, {"Always", "IfNotPresent", "Never"}));
  }
}

void CheckContainers(const PodScope& scope, const Path& path, FieldErrors& errors) {
  const Json& containers = ListAt(scope.spec, "containers");
  if (containers.empty()) {
    errors.push_back(api::RequiredError(path));
    return;
  }
  Names names;
  for (std::size_t i = 0; i < containers.size(); ++i) {
    const Path here = path.Index(i);
    CheckCommon(containers[i], scope, here, errors);
    const std::string_view name = StringAt(containers[i], "name");
    if (!names.emplace(name).second) errors.push_back(api::DuplicateError(here.Child("name"), name));
    CheckRunning(containers[i], scope, here, errors);
    CheckRestart(containers[i], here, errors);
  }
  Names host_ports;
  for (std::size_t i = 0; i < containers.size(); ++i)
    CheckHostPorts(containers[i], host_ports, path.Index(i), errors);
}

void CheckInitContainers(const PodScope& scope, const Path& path, FieldErrors& errors) {
  Names names;
  for (const Json& container : ListAt(scope.spec, "containers")) names.emplace(StringAt(container, "name"));
  const Json& containers = ListAt(scope.spec, "initContainers");
  for (std::size_t i = 0; i < containers.size(); ++i) {
    const Path here = path.Index(i);
    CheckCommon(containers[i], scope, here, errors);
    CheckRestart(containers[i], here, errors);
    const std::string_view name = StringAt(containers[i], "name");
    if (names.contains(name)) {
      errors.push_back(api::DuplicateError(here.Child("name"), name));
    } else if (!name.empty()) {
      names.emplace(name);
    }
    // Init containers run one at a time: each is checked alone, and reported as if it were the first.
    Names host_ports;
    CheckHostPorts(containers[i], host_ports, path.Index(0), errors);
    if (StringAt(containers[i], "restartPolicy") == "Always") {
      CheckRunning(containers[i], scope, here, errors);
      continue;
    }
    for (const char* field : {"lifecycle", "livenessProbe", "readinessProbe", "startupProbe"}) {
      if (Find(containers[i], field) != nullptr) {
        errors.push_back(api::ForbiddenError(here.Child(field), kOnlySidecars));
      }
    }
    CheckInitResizePolicy(containers[i], here, errors);
  }
}

void CheckEphemeralContainers(const PodScope& scope, const Path& path, FieldErrors& errors) {
  const Json& ephemeral = ListAt(scope.spec, "ephemeralContainers");
  if (ephemeral.empty()) return;
  Names others;
  for (const char* list : {"containers", "initContainers"}) {
    for (const Json& container : ListAt(scope.spec, list)) others.emplace(StringAt(container, "name"));
  }
  Names names = others;
  for (std::size_t i = 0; i < ephemeral.size(); ++i) {
    const Path here = path.Index(i);
    CheckCommon(ephemeral[i], scope, here, errors);
    CheckImageBlanks(ephemeral[i], here, errors);
    const std::string_view name = StringAt(ephemeral[i], "name");
    if (!names.emplace(name).second) errors.push_back(api::DuplicateError(here.Child("name"), name));
    const std::string_view target = StringAt(ephemeral[i], "targetContainerName");
    if (!target.empty() && !others.contains(target)) {
      errors.push_back(api::NotFoundFieldError(here.Child("targetContainerName"), target));
    }
    CheckEphemeralFields(ephemeral[i], here, errors);
  }
}

void CheckImageBlanks(const Json& container, const Path& path, FieldErrors& errors) {
  constexpr std::string_view kBlanks = " \t\n\v\f\r";
  const std::string_view image = StringAt(container, "image");
  if (image.empty()) return;
  const bool blanks = kBlanks.find(image.front()) != std::string_view::npos ||
                      kBlanks.find(image.back()) != std::string_view::npos;
  if (!blanks) return;
  errors.push_back(
      api::InvalidError(path.Child("image"), image, "must not have leading or trailing whitespace"));
}

void VisitContainers(const Json& spec, const Path& spec_path,
                     const std::function<void(const Json& container, const Path& path)>& visit) {
  for (const char* list : {"initContainers", "containers", "ephemeralContainers"}) {
    const Json& containers = ListAt(spec, list);
    for (std::size_t i = 0; i < containers.size(); ++i) visit(containers[i], spec_path.Child(list).Index(i));
  }
}

}  // namespace terrarium::apiserver::pod_rules

// Security contexts of pods and containers: ids, profiles, sysctls.

#include <algorithm>
#include <array>

#include "apiserver/validation/internal/pod_rules.h"

namespace terrarium::apiserver::pod_rules {
namespace {

constexpr std::string_view kSysctlRegex =
    R"(^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$)";

void CheckId(const Json& context, std::string_view field, const Path& path, FieldErrors& errors) {
  const Json* id = Find(context, field);
  if (id == nullptr) return;
  for (const std::string& message : IsValidUserOrGroupId(id->get<std::int64_t>())) {
    errors.push_back(api::InvalidError(path.Child(field), *id, message));
  }
}

// Segments of lower-case letters and digits with - and _ inside, separated by . or /.
bool IsSysctlName(std::string_view name) {
  const auto alnum = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  if (name.empty() || name.size() > 253) return false;
  for (;;) {
    const std::size_t end = name.find_first_of("./");
    const std::string_view part = name.substr(0, end);
    if (part.empty() || !alnum(part.front()) || !alnum(part.back())) return false;
    if (!std::all_of(part.begin(), part.end(), [&](char c) { return alnum(c) || c == '-' || c == '_'; }))
      return false;
    if (end == std::string_view::npos) return true;
    name.remove_prefix(end + 1);
  }
}

// With dots for separators: "net/ipv4/ip_local_port_range" is net.ipv4.ip_local_port_range. A name whose
// first separator is a dot is as it should be, whatever slashes follow.
std::string NormalizedSysctl(std::string_view name) {
  std::string out(name);
  const std::size_t first = out.find_first_of("./");
  if (first == std::string::npos || out[first] == '.') return out;
  for (char& c : out) c = c == '.' ? '/' : c == '/' ? '.' : c;
  return out;
}

enum class KernelNamespace { kUnknown, kNet, kIpc };

KernelNamespace NamespaceOf(std::string_view sysctl) {
  static constexpr std::array<std::string_view, 10> kIpc = {
      "kernel.sem", "kernel.shmall", "kernel.shmmax", "kernel.shmmni", "kernel.shm_rmid_forced",
      "kernel.shm", "kernel.msgmax", "kernel.msgmnb", "kernel.msgmni", "kernel.msg"};
  const std::string name = NormalizedSysctl(sysctl);
  if (std::find(kIpc.begin(), kIpc.end(), name) != kIpc.end() || name.starts_with("fs.mqueue.")) {
    return KernelNamespace::kIpc;
  }
  return name.starts_with("net.") ? KernelNamespace::kNet : KernelNamespace::kUnknown;
}

void CheckSysctls(const Json& spec, const Path& path, FieldErrors& errors) {
  const Json& sysctls = ListAt(spec, "securityContext", "sysctls");
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < sysctls.size(); ++i) {
    const std::string_view name = StringAt(sysctls[i], "name");
    const Path here = path.Index(i).Child("name");
    if (name.empty()) {
      errors.push_back(api::RequiredError(here));
    } else if (!IsSysctlName(name)) {
      errors.push_back(api::InvalidError(
          here, name, "must have at most 253 characters and match regex " + std::string(kSysctlRegex)));
    } else if (seen.contains(name)) {
      errors.push_back(api::DuplicateError(here, name));
    }
    const KernelNamespace ns = NamespaceOf(name);
    if (BoolAt(spec, "hostNetwork") && ns == KernelNamespace::kNet) {
      errors.push_back(api::InvalidError(here, name, "may not be specified when 'hostNetwork' is true"));
    } else if (BoolAt(spec, "hostIPC") && ns == KernelNamespace::kIpc) {
      errors.push_back(api::InvalidError(here, name, "may not be specified when 'hostIPC' is true"));
    }
    seen.insert(name);
  }
}

// parent[field], when present, is one of two words.
void CheckChoice(const Json& parent, std::string_view field, std::string_view first, std::string_view second,
                 const Path& path, FieldErrors& errors) {
  const Json* value = Find(parent, field);
  if (value == nullptr || TextOf(*value) == first || TextOf(*value) == second) return;
  errors.push_back(api::NotSupportedError(path.Child(field), *value, {first, second}));
}

void CheckPrivilegeEscalation(const Json& context, const Path& path, FieldErrors& errors) {
  const Json* escalation = Find(context, "allowPrivilegeEscalation");
  if (escalation == nullptr || escalation->get<bool>()) return;
  if (BoolAt(context, "privileged")) {
    errors.push_back(api::InvalidError(
        path, context, "cannot set `allowPrivilegeEscalation` to false and `privileged` to true"));
  }
  for (const Json& capability : ListAt(context, "capabilities", "add")) {
    if (TextOf(capability) != "CAP_SYS_ADMIN") continue;
    errors.push_back(api::InvalidError(
        path, context,
        "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` CAP_SYS_ADMIN"));
  }
}

}  // namespace

void CheckSeccompProfile(const Json* profile, const Path& path, FieldErrors& errors) {
  if (profile == nullptr) return;
  const std::string_view type = StringAt(*profile, "type");
  const Json* file = Find(*profile, "localhostProfile");
  if (type.empty()) {
    errors.push_back(api::RequiredError(path.Child("type"), "type is required when seccompProfile is set"));
  } else if (type != "Localhost" && type != "RuntimeDefault" && type != "Unconfined") {
    errors.push_back(
        api::NotSupportedError(path.Child("type"), type, {"Localhost", "RuntimeDefault", "Unconfined"}));
  }
  const Path here = path.Child("localhostProfile");
  if (type == "Localhost") {
    if (file == nullptr) {
      errors.push_back(api::RequiredError(here, "must be set when seccomp type is Localhost"));
    } else {
      CheckLocalDescendingPath(TextOf(*file), here, errors);
    }
  } else if (file != nullptr) {
    errors.push_back(api::InvalidError(here, *profile, "can only be set when seccomp type is Localhost"));
  }
}

void CheckAppArmorProfile(const Json* profile, const Path& path, FieldErrors& errors) {
  if (profile == nullptr) return;
  constexpr std::string_view kBlanks = " \t\n\v\f\r";
  const std::string_view type = StringAt(*profile, "type");
  const Json* file = Find(*profile, "localhostProfile");
  const Path here = path.Child("localhostProfile");
  if (type == "Localhost") {
    const std::string_view text = file == nullptr ? std::string_view{} : TextOf(*file);
    if (text.empty()) {
      errors.push_back(api::RequiredError(here, "must be set when AppArmor type is Localhost"));
    } else if (kBlanks.find(text.front()) != std::string_view::npos ||
               kBlanks.find(text.back()) != std::string_view::npos) {
      errors.push_back(api::InvalidError(here, text, "must not be padded with whitespace"));
    }
    if (text.size() > 4095) errors.push_back(api::TooLongError(here, 4095));
  } else if (type == "RuntimeDefault" || type == "Unconfined") {
    if (file != nullptr) {
      errors.push_back(api::InvalidError(here, *file, "can only be set when AppArmor type is Localhost"));
    }
  } else if (type.empty()) {
    errors.push_back(api::RequiredError(path.Child("type"), "type is required when appArmorProfile is set"));
  } else {
    errors.push_back(
        api::NotSupportedError(path.Child("type"), type, {"Localhost", "RuntimeDefault", "Unconfined"}));
  }
}

void CheckPodSecurityContext(const Json& spec, const Path& path, FieldErrors& errors) {
  const Json& context = ObjectAt(spec, "securityContext");
  CheckId(context, "fsGroup", path, errors);
  CheckId(context, "runAsUser", path, errors);
  CheckId(context, "runAsGroup", path, errors);
  const Json& groups = ListAt(context, "supplementalGroups");
  for (std::size_t i = 0; i < groups.size(); ++i) {
    for (const std::string& message : IsValidUserOrGroupId(groups[i].get<std::int64_t>())) {
      errors.push_back(api::InvalidError(path.Child("supplementalGroups").Index(i), groups[i], message));
    }
  }
  if (BoolAt(spec, "shareProcessNamespace") && BoolAt(spec, "hostPID")) {
    errors.push_back(api::InvalidError(path.Child("shareProcessNamespace"), true,
                                       "ShareProcessNamespace and HostPID cannot both be enabled"));
  }
  CheckSysctls(spec, path.Child("sysctls"), errors);
  CheckChoice(context, "fsGroupChangePolicy", "Always", "OnRootMismatch", path, errors);
  CheckSeccompProfile(Find(context, "seccompProfile"), path.Child("seccompProfile"), errors);
  CheckWindowsOptions(Find(context, "windowsOptions"), path.Child("windowsOptions"), errors);
  CheckAppArmorProfile(Find(context, "appArmorProfile"), path.Child("appArmorProfile"), errors);
  CheckChoice(context, "supplementalGroupsPolicy", "Merge", "Strict", path, errors);
  CheckChoice(context, "seLinuxChangePolicy", "MountOption", "Recursive", path, errors);
}

void CheckContainerSecurityContext(const Json* context, bool host_users, const Path& path,
                                   FieldErrors& errors) {
  if (context == nullptr) return;
  CheckId(*context, "runAsUser", path, errors);
  CheckId(*context, "runAsGroup", path, errors);
  CheckChoice(*context, "procMount", "Default", "Unmasked", path, errors);
  if (host_users && StringAt(*context, "procMount") == "Unmasked") {
    errors.push_back(api::InvalidError(path.Child("procMount"), "Unmasked",
                                       "`hostUsers` must be false to use `Unmasked`"));
  }
  CheckSeccompProfile(Find(*context, "seccompProfile"), path.Child("seccompProfile"), errors);
  CheckPrivilegeEscalation(*context, path, errors);
  CheckWindowsOptions(Find(*context, "windowsOptions"), path.Child("windowsOptions"), errors);
  CheckAppArmorProfile(Find(*context, "appArmorProfile"), path.Child("appArmorProfile"), errors);
}

void CheckHostUsers(const Json& spec, const Path& path, FieldErrors& errors) {
  const Json* host_users = Find(spec, "hostUsers");
  if (host_users == nullptr || host_users->get<bool>()) return;
  constexpr std::string_view kWhy = "when `hostUsers` is false";
  if (BoolAt(spec, "hostNetwork")) errors.push_back(api::ForbiddenError(path.Child("hostNetwork"), kWhy));
  if (BoolAt(spec, "hostPID")) errors.push_back(api::ForbiddenError(path.Child("HostPID"), kWhy));
  if (BoolAt(spec, "hostIPC")) errors.push_back(api::ForbiddenError(path.Child("HostIPC"), kWhy));
  VisitContainers(spec, path, [&](const Json& container, const Path& container_path) {
    if (ListAt(container, "volumeDevices").empty()) return;
    errors.push_back(api::ForbiddenError(container_path.Child("volumeDevices"), kWhy));
  });
}

}  // namespace terrarium::apiserver::pod_rules

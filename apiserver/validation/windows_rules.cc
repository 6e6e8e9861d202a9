// What spec.os forbids, and the Windows options of security contexts.

#include <algorithm>
#include <regex>

#include "apiserver/validation/internal/pod_rules.h"

namespace terrarium::apiserver::pod_rules {
namespace {

constexpr std::string_view kNotOnWindows = "cannot be set for a windows pod";

void CheckNotOnLinux(const Json& spec, const Path& path, FieldErrors& errors) {
  constexpr std::string_view kWhy = "windows options cannot be set for a linux pod";
  if (Find(spec, "securityContext", "windowsOptions") != nullptr) {
    errors.push_back(api::ForbiddenError(path.Child("securityContext", "windowsOptions"), kWhy));
  }
  VisitContainers(spec, path, [&](const Json& container, const Path& container_path) {
    if (Find(container, "securityContext", "windowsOptions") == nullptr) return;
    errors.push_back(api::ForbiddenError(container_path.Child("securityContext", "windowsOptions"), kWhy));
  });
}

void ForbidIfSet(const Json& parent, std::string_view field, const Path& path, FieldErrors& errors) {
  if (Find(parent, field) != nullptr) errors.push_back(api::ForbiddenError(path.Child(field), kNotOnWindows));
}

void CheckNotOnWindows(const Json& spec, const Path& path, FieldErrors& errors) {
  const Json& context = ObjectAt(spec, "securityContext");
  const Path here = path.Child("securityContext");
  ForbidIfSet(context, "appArmorProfile", here, errors);
  ForbidIfSet(context, "seLinuxOptions", here, errors);
  ForbidIfSet(spec, "hostUsers", path, errors);
  for (const char* field : {"hostPID", "hostIPC"}) {
    if (BoolAt(spec, field)) errors.push_back(api::ForbiddenError(path.Child(field), kNotOnWindows));
  }
  for (const char* field : {"seccompProfile", "fsGroup", "fsGroupChangePolicy"}) {
    ForbidIfSet(context, field, here, errors);
  }
  if (!ListAt(context, "sysctls").empty()) ForbidIfSet(context, "sysctls", here, errors);
  ForbidIfSet(spec, "shareProcessNamespace", path, errors);
  for (const char* field :
       {"runAsUser", "runAsGroup", "supplementalGroups", "supplementalGroupsPolicy", "seLinuxChangePolicy"}) {
    ForbidIfSet(context, field, here, errors);
  }
  VisitContainers(spec, path, [&](const Json& container, const Path& container_path) {
    const Json* own = Find(container, "securityContext");
    if (own == nullptr) return;
    for (const char* field :
         {"appArmorProfile", "seLinuxOptions", "seccompProfile", "capabilities", "readOnlyRootFilesystem",
          "privileged", "allowPrivilegeEscalation", "procMount", "runAsUser", "runAsGroup"}) {
      ForbidIfSet(*own, field, container_path.Child("securityContext"), errors);
    }
  });
}

// What is wrong with DOMAIN\user, one message per rule.
Messages UserNameMessages(std::string_view text) {
  static const std::regex kNetBios(R"re(^[^\\/:\*\?"<>|\.][^\\/:\*\?"<>|]{0,14}$)re");
  static const std::regex kDns(
      R"(^[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(?:\.[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?)*$)");
  if (text.empty()) return {"runAsUserName cannot be an empty string"};
  const auto control = [](char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; };
  if (std::any_of(text.begin(), text.end(), control))
    return {"runAsUserName cannot contain control characters"};
  const std::size_t backslash = text.find('\\');
  const bool has_domain = backslash != std::string_view::npos;
  const std::string domain(has_domain ? text.substr(0, backslash) : std::string_view{});
  const std::string_view user = has_domain ? text.substr(backslash + 1) : text;
  if (user.find('\\') != std::string_view::npos)
    return {"runAsUserName cannot contain more than one backslash"};

  Messages out;
  const bool too_long = domain.size() >= 256;
  if (too_long) out.push_back("runAsUserName's Domain length must be under 256 characters");
  // A domain that long matches neither; the matchers recurse and are not asked.
  if (has_domain && (too_long || (!std::regex_match(domain, kNetBios) && !std::regex_match(domain, kDns)))) {
    out.push_back("runAsUserName's Domain doesn't match the NetBios nor the DNS format");
  }
  if (user.empty()) {
    out.push_back("runAsUserName's User cannot be empty");
  } else if (user.size() > 104) {
    out.push_back("runAsUserName's User length must not be longer than 104 characters");
  }
  if (!user.empty() && user.find_first_not_of(". ") == std::string_view::npos) {
    out.push_back("runAsUserName's User cannot contain only periods or spaces");
  }
  if (user.find_first_of("\"/\\:;|=,+*?<>@[]") != std::string_view::npos) {
    out.push_back("runAsUserName's User cannot contain the following characters: \"/\\:;|=,+*?<>@[]");
  }
  return out;
}

// True, false or unset.
const Json* HostProcessOf(const Json& holder) {
  return Find(holder, "securityContext", "windowsOptions", "hostProcess");
}

}  // namespace

void CheckWindowsOptions(const Json* options, const Path& path, FieldErrors& errors) {
  if (options == nullptr) return;
  if (const Json* name = Find(*options, "gmsaCredentialSpecName")) {
    CheckSubdomain(TextOf(*name), path.Child("gmsaCredentialSpecName"), errors);
  }
  if (const Json* spec = Find(*options, "gmsaCredentialSpec")) {
    const Path here = path.Child("gmsaCredentialSpec");
    if (TextOf(*spec).empty()) {
      errors.push_back(api::InvalidError(here, *spec, "gmsaCredentialSpec cannot be an empty string"));
    } else if (TextOf(*spec).size() > 64 * 1024) {
      errors.push_back(api::InvalidError(here, *spec, "gmsaCredentialSpec size must be under 64 KiB"));
    }
  }
  if (const Json* user = Find(*options, "runAsUserName")) {
    AddInvalid(UserNameMessages(TextOf(*user)), TextOf(*user), path.Child("runAsUserName"), errors);
  }
}

void CheckHostProcess(const Json& spec, const Path& path, FieldErrors& errors) {
  const Json* pod = HostProcessOf(spec);
  int containers = 0;
  int host_process = 0;
  VisitContainers(spec, path, [&](const Json& container, const Path& container_path) {
    ++containers;
    const Json* own = HostProcessOf(container);
    if (pod != nullptr && own != nullptr && *pod != *own) {
      errors.push_back(api::InvalidError(
          container_path.Child("securityContext", "windowsOptions").Child("hostProcess"), *own,
          std::string("pod hostProcess value must be identical if both are specified, was ") +
              (pod->get<bool>() ? "true" : "false")));
    }
    const Json* effective = own != nullptr ? own : pod;
    if (effective != nullptr && effective->get<bool>()) ++host_process;
  });
  if (host_process == 0) return;
  if (host_process != containers) {
    errors.push_back(api::InvalidError(
        path, "",
        "If pod contains any hostProcess containers then all containers must be HostProcess containers"));
  }
  if (!BoolAt(spec, "hostNetwork")) {
    errors.push_back(
        api::InvalidError(path.Child("hostNetwork"), false,
                          "hostNetwork must be true if pod contains any hostProcess containers"));
  }
}

void CheckOs(const Json& spec, const Path& path, FieldErrors& errors) {
  const Json* os = Find(spec, "os");
  if (os == nullptr) return;
  const std::string_view name = StringAt(*os, "name");
  if (name.empty()) {
    errors.push_back(api::RequiredError(path.Child("os", "name")));
  } else if (name == "linux") {
    CheckNotOnLinux(spec, path, errors);
  } else if (name == "windows") {
    CheckNotOnWindows(spec, path, errors);
  } else {
    errors.push_back(api::NotSupportedError(path.Child("os"), name, {"linux", "windows"}));
  }
}

}  // namespace terrarium::apiserver::pod_rules

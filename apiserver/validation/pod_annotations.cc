// Annotations that mean something to Kubernetes: deletion cost, mirror pods, and the old seccomp and AppArmor
// ones; and the pod scripts.

#include <charconv>
#include <optional>
#include <set>

#include "api/codec/decode.h"
#include "api/pod_script/pod_script.h"
#include "apiserver/validation/internal/pod_rules.h"

namespace terrarium::apiserver::pod_rules {
namespace {

constexpr std::string_view kDeletionCost = "controller.kubernetes.io/pod-deletion-cost";
constexpr std::string_view kMirror = "kubernetes.io/config.mirror";
constexpr std::string_view kTolerations = "scheduler.alpha.kubernetes.io/tolerations";
constexpr std::string_view kSeccompPod = "seccomp.security.alpha.kubernetes.io/pod";
constexpr std::string_view kSeccompContainer = "container.seccomp.security.alpha.kubernetes.io/";
constexpr std::string_view kAppArmor = "container.apparmor.security.beta.kubernetes.io/";

void CheckTolerationsAnnotation(std::string_view text, const Path& path, FieldErrors& errors) {
  const api::Decoded tolerations = api::DecodeJson(text, {.strict = false});
  if (tolerations.object.is_array()) {
    CheckTolerations(tolerations.object, path.Child(kTolerations), errors);
  } else if (tolerations.error || !tolerations.object.is_null()) {
    errors.push_back(
        api::InvalidError(path, kTolerations, "json: cannot unmarshal into a list of tolerations"));
  }
}

void CheckSeccompText(std::string_view profile, const Path& path, FieldErrors& errors) {
  if (profile == "runtime/default" || profile == "docker/default" || profile == "unconfined") return;
  if (profile.starts_with("localhost/")) {
    CheckLocalDescendingPath(profile.substr(std::string_view("localhost/").size()), path, errors);
  } else {
    errors.push_back(api::InvalidError(path, profile, "must be a valid seccomp profile"));
  }
}

std::set<std::string_view> ContainerNames(const Json& spec) {
  std::set<std::string_view> names;
  VisitContainers(spec, Path(),
                  [&](const Json& container, const Path&) { names.insert(StringAt(container, "name")); });
  return names;
}

void CheckAppArmorText(std::string_view key, std::string_view profile,
                       const std::set<std::string_view>& containers, const Path& path, FieldErrors& errors) {
  const std::string_view container = key.substr(kAppArmor.size());
  if (!containers.contains(container)) {
    errors.push_back(api::InvalidError(path.Key(key), container, "container not found"));
  }
  if (profile.empty() || profile == "runtime/default" || profile == "unconfined" ||
      profile.starts_with("localhost/")) {
    return;
  }
  errors.push_back(
      api::InvalidError(path.Key(key), profile, "invalid AppArmor profile name: " + api::Quote(profile)));
}

// An annotation and a profile field agree. `what` is "seccomp" or "apparmor".
void CheckMatches(std::string_view annotation, const Json& profile, std::string_view what, const Path& path,
                  FieldErrors& errors) {
  constexpr std::string_view kLocalhost = "localhost/";
  const std::string_view type = StringAt(profile, "type");
  const bool docker_default = what == "seccomp" && annotation == "docker/default";
  bool matches = true;
  if (type == "Unconfined") matches = annotation == "unconfined";
  if (type == "RuntimeDefault") matches = annotation == "runtime/default" || docker_default;
  if (type == "Localhost") matches = annotation.starts_with(kLocalhost);
  if (!matches) {
    errors.push_back(api::ForbiddenError(path.Child("type"),
                                         std::string(what) + " type in annotation and field must match"));
  } else if (type == "Localhost" &&
             annotation.substr(kLocalhost.size()) != StringAt(profile, "localhostProfile")) {
    errors.push_back(api::ForbiddenError(path.Child("localhostProfile"),
                                         std::string(what) + " profile in annotation and field must match"));
  }
}

void CheckSeccompMatches(const Json& annotations, const Json& spec, const Path& path, FieldErrors& errors) {
  const Json* pod = Find(spec, "securityContext", "seccompProfile");
  if (const Json* text = Find(annotations, kSeccompPod); text != nullptr && pod != nullptr) {
    CheckMatches(TextOf(*text), *pod, "seccomp", path.Child("securityContext", "seccompProfile"), errors);
  }
  VisitContainers(spec, path, [&](const Json& container, const Path& container_path) {
    const Json* own = Find(container, "securityContext", "seccompProfile");
    if (own == nullptr) return;
    const Json* text =
        Find(annotations, std::string(kSeccompContainer) + std::string(StringAt(container, "name")));
    if (text == nullptr) return;
    CheckMatches(TextOf(*text), *own, "seccomp", container_path.Child("securityContext", "seccompProfile"),
                 errors);
  });
}

void CheckAppArmorMatches(const Json& annotations, const Json& spec, const Path& path, FieldErrors& errors) {
  if (StringAt(spec, "os", "name") == "windows") return;
  const Json* pod = Find(spec, "securityContext", "appArmorProfile");
  VisitContainers(spec, path, [&](const Json& container, const Path& container_path) {
    const Json* own = Find(container, "securityContext", "appArmorProfile");
    const Json* effective = own != nullptr ? own : pod;
    if (effective == nullptr) return;
    const Json* text = Find(annotations, std::string(kAppArmor) + std::string(StringAt(container, "name")));
    if (text == nullptr) return;
    CheckMatches(TextOf(*text), *effective, "apparmor",
                 container_path.Child("securityContext", "appArmorProfile"), errors);
  });
}

}  // namespace

bool IsValidDeletionCost(const Json& annotations) {
  const Json* value = Find(annotations, kDeletionCost);
  if (value == nullptr) return true;
  const std::string_view text = TextOf(*value);
  // Neither a plus sign nor a leading zero, though Go's parser would take both; after a minus sign zeros are
  // let by.
  if (text.empty() || (text[0] != '-' && text != "0" && (text[0] < '1' || text[0] > '9'))) return false;
  std::int32_t cost = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), cost);
  return error == std::errc() && end == text.data() + text.size();
}

void CheckPodAnnotations(const Json& annotations, const Json& spec, const PodValidationOptions& options,
                         const Path& path, FieldErrors& errors) {
  if (annotations.empty()) return;
  if (const Json* mirror = Find(annotations, kMirror);
      mirror != nullptr && StringAt(spec, "nodeName").empty()) {
    errors.push_back(api::InvalidError(path.Key(kMirror), *mirror,
                                       "must set spec.nodeName if mirror pod annotation is set"));
  }
  const std::string_view tolerations = StringAt(annotations, kTolerations);
  if (!tolerations.empty()) CheckTolerationsAnnotation(tolerations, path, errors);
  if (options.check_pod_deletion_cost && !IsValidDeletionCost(annotations)) {
    errors.push_back(api::InvalidError(path.Key(kDeletionCost), *Find(annotations, kDeletionCost),
                                       "must be a 32bit integer"));
  }
  if (const Json* profile = Find(annotations, kSeccompPod)) {
    CheckSeccompText(TextOf(*profile), path.Child(kSeccompPod), errors);
  }
  for (const auto& [key, value] : annotations.items()) {
    if (key.starts_with(kSeccompContainer)) CheckSeccompText(TextOf(value), path.Child(key), errors);
  }
  std::optional<std::set<std::string_view>> containers;
  for (const auto& [key, value] : annotations.items()) {
    if (!key.starts_with(kAppArmor)) continue;
    if (!containers) containers = ContainerNames(spec);
    CheckAppArmorText(key, TextOf(value), *containers, path, errors);
  }
}

void CheckPodAnnotationUpdates(const Json& pod, const Json& old, const PodValidationOptions& options,
                               const Path& path, FieldErrors& errors) {
  const Json& now = ObjectAt(pod, "metadata", "annotations");
  const Json& before = ObjectAt(old, "metadata", "annotations");
  for (const auto& [key, value] : before.items()) {
    const Json* kept = Find(now, key);
    if (kept != nullptr && *kept == value) continue;
    if (key.starts_with(kAppArmor)) {
      errors.push_back(api::ForbiddenError(path.Key(key), "may not remove or update AppArmor annotations"));
    }
    if (key == kMirror) {
      errors.push_back(api::ForbiddenError(path.Key(key), "may not remove or update mirror pod annotation"));
    }
  }
  for (const auto& [key, value] : now.items()) {
    if (before.contains(key)) continue;
    if (key.starts_with(kAppArmor)) {
      errors.push_back(api::ForbiddenError(path.Key(key), "may not add AppArmor annotations"));
    }
    if (key == kMirror)
      errors.push_back(api::ForbiddenError(path.Key(key), "may not add mirror pod annotation"));
  }
  CheckPodAnnotations(now, ObjectAt(pod, "spec"), options, path, errors);
  CheckPodScript(now, ObjectAt(pod, "spec"), path, errors);
}

// A script that is silently ignored makes a lying test.
void CheckPodScript(const Json& annotations, const Json& spec, const Path& path, FieldErrors& errors) {
  if (!api::HasPodScript(annotations)) return;
  api::PodScript script;
  Append(errors, api::ParsePodScript(annotations, spec, path, &script));
}

void CheckProfileAnnotations(const Json& metadata, const Json& spec, const Path& spec_path,
                             FieldErrors& errors) {
  const Json& annotations = ObjectAt(metadata, "annotations");
  if (annotations.empty()) return;
  CheckSeccompMatches(annotations, spec, spec_path, errors);
  CheckAppArmorMatches(annotations, spec, spec_path, errors);
}

}  // namespace terrarium::apiserver::pod_rules

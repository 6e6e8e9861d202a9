// The downward API: which fields of the pod a container may read.

#include <algorithm>
#include <array>

#include "apiserver/validation/internal/pod_rules.h"

namespace terrarium::apiserver::pod_rules {
namespace {

// Field paths that name something of a pod at all; where they may be used is a second question.
constexpr std::array<std::string_view, 14> kPodFields = {
    "metadata.annotations", "metadata.labels", "metadata.name",      "metadata.namespace",
    "metadata.uid",         "spec.nodeName",   "spec.restartPolicy", "spec.serviceAccountName",
    "spec.schedulerName",   "status.phase",    "status.hostIP",      "status.hostIPs",
    "status.podIP",         "status.podIPs"};

struct Subscripted {
  std::string_view path;
  std::string_view key;
};

// metadata.labels['app'] -> {metadata.labels, app}
std::optional<Subscripted> SplitSubscript(std::string_view text) {
  if (!text.ends_with("']")) return std::nullopt;
  text.remove_suffix(2);
  const std::size_t open = text.find("['");
  if (open == std::string_view::npos || open == 0) return std::nullopt;
  return Subscripted{text.substr(0, open), text.substr(open + 2)};
}

// Kubernetes' words when the field cannot be read, or "".
std::string ConversionError(std::string_view api_version, std::string_view field) {
  if (api_version != "v1") return "unsupported pod version: " + std::string(api_version);
  if (const std::optional<Subscripted> subscripted = SplitSubscript(field)) {
    if (subscripted->path == "metadata.annotations" || subscripted->path == "metadata.labels") return "";
    return "field label does not support subscript: " + std::string(field);
  }
  if (field == "spec.host" || std::find(kPodFields.begin(), kPodFields.end(), field) != kPodFields.end())
    return "";
  return "field label not supported: " + std::string(field);
}

void CheckDivisor(std::string_view resource, const Json& ref, const Path& path, FieldErrors& errors) {
  static const std::set<std::string_view> kByteDivisors = {"1",   "1k",  "1M",  "1G",  "1T",  "1P", "1E",
                                                           "1Ki", "1Mi", "1Gi", "1Ti", "1Pi", "1Ei"};
  const Json* divisor = Find(ref, "divisor");
  if (divisor == nullptr) return;
  const api::Quantity amount = QuantityOf(*divisor);
  if (amount.Sign() == 0) return;
  const std::string text = amount.ToString();
  std::string_view what;
  if (resource == "limits.cpu" || resource == "requests.cpu") {
    if (text != "1m" && text != "1") {
      errors.push_back(
          api::InvalidError(path.Child("divisor"), resource,
                            "only divisor's values 1m and 1 are supported with the cpu resource"));
    }
    return;
  }
  if (resource == "limits.memory" || resource == "requests.memory") what = "memory";
  if (resource == "limits.ephemeral-storage" || resource == "requests.ephemeral-storage") {
    what = "local ephemeral storage";
  }
  if (resource.starts_with("requests.hugepages-") || resource.starts_with("limits.hugepages-"))
    what = "hugepages";
  if (what.empty() || kByteDivisors.contains(text)) return;
  errors.push_back(
      api::InvalidError(path.Child("divisor"), resource,
                        "only divisor's values 1, 1k, 1M, 1G, 1T, 1P, 1E, 1Ki, 1Mi, 1Gi, 1Ti, 1Pi, "
                        "1Ei are supported with the " +
                            std::string(what) + " resource"));
}

}  // namespace

void CheckObjectFieldRef(const Json& ref, const std::vector<std::string_view>& allowed, const Path& path,
                         FieldErrors& errors) {
  if (!RequireText(ref, "apiVersion", path, errors) || !RequireText(ref, "fieldPath", path, errors)) return;
  std::string_view field = StringAt(ref, "fieldPath");
  if (const std::string why = ConversionError(StringAt(ref, "apiVersion"), field); !why.empty()) {
    errors.push_back(api::InvalidError(path.Child("fieldPath"), field, "error converting fieldPath: " + why));
    return;
  }
  if (field == "spec.host") field = "spec.nodeName";
  if (const std::optional<Subscripted> subscripted = SplitSubscript(field)) {
    const bool annotation = subscripted->path == "metadata.annotations";
    const std::string key = annotation ? AsciiLower(subscripted->key) : std::string(subscripted->key);
    AddInvalid(IsQualifiedName(key), key, path, errors);
  } else if (std::find(allowed.begin(), allowed.end(), field) == allowed.end()) {
    errors.push_back(api::NotSupportedError(path.Child("fieldPath"), field, allowed));
  }
}

void CheckResourceFieldRef(const Json& ref, bool in_volume, const Path& path, FieldErrors& errors) {
  static const std::vector<std::string_view> kResources = {
      "limits.cpu",   "limits.ephemeral-storage",   "limits.memory",
      "requests.cpu", "requests.ephemeral-storage", "requests.memory"};
  const std::string_view resource = StringAt(ref, "resource");
  if (in_volume && StringAt(ref, "containerName").empty()) {
    errors.push_back(api::RequiredError(path.Child("containerName")));
  } else if (RequireText(ref, "resource", path, errors) &&
             std::find(kResources.begin(), kResources.end(), resource) == kResources.end() &&
             !resource.starts_with("limits.hugepages-") && !resource.starts_with("requests.hugepages-")) {
    errors.push_back(api::NotSupportedError(path.Child("resource"), resource, kResources));
  }
  CheckDivisor(resource, ref, path, errors);
}

}  // namespace terrarium::apiserver::pod_rules

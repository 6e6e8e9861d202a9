// What Kubernetes 1.36 takes but warns of (mirrors pkg/api/pod/warnings.go).

#include "apiserver/validation/internal/pod_warnings.h"

#include <algorithm>
#include <array>

#include "apiserver/validation/internal/pod_rules.h"

namespace terrarium::apiserver {

using namespace pod_rules;  // NOLINT: the helpers of this folder

namespace {

struct DeprecatedKey {
  std::string_view key;
  std::string_view message;
};

constexpr std::array<DeprecatedKey, 8> kNodeLabels = {{
    {"app.kubernetes.io/created-by", "deprecated since v1.9"},
    {"beta.kubernetes.io/arch", "deprecated since v1.14; use \"kubernetes.io/arch\" instead"},
    {"beta.kubernetes.io/instance-type",
     "deprecated since v1.17; use \"node.kubernetes.io/instance-type\" instead"},
    {"beta.kubernetes.io/os", "deprecated since v1.14; use \"kubernetes.io/os\" instead"},
    {"failure-domain.beta.kubernetes.io/region",
     "deprecated since v1.17; use \"topology.kubernetes.io/region\" instead"},
    {"failure-domain.beta.kubernetes.io/zone",
     "deprecated since v1.17; use \"topology.kubernetes.io/zone\" instead"},
    {"node-role.kubernetes.io/master", "use \"node-role.kubernetes.io/control-plane\" instead"},
    {"scheduler.alpha.kubernetes.io/preferAvoidPods",
     "deprecated since v1.22; use Taints and Tolerations instead"},
}};

constexpr std::array<DeprecatedKey, 3> kAnnotations = {{
    {"scheduler.alpha.kubernetes.io/critical-pod",
     "non-functional in v1.16+; use the \"priorityClassName\" field instead"},
    {"security.alpha.kubernetes.io/sysctls", "non-functional in v1.11+; use the \"sysctls\" field instead"},
    {"security.alpha.kubernetes.io/unsafe-sysctls",
     "non-functional in v1.11+; use the \"sysctls\" field instead"},
}};

std::string_view NodeLabelMessage(std::string_view key) {
  const auto it = std::find_if(kNodeLabels.begin(), kNodeLabels.end(),
                               [&](const DeprecatedKey& label) { return label.key == key; });
  return it == kNodeLabels.end() ? std::string_view{} : it->message;
}

void WarnNodeTerm(const Json& term, bool check_values, const Path& path, Warnings& out) {
  const Json& expressions = ListAt(term, "matchExpressions");
  for (std::size_t i = 0; i < expressions.size(); ++i) {
    const Path here = path.Child("matchExpressions").Index(i);
    const std::string_view key = StringAt(expressions[i], "key");
    if (const std::string_view message = NodeLabelMessage(key); !message.empty()) {
      AddWarning(out, here.Child("key"), {key, " is ", message});
    }
    if (!check_values) continue;
    const Json& values = ListAt(expressions[i], "values");
    for (std::size_t j = 0; j < values.size(); ++j) {
      for (const std::string& message : IsValidLabelValue(TextOf(values[j]))) {
        AddWarning(out, here.Child("values").Index(j), {TextOf(values[j]), " is invalid, ", message});
      }
    }
  }
}

void WarnNodeLabels(const Json& spec, const Path& path, Warnings& out) {
  for (const auto& [key, value] : ObjectAt(spec, "nodeSelector").items()) {
    if (const std::string_view message = NodeLabelMessage(key); !message.empty()) {
      AddWarning(out, path.Child("nodeSelector").Key(key), {message});
    }
  }
  const Json& affinity = ObjectAt(spec, "affinity", "nodeAffinity");
  const Path affinity_path = path.Child("affinity", "nodeAffinity");
  const Json& required =
      ListAt(affinity, "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms");
  for (std::size_t i = 0; i < required.size(); ++i) {
    const Path here =
        affinity_path.Child("requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms");
    WarnNodeTerm(required[i], false, here.Index(i), out);
  }
  const Json& preferred = ListAt(affinity, "preferredDuringSchedulingIgnoredDuringExecution");
  for (std::size_t i = 0; i < preferred.size(); ++i) {
    const Path here = affinity_path.Child("preferredDuringSchedulingIgnoredDuringExecution").Index(i);
    WarnNodeTerm(ObjectAt(preferred[i], "preference"), true, here.Child("preference"), out);
  }
}

void WarnTopology(const Json& spec, const Path& path, Warnings& out) {
  const Json& constraints = ListAt(spec, "topologySpreadConstraints");
  for (std::size_t i = 0; i < constraints.size(); ++i) {
    const Path here = path.Child("topologySpreadConstraints").Index(i);
    const std::string_view key = StringAt(constraints[i], "topologyKey");
    if (const std::string_view message = NodeLabelMessage(key); !message.empty()) {
      AddWarning(out, here.Child("topologyKey"), {key, " is ", message});
    }
    if (Find(constraints[i], "labelSelector") == nullptr) {
      AddWarning(out, here.Child("labelSelector"), {"a null labelSelector results in matching no pod"});
    }
  }
}

// Equal values of list[*].field; `word` is how the message calls it.
void WarnDuplicates(const Json& list, std::string_view field, const Path& path, Warnings& out) {
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < list.size(); ++i) {
    const std::string_view value = StringAt(list[i], field);
    if (!seen.insert(value).second) {
      AddWarning(out, path.Index(i).Child(field), {"duplicate ", field, " ", api::Quote(value)});
    }
  }
}

void WarnFraction(const Json& amounts, std::string_view name, const Path& path, Warnings& out) {
  const Json* text = Find(amounts, name);
  if (text == nullptr) return;
  const api::Quantity amount = QuantityOf(*text);
  if (amount.MilliValue() % 1000 == 0) return;
  AddWarning(out, path.Key(name),
             {"fractional byte value ", api::Quote(amount.ToString()), " is invalid, must be an integer"});
}

void WarnEnv(const Json& env, const Path& path, Warnings& out) {
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < env.size(); ++i) {
    const std::string_view name = StringAt(env[i], "name");
    if (seen.insert(name).second) continue;
    // A value that builds on the earlier definition is meant to repeat it.
    const std::string ref = "$(" + std::string(name) + ")";
    const std::string_view value = StringAt(env[i], "value");
    const bool builds_on = value != ref && value.find(ref) != std::string_view::npos;
    if (Find(env[i], "valueFrom") == nullptr && builds_on) continue;
    AddWarning(
        out, path.Index(i),
        {"hides previous definition of ", api::Quote(name), ", which may be dropped when using apply"});
  }
}

// The profile that an AppArmor annotation stands for.
Json AppArmorOf(std::string_view annotation) {
  constexpr std::string_view kLocalhost = "localhost/";
  if (annotation == "unconfined") return {{"type", "Unconfined"}};
  if (annotation == "runtime/default") return {{"type", "RuntimeDefault"}};
  if (!annotation.starts_with(kLocalhost) || annotation == kLocalhost) return nullptr;
  return {{"type", "Localhost"}, {"localhostProfile", annotation.substr(kLocalhost.size())}};
}

void WarnProfiles(const Json& metadata, const Json& spec, const Json& container, const Path& path,
                  Warnings& out) {
  const Json& annotations = ObjectAt(metadata, "annotations");
  if (annotations.empty()) return;
  const Path here = path.Child("metadata", "annotations");
  const std::string name(StringAt(container, "name"));
  const std::string seccomp = "container.seccomp.security.alpha.kubernetes.io/" + name;
  if (annotations.contains(seccomp) && Find(container, "securityContext", "seccompProfile") == nullptr) {
    AddWarning(out, here.Key(seccomp),
               {"non-functional in v1.27+; use the \"seccompProfile\" field instead"});
  }
  const std::string app_armor = "container.apparmor.security.beta.kubernetes.io/" + name;
  if (!annotations.contains(app_armor) || Find(container, "securityContext", "appArmorProfile") != nullptr)
    return;
  const Json* pod = Find(spec, "securityContext", "appArmorProfile");
  if (pod != nullptr && *pod == AppArmorOf(StringAt(annotations, app_armor))) return;
  AddWarning(out, here.Key(app_armor), {"deprecated since v1.30; use the \"appArmorProfile\" field instead"});
}

void WarnContainers(const Json& holder, const Path& path, Warnings& out) {
  const Json& spec = ObjectAt(holder, "spec");
  VisitContainers(spec, path.Child("spec"), [&](const Json& container, const Path& here) {
    WarnProfiles(ObjectAt(holder, "metadata"), spec, container, path, out);
    for (const char* name : {"memory", "ephemeral-storage"}) {
      for (const char* list : {"limits", "requests"}) {
        WarnFraction(ObjectAt(container, "resources", list), name, here.Child("resources", list), out);
      }
    }
    WarnEnv(ListAt(container, "env"), here.Child("env"), out);
  });
}

void WarnPodAffinity(const Json& spec, const Path& path, Warnings& out) {
  constexpr const char* kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
  constexpr const char* kPreferred = "preferredDuringSchedulingIgnoredDuringExecution";
  constexpr std::string_view kNull = "a null labelSelector results in matching no pod";
  for (const char* field : {"podAffinity", "podAntiAffinity"}) {
    const Path here = path.Child("affinity", field);
    const Json& required = ListAt(spec, "affinity", field, kRequired);
    for (std::size_t i = 0; i < required.size(); ++i) {
      if (Find(required[i], "labelSelector") != nullptr) continue;
      AddWarning(out, here.Child(kRequired).Index(i).Child("labelSelector"), {kNull});
    }
    const Json& preferred = ListAt(spec, "affinity", field, kPreferred);
    for (std::size_t i = 0; i < preferred.size(); ++i) {
      if (Find(preferred[i], "podAffinityTerm", "labelSelector") != nullptr) continue;
      AddWarning(out, here.Child(kPreferred).Index(i).Child("podAffinityTerm", "labelSelector"), {kNull});
    }
  }
}

void WarnIps(const Json& spec, const Path& path, Warnings& out) {
  const Json& servers = ListAt(spec, "dnsConfig", "nameservers");
  for (std::size_t i = 0; i < servers.size(); ++i) {
    for (std::string& text :
         IpWarnings(TextOf(servers[i]), path.Child("dnsConfig", "nameservers").Index(i))) {
      out.Add(std::move(text));
    }
  }
  const Json& aliases = ListAt(spec, "hostAliases");
  for (std::size_t i = 0; i < aliases.size(); ++i) {
    for (std::string& text :
         IpWarnings(StringAt(aliases[i], "ip"), path.Child("hostAliases").Index(i).Child("ip"))) {
      out.Add(std::move(text));
    }
  }
}

void WarnAnnotations(const Json& holder, const Path& path, Warnings& out) {
  const Json& annotations = ObjectAt(holder, "metadata", "annotations");
  for (const DeprecatedKey& deprecated : kAnnotations) {
    if (Find(annotations, deprecated.key) == nullptr) continue;
    AddWarning(out, path.Child("metadata", "annotations").Key(deprecated.key), {deprecated.message});
  }
}

}  // namespace

void AddWarning(Warnings& out, const Path& path, std::initializer_list<std::string_view> parts) {
  std::string text = path.String() + ": ";
  for (const std::string_view part : parts) text += part;
  out.Add(std::move(text));
}

std::vector<std::string> PodSpecWarnings(const Json& pod_template_or_pod, const Path& path) {
  Warnings out;
  const Json& spec = ObjectAt(pod_template_or_pod, "spec");
  const Path spec_path = path.Child("spec");
  WarnNodeLabels(spec, spec_path, out);
  WarnTopology(spec, spec_path, out);
  WarnAnnotations(pod_template_or_pod, path, out);
  WarnVolumes(spec, spec_path, out);
  WarnDuplicates(ListAt(spec, "hostAliases"), "ip", spec_path.Child("hostAliases"), out);
  const Json& secrets = ListAt(spec, "imagePullSecrets");
  WarnDuplicates(secrets, "name", spec_path.Child("imagePullSecrets"), out);
  for (std::size_t i = 0; i < secrets.size(); ++i) {
    if (!StringAt(secrets[i], "name").empty()) continue;
    AddWarning(out, spec_path.Child("imagePullSecrets").Index(i).Child("name"), {"invalid empty name \"\""});
  }
  for (const char* name : {"memory", "ephemeral-storage"}) {
    WarnFraction(ObjectAt(spec, "overhead"), name, spec_path.Child("overhead"), out);
  }
  constexpr std::string_view kSeccomp = "seccomp.security.alpha.kubernetes.io/pod";
  if (Find(spec, "securityContext", "seccompProfile") == nullptr &&
      Find(pod_template_or_pod, "metadata", "annotations", kSeccomp) != nullptr) {
    AddWarning(out, path.Child("metadata", "annotations").Key(kSeccomp),
               {"non-functional in v1.27+; use the \"seccompProfile\" field instead"});
  }
  WarnContainers(pod_template_or_pod, path, out);
  WarnPorts(spec, spec_path, out);
  if (IntAt(spec, 0, "terminationGracePeriodSeconds") < 0) {
    AddWarning(out, spec_path.Child("terminationGracePeriodSeconds"),
               {"must be >= 0; negative values are invalid and will be treated as 1"});
  }
  WarnPodAffinity(spec, spec_path, out);
  WarnIps(spec, spec_path, out);
  return out.TakeWhole();
}

}  // namespace terrarium::apiserver

#include "apiserver/strategy/internal/job_update.h"

#include "apiserver/strategy/internal/checks.h"
#include "apiserver/strategy/internal/job_status.h"

namespace terrarium::apiserver::strategy {
namespace {

void Completions(FieldErrors& errors, const Json& spec, const Json& old_spec, const api::FeatureGates& gates,
                 const Path& path) {
  const bool elastic =
      StringAt(spec, "completionMode") == "Indexed" && gates.Enabled(api::gate::kElasticIndexedJob);
  if (!elastic) {
    Immutable(errors, spec, old_spec, "completions", path);
    return;
  }
  const Json* completions = Find(spec, "completions");
  const Json* before = Find(old_spec, "completions");
  if (completions == nullptr || (before != nullptr && *completions == *before)) return;
  if (completions->get<std::int64_t>() != IntAt(spec, 0, "parallelism")) {
    errors.push_back(api::InvalidError(path.Child("completions"), *completions,
                                       "can only be modified in tandem with spec.parallelism"));
  }
}

// A suspended Job without active pods, which never started or has seen its suspension through.
bool TemplateIsMutable(const Json& job) {
  const bool settled =
      Find(job, "status", "startTime") == nullptr || HasJobCondition(job, "Suspended", "True");
  return BoolAt(job, "spec", "suspend") && settled && IntAt(job, 0, "status", "active") == 0;
}

// target[key] = source[key], or absent when source has none.
void Take(Json& target, const Json& source, std::string_view key) {
  if (const Json* value = Find(source, key)) {
    target[std::string(key)] = *value;
  } else {
    target.erase(std::string(key));
  }
}

// Makes the node affinity of `old_spec` that of `pod_spec`, keeping the rest of its affinity.
void TakeNodeAffinity(Json& old_spec, const Json& pod_spec) {
  const Json* affinity = Find(pod_spec, "affinity");
  if (affinity == nullptr) {
    if (Find(old_spec, "affinity") == nullptr) return;
    old_spec["affinity"].erase("nodeAffinity");
    if (old_spec["affinity"].empty()) old_spec.erase("affinity");
    return;
  }
  Take(ObjectField(old_spec, "affinity"), *affinity, "nodeAffinity");
}

// The old template with everything that a mutable template may change taken from the new one.
Json Forgiven(Json old_template, const Json& pod_template) {
  for (const char* key : {"annotations", "labels"}) {
    Take(ObjectField(old_template, "metadata"), ObjectAt(pod_template, "metadata"), key);
  }
  Json& old_spec = ObjectField(old_template, "spec");
  const Json& pod_spec = ObjectAt(pod_template, "spec");
  TakeNodeAffinity(old_spec, pod_spec);
  for (const char* key : {"nodeSelector", "tolerations", "schedulingGates"}) Take(old_spec, pod_spec, key);
  for (const char* key : {"containers", "initContainers"}) {
    const Json& containers = ListAt(pod_spec, key);
    if (containers.empty() || containers.size() != ListAt(old_spec, key).size()) continue;
    for (std::size_t i = 0; i < containers.size(); ++i) {
      Json& before = old_spec[key][i];
      if (StringAt(before, "name") == StringAt(containers[i], "name"))
        Take(before, containers[i], "resources");
    }
  }
  return old_template;
}

void Template(FieldErrors& errors, const Json& job, const Json& old, const Path& path) {
  const Json& pod_template = ObjectAt(job, "spec", "template");
  const Json& old_template = ObjectAt(old, "spec", "template");
  if (!TemplateIsMutable(old)) {
    api::Append(errors, ValidateImmutable(&pod_template, &old_template, path));
    return;
  }
  const Json forgiven = Forgiven(old_template, pod_template);
  api::Append(errors, ValidateImmutable(&ObjectAt(pod_template, "spec"), &ObjectAt(forgiven, "spec"),
                                        path.Child("spec")));
}

}  // namespace

void ValidateJobSpecChanges(FieldErrors& errors, const Json& job, const Json& old,
                            const api::FeatureGates& gates) {
  const Path path("spec");
  const Json& spec = ObjectAt(job, "spec");
  const Json& old_spec = ObjectAt(old, "spec");
  Completions(errors, spec, old_spec, gates, path);
  Immutable(errors, spec, old_spec, "selector", path);
  Template(errors, job, old, path.Child("template"));
  for (const char* key :
       {"completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"}) {
    Immutable(errors, spec, old_spec, key, path);
  }
}

}  // namespace terrarium::apiserver::strategy

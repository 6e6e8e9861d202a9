// Validates a Pod on create and on update: most of the spec is immutable after the create.

#include <algorithm>
#include <limits>

#include "api/base/quantity.h"
#include "apiserver/validation/internal/pod_rules.h"

namespace terrarium::apiserver {

using namespace pod_rules;  // NOLINT: the helpers of this folder

namespace {

constexpr std::int64_t kInt32Max = std::numeric_limits<std::int32_t>::max();

void CheckTokensHaveAccount(const Json& spec, FieldErrors& errors) {
  if (!StringAt(spec, "serviceAccountName").empty()) return;
  const Json& volumes = ListAt(spec, "volumes");
  for (std::size_t i = 0; i < volumes.size(); ++i) {
    const Json& sources = ListAt(volumes[i], "projected", "sources");
    for (std::size_t j = 0; j < sources.size(); ++j) {
      if (Find(sources[j], "serviceAccountToken") == nullptr) continue;
      errors.push_back(api::ForbiddenError(Path("spec")
                                               .Child("volumes")
                                               .Index(i)
                                               .Child("projected", "sources")
                                               .Index(j)
                                               .Child("serviceAccountToken"),
                                           "must not be specified when serviceAccountName is not set"));
    }
  }
}

FieldErrors CheckMetadataAndSpec(const Json& pod, const PodValidationOptions& options) {
  const Json& metadata = ObjectAt(pod, "metadata");
  const Json& spec = ObjectAt(pod, "spec");
  FieldErrors errors = ValidateObjectMeta(metadata, true, NameIsDnsSubdomain, Path("metadata"));
  const Path annotations_path = Path("metadata").Child("annotations");
  CheckPodAnnotations(ObjectAt(metadata, "annotations"), spec, options, annotations_path, errors);
  CheckPodScript(ObjectAt(metadata, "annotations"), spec, annotations_path, errors);
  Append(errors, ValidatePodSpec(spec, metadata, options, Path("spec")));
  CheckTokensHaveAccount(spec, errors);
  for (const char* list : {"containers", "initContainers"}) {
    const Json& containers = ListAt(spec, list);
    for (std::size_t i = 0; i < containers.size(); ++i) {
      CheckImageBlanks(containers[i], Path("spec").Child(list).Index(i), errors);
    }
  }
  return errors;
}

// Returns false when the update adds or removes containers; the caller then skips the remaining checks.
bool CheckContainerImages(const Json& spec, const Json& old_spec, std::string_view list,
                          FieldErrors& errors) {
  const Json& containers = ListAt(spec, list);
  const Path path = Path("spec").Child(list);
  if (containers.size() != ListAt(old_spec, list).size()) {
    errors.push_back(api::ForbiddenError(path, "pod updates may not add or remove containers"));
    return false;
  }
  for (std::size_t i = 0; i < containers.size(); ++i) {
    RequireText(containers[i], "image", path.Index(i), errors);
    CheckImageBlanks(containers[i], path.Index(i), errors);
  }
  return true;
}

// An update may set or shorten the deadline, not remove it. Returns false when the new deadline is out of
// range or longer than the old one; the caller then skips the remaining checks.
bool CheckDeadline(const Json& spec, const Json& old_spec, FieldErrors& errors) {
  const Path path = Path("spec").Child("activeDeadlineSeconds");
  const Json* deadline = Find(spec, "activeDeadlineSeconds");
  const Json* old_deadline = Find(old_spec, "activeDeadlineSeconds");
  if (deadline == nullptr) {
    if (old_deadline != nullptr) {
      errors.push_back(
          api::InvalidError(path, nullptr, "must not update from a positive integer to nil value"));
    }
    return true;
  }
  const std::int64_t seconds = deadline->get<std::int64_t>();
  if (seconds < 0 || seconds > kInt32Max) {
    errors.push_back(api::InvalidError(path, seconds, RangeMessage(0, kInt32Max)));
    return false;
  }
  if (old_deadline != nullptr && old_deadline->get<std::int64_t>() < seconds) {
    errors.push_back(api::InvalidError(path, seconds, "must be less than or equal to previous value"));
    return false;
  }
  return true;
}

Json WithoutSeconds(Json toleration) {
  toleration.erase("tolerationSeconds");
  return toleration;
}

void CheckOnlyAddedTolerations(const Json& spec, const Json& old_spec, FieldErrors& errors) {
  const Path path = Path("spec").Child("tolerations");
  const Json& tolerations = ListAt(spec, "tolerations");
  const Json& old_tolerations = ListAt(old_spec, "tolerations");
  std::set<Json> kept;
  if (!old_tolerations.empty())
    for (const Json& toleration : tolerations) kept.insert(WithoutSeconds(toleration));
  for (const Json& old : old_tolerations) {
    if (kept.contains(WithoutSeconds(old))) continue;
    errors.push_back(
        api::ForbiddenError(path, "existing toleration can not be modified except its tolerationSeconds"));
    return;
  }
  CheckTolerations(tolerations, path, errors);
}

void CheckOnlyRemovedGates(const Json& spec, const Json& old_spec, FieldErrors& errors) {
  const Json& gates = ListAt(spec, "schedulingGates");
  std::set<std::string_view> old_gates;
  for (const Json& gate : ListAt(old_spec, "schedulingGates")) old_gates.insert(StringAt(gate, "name"));
  for (std::size_t i = 0; i < gates.size(); ++i) {
    const std::string_view name = StringAt(gates[i], "name");
    if (old_gates.contains(name)) continue;
    errors.push_back(api::ForbiddenError(
        Path("spec").Child("schedulingGates").Index(i).Child("name"),
        "only deletion is allowed, but found new scheduling gate '" + std::string(name) + "'"));
  }
}

// True when `old_list` is a prefix of `list`.
bool BeginsWith(const Json& list, const Json& old_list) {
  return list.size() >= old_list.size() && std::equal(old_list.begin(), old_list.end(), list.begin());
}

bool OnlyAdds(const Json& term, const Json& old_term) {
  const Json& expressions = ListAt(term, "matchExpressions");
  const Json& fields = ListAt(term, "matchFields");
  const Json& old_expressions = ListAt(old_term, "matchExpressions");
  const Json& old_fields = ListAt(old_term, "matchFields");
  // An empty term matches no node, so an addition would make it match more nodes.
  if (old_expressions.empty() && old_fields.empty()) return expressions.empty() && fields.empty();
  return BeginsWith(expressions, old_expressions) && BeginsWith(fields, old_fields);
}

// An update may narrow the node affinity of a gated pod, not widen it.
void CheckGatedNodeAffinity(const Json& spec, const Json& old_spec, FieldErrors& errors) {
  const Path path = Path("spec")
                        .Child("affinity", "nodeAffinity")
                        .Child("requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms");
  constexpr const char* kRequired = "requiredDuringSchedulingIgnoredDuringExecution";
  const Json& old_terms = ListAt(old_spec, "affinity", "nodeAffinity", kRequired, "nodeSelectorTerms");
  const Json& terms = ListAt(spec, "affinity", "nodeAffinity", kRequired, "nodeSelectorTerms");
  if (old_terms.empty()) return;
  if (old_terms.size() != terms.size()) {
    errors.push_back(api::InvalidError(
        path, terms, "no additions/deletions to non-empty NodeSelectorTerms list are allowed"));
    return;
  }
  for (std::size_t i = 0; i < terms.size(); ++i) {
    if (OnlyAdds(terms[i], old_terms[i])) continue;
    errors.push_back(
        api::InvalidError(path.Index(i), terms[i], "only additions are allowed (no mutations or deletions)"));
  }
}

void CheckGatedNodeSelector(const Json& spec, const Json& old_spec, FieldErrors& errors) {
  const Json& selector = ObjectAt(spec, "nodeSelector");
  for (const auto& [key, value] : ObjectAt(old_spec, "nodeSelector").items()) {
    const Json* kept = Find(selector, key);
    if (kept != nullptr && *kept == value) continue;
    errors.push_back(
        api::InvalidError(Path("spec").Child("nodeSelector"), selector,
                          "only additions to spec.nodeSelector are allowed (no mutations or deletions)"));
    return;
  }
}

// Resets `field` of `spec` to its value in `old_spec`.
void TakeBack(Json& spec, const Json& old_spec, const char* field) {
  if (const Json* value = Find(old_spec, field)) {
    spec[field] = *value;
  } else {
    spec.erase(field);
  }
}

void TakeBackNodeAffinity(Json& spec, const Json& old_spec) {
  Json affinity = ObjectAt(spec, "affinity");
  TakeBack(affinity, ObjectAt(old_spec, "affinity"), "nodeAffinity");
  if (affinity.empty() && Find(old_spec, "affinity") == nullptr) {
    spec.erase("affinity");
  } else {
    spec["affinity"] = std::move(affinity);
  }
}

bool AreEqualQuantities(const Json& a, const Json& b) {
  if (!a.is_string() || !b.is_string()) return a == b;
  std::string error;
  const auto x = api::Quantity::Parse(a.get_ref<const std::string&>(), &error);
  const auto y = api::Quantity::Parse(b.get_ref<const std::string&>(), &error);
  return x && y && *x == *y;
}

// Quantities are equal by their value, whatever their form: 1Gi is 1073741824.
void TakeBackForms(Json& resources, const Json& old_resources) {
  for (const char* list : {"limits", "requests"}) {
    if (!resources.contains(list)) continue;
    Json& quantities = resources[list];
    for (auto it = quantities.begin(); it != quantities.end(); ++it)
      if (const Json* old = Find(old_resources, list, it.key());
          old != nullptr && AreEqualQuantities(*it, *old))
        *it = *old;
  }
}

// The new spec with every mutable field reset to its old value: each remaining difference is a forbidden
// change. Appends the errors of a gated pod's node selector and node affinity.
Json WithoutAllowedChanges(const Json& spec, const Json& old_spec, FieldErrors& errors) {
  Json out = spec;
  for (const char* list : {"containers", "initContainers"}) {
    if (!out.contains(list)) continue;
    for (std::size_t i = 0; i < out[list].size(); ++i) {
      TakeBack(out[list][i], old_spec[list][i], "image");
      if (out[list][i].contains("resources"))
        TakeBackForms(out[list][i]["resources"], ObjectAt(old_spec[list][i], "resources"));
    }
  }
  for (const char* field : {"activeDeadlineSeconds", "schedulingGates", "tolerations"})
    TakeBack(out, old_spec, field);
  if (IntAt(old_spec, 0, "terminationGracePeriodSeconds") < 0 &&
      IntAt(out, 0, "terminationGracePeriodSeconds") == 1) {
    TakeBack(out, old_spec, "terminationGracePeriodSeconds");
  }
  if (ListAt(old_spec, "schedulingGates").empty()) return out;
  CheckGatedNodeSelector(spec, old_spec, errors);
  TakeBack(out, old_spec, "nodeSelector");
  CheckGatedNodeAffinity(spec, old_spec, errors);
  TakeBackNodeAffinity(out, old_spec);
  return out;
}

// For each field that differs, a line with the old value and one with the new value.
std::string Difference(const Json& old_spec, const Json& spec) {
  std::string out;
  const auto add = [&](const char* sign, const std::string& key, const Json* value) {
    if (value != nullptr)
      out.append(sign).append(api::Quote(key)).append(": ").append(value->dump()).append("\n");
  };
  std::set<std::string> keys;
  for (const auto& [key, value] : old_spec.items()) keys.insert(key);
  for (const auto& [key, value] : spec.items()) keys.insert(key);
  for (const std::string& key : keys) {
    const Json* before = Find(old_spec, key);
    const Json* now = Find(spec, key);
    if (before != nullptr && now != nullptr && *before == *now) continue;
    add("- ", key, before);
    add("+ ", key, now);
  }
  return out;
}

}  // namespace

FieldErrors ValidatePodCreate(const Json& pod, const PodValidationOptions& options) {
  FieldErrors errors = CheckMetadataAndSpec(pod, options);
  const Json& spec = ObjectAt(pod, "spec");
  const Path path("spec");
  if (!ListAt(spec, "ephemeralContainers").empty()) {
    errors.push_back(api::ForbiddenError(path.Child("ephemeralContainers"), "cannot be set on create"));
  }
  if (!StringAt(spec, "nodeName").empty() && !ListAt(spec, "schedulingGates").empty()) {
    errors.push_back(api::ForbiddenError(path.Child("nodeName"),
                                         "cannot be set until all schedulingGates have been cleared"));
  }
  CheckProfileAnnotations(ObjectAt(pod, "metadata"), spec, path, errors);
  return errors;
}

FieldErrors ValidatePodUpdate(const Json& pod, const Json& old, const PodValidationOptions& options) {
  const Path metadata_path("metadata");
  FieldErrors errors =
      ValidateObjectMetaUpdate(ObjectAt(pod, "metadata"), ObjectAt(old, "metadata"), metadata_path);
  Append(errors, CheckMetadataAndSpec(pod, options));
  CheckPodAnnotationUpdates(pod, old, options, metadata_path.Child("annotations"), errors);
  const Json& spec = ObjectAt(pod, "spec");
  const Json& old_spec = ObjectAt(old, "spec");
  if (!CheckContainerImages(spec, old_spec, "containers", errors)) return errors;
  if (!CheckContainerImages(spec, old_spec, "initContainers", errors)) return errors;
  if (!CheckDeadline(spec, old_spec, errors)) return errors;
  CheckOnlyAddedTolerations(spec, old_spec, errors);
  CheckOnlyRemovedGates(spec, old_spec, errors);
  if (spec == old_spec) return errors;
  const Json rest = WithoutAllowedChanges(spec, old_spec, errors);
  if (rest != old_spec) {
    errors.push_back(api::ForbiddenError(
        Path("spec"),
        "pod updates may not change fields other than "
        "`spec.containers[*].image`,`spec.initContainers[*].image`,"
        "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to existing tolerations),"
        "`spec.terminationGracePeriodSeconds` (allow it to be set to 1 if it was previously negative)\n" +
            Difference(old_spec, rest)));
  }
  return errors;
}

}  // namespace terrarium::apiserver

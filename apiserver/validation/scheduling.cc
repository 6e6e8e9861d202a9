// Where a pod may run: affinity, tolerations, scheduling gates.

#include "apiserver/validation/internal/pod_rules.h"

namespace terrarium::apiserver {
namespace pod_rules {
namespace {

constexpr std::string_view kBadOperator = "not a valid selector operator";

// `check_values`: preferences take values that no label can have.
void CheckNodeRequirement(const Json& requirement, bool check_values, const Path& path, FieldErrors& errors) {
  const std::string_view op = StringAt(requirement, "operator");
  const Json& values = ListAt(requirement, "values");
  if (op == "In" || op == "NotIn") {
    if (values.empty()) {
      errors.push_back(
          api::RequiredError(path.Child("values"), "must be specified when `operator` is 'In' or 'NotIn'"));
    }
  } else if (op == "Exists" || op == "DoesNotExist") {
    if (!values.empty()) {
      errors.push_back(api::ForbiddenError(
          path.Child("values"), "may not be specified when `operator` is 'Exists' or 'DoesNotExist'"));
    }
  } else if (op == "Gt" || op == "Lt") {
    if (values.size() != 1) {
      errors.push_back(api::RequiredError(path.Child("values"),
                                          "must be specified single value when `operator` is 'Lt' or 'Gt'"));
    }
  } else {
    errors.push_back(api::InvalidError(path.Child("operator"), op, kBadOperator));
  }
  Append(errors, ValidateLabelName(StringAt(requirement, "key"), path.Child("key")));
  if (!check_values) return;
  for (std::size_t i = 0; i < values.size(); ++i) {
    AddInvalid(IsValidLabelValue(TextOf(values[i])), TextOf(values[i]), path.Child("values").Index(i),
               errors);
  }
}

void CheckNodeFieldRequirement(const Json& requirement, const Path& path, FieldErrors& errors) {
  const std::string_view op = StringAt(requirement, "operator");
  const std::string_view key = StringAt(requirement, "key");
  const Json& values = ListAt(requirement, "values");
  if (op != "In" && op != "NotIn") {
    errors.push_back(api::InvalidError(path.Child("operator"), op, kBadOperator));
  } else if (values.size() != 1) {
    errors.push_back(
        api::RequiredError(path.Child("values"),
                           "must be only one value when `operator` is 'In' or 'NotIn' for node field "
                           "selector"));
  }
  if (key != "metadata.name") {
    errors.push_back(api::InvalidError(path.Child("key"), key, "not a valid field selector key"));
    return;
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    CheckSubdomain(TextOf(values[i]), path.Child("values").Index(i), errors);
  }
}

void CheckNodeTerm(const Json& term, bool check_values, const Path& path, FieldErrors& errors) {
  const Json& expressions = ListAt(term, "matchExpressions");
  for (std::size_t i = 0; i < expressions.size(); ++i) {
    CheckNodeRequirement(expressions[i], check_values, path.Child("matchExpressions").Index(i), errors);
  }
  const Json& fields = ListAt(term, "matchFields");
  for (std::size_t i = 0; i < fields.size(); ++i) {
    CheckNodeFieldRequirement(fields[i], path.Child("matchFields").Index(i), errors);
  }
}

void CheckWeight(const Json& term, const Path& path, FieldErrors& errors) {
  const std::int64_t weight = IntAt(term, 0, "weight");
  if (weight >= 1 && weight <= 100) return;
  errors.push_back(api::InvalidError(path.Child("weight"), weight, "must be in the range 1-100"));
}

void CheckNodeAffinity(const Json& affinity, const Path& path, FieldErrors& errors) {
  if (const Json* required = Find(affinity, "requiredDuringSchedulingIgnoredDuringExecution")) {
    CheckNodeSelector(*required, path.Child("requiredDuringSchedulingIgnoredDuringExecution"), errors);
  }
  const Json& preferred = ListAt(affinity, "preferredDuringSchedulingIgnoredDuringExecution");
  for (std::size_t i = 0; i < preferred.size(); ++i) {
    const Path here = path.Child("preferredDuringSchedulingIgnoredDuringExecution").Index(i);
    CheckWeight(preferred[i], here, errors);
    CheckNodeTerm(ObjectAt(preferred[i], "preference"), false, here.Child("preference"), errors);
  }
}

void CheckPodTerm(const Json& term, const Path& path, FieldErrors& errors) {
  for (const char* field : {"labelSelector", "namespaceSelector"}) {
    if (const Json* selector = Find(term, field)) {
      Append(errors, ValidateLabelSelector(*selector, {}, path.Child(field)));
    }
  }
  for (const Json& name : ListAt(term, "namespaces"))
    CheckDnsLabel(TextOf(name), path.Child("namespace"), errors);
  CheckMatchLabelKeys(term, path, errors);
  const std::string_view key = StringAt(term, "topologyKey");
  if (key.empty()) errors.push_back(api::RequiredError(path.Child("topologyKey"), "can not be empty"));
  Append(errors, ValidateLabelName(key, path.Child("topologyKey")));
}

// podAffinity and podAntiAffinity.
void CheckPodAffinity(const Json& affinity, const Path& path, FieldErrors& errors) {
  const Json& required = ListAt(affinity, "requiredDuringSchedulingIgnoredDuringExecution");
  for (std::size_t i = 0; i < required.size(); ++i) {
    CheckPodTerm(required[i], path.Child("requiredDuringSchedulingIgnoredDuringExecution").Index(i), errors);
  }
  const Json& preferred = ListAt(affinity, "preferredDuringSchedulingIgnoredDuringExecution");
  for (std::size_t i = 0; i < preferred.size(); ++i) {
    const Path here = path.Child("preferredDuringSchedulingIgnoredDuringExecution").Index(i);
    CheckWeight(preferred[i], here, errors);
    CheckPodTerm(ObjectAt(preferred[i], "podAffinityTerm"), here.Child("podAffinityTerm"), errors);
  }
}

void CheckTolerationOperator(const Json& toleration, const Path& path, FieldErrors& errors) {
  const std::string_view op = StringAt(toleration, "operator");
  const std::string_view value = StringAt(toleration, "value");
  const Path here = path.Child("operator");
  if (op.empty() || op == "Equal") {
    std::string all;
    for (const std::string& message : IsValidLabelValue(value))
      all.append(all.empty() ? "" : ";").append(message);
    if (!all.empty()) errors.push_back(api::InvalidError(here, value, all));
  } else if (op == "Exists") {
    if (!value.empty()) {
      errors.push_back(api::InvalidError(here, value, "value must be empty when `operator` is 'Exists'"));
    }
  } else if (op == "Lt" || op == "Gt") {
    // An alpha feature that is off; its operators are listed nevertheless.
    errors.push_back(api::NotSupportedError(here, op, {"Equal", "Exists", "Lt", "Gt"}));
  } else {
    errors.push_back(api::NotSupportedError(here, op, {"Equal", "Exists"}));
  }
}

}  // namespace

void CheckNodeSelector(const Json& selector, const Path& path, FieldErrors& errors) {
  const Json& terms = ListAt(selector, "nodeSelectorTerms");
  const Path here = path.Child("nodeSelectorTerms");
  if (terms.empty()) errors.push_back(api::RequiredError(here, "must have at least one node selector term"));
  for (std::size_t i = 0; i < terms.size(); ++i) CheckNodeTerm(terms[i], true, here.Index(i), errors);
}

void CheckAffinity(const Json& affinity, const Path& path, FieldErrors& errors) {
  if (const Json* node = Find(affinity, "nodeAffinity"))
    CheckNodeAffinity(*node, path.Child("nodeAffinity"), errors);
  for (const char* field : {"podAffinity", "podAntiAffinity"}) {
    if (const Json* pod = Find(affinity, field)) CheckPodAffinity(*pod, path.Child(field), errors);
  }
}

void CheckSchedulingGates(const Json& gates, const Path& path, FieldErrors& errors) {
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < gates.size(); ++i) {
    const std::string_view name = StringAt(gates[i], "name");
    AddInvalid(IsQualifiedName(name), name, path.Index(i), errors);
    if (!seen.insert(name).second) errors.push_back(api::DuplicateError(path.Index(i), name));
  }
}

void CheckTolerations(const Json& tolerations, const Path& path, FieldErrors& errors) {
  for (std::size_t i = 0; i < tolerations.size(); ++i) {
    const Json& toleration = tolerations[i];
    const Path here = path.Index(i);
    const std::string_view key = StringAt(toleration, "key");
    const std::string_view op = StringAt(toleration, "operator");
    const std::string_view effect = StringAt(toleration, "effect");
    if (!key.empty()) Append(errors, ValidateLabelName(key, here.Child("key")));
    if (key.empty() && op != "Exists") {
      errors.push_back(api::InvalidError(
          here.Child("operator"), op,
          "operator must be Exists when `key` is empty, which means \"match all values and all keys\""));
    }
    if (Find(toleration, "tolerationSeconds") != nullptr && effect != "NoExecute") {
      errors.push_back(api::InvalidError(here.Child("effect"), effect,
                                         "effect must be 'NoExecute' when `tolerationSeconds` is set"));
    }
    CheckTolerationOperator(toleration, here, errors);
    if (!effect.empty() && effect != "NoSchedule" && effect != "PreferNoSchedule" && effect != "NoExecute") {
      errors.push_back(api::NotSupportedError(here.Child("effect"), effect,
                                              {"NoSchedule", "PreferNoSchedule", "NoExecute"}));
    }
  }
}

}  // namespace pod_rules

FieldErrors ValidateTolerations(const Json& tolerations, const api::Path& path) {
  FieldErrors errors;
  pod_rules::CheckTolerations(tolerations, path, errors);
  return errors;
}

FieldErrors ValidateNodeSelector(const Json& node_selector, const api::Path& path) {
  FieldErrors errors;
  pod_rules::CheckNodeSelector(node_selector, path, errors);
  return errors;
}

}  // namespace terrarium::apiserver

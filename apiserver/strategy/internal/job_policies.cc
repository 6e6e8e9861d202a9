#include <algorithm>
#include <set>

#include "apiserver/strategy/internal/checks.h"
#include "apiserver/strategy/internal/job_indexes.h"
#include "apiserver/strategy/internal/job_spec.h"
#include "apiserver/validation/formats.h"

namespace terrarium::apiserver::strategy {
namespace {

constexpr std::size_t kMaxRules = 20;
constexpr std::size_t kMaxExitCodes = 255;
constexpr std::size_t kMaxConditionPatterns = 20;
constexpr std::size_t kMaxSucceededIndexesBytes = 64 * 1024;

using Names = std::set<std::string_view>;

void AtMost(FieldErrors& errors, const Json& list, std::size_t max, const Path& path) {
  if (list.size() <= max) return;
  errors.push_back(api::TooManyError(path, static_cast<int>(list.size()), static_cast<int>(max)));
}

// A value of a set; an empty one is Required, with the set printed as Go prints a list.
void RequiredOneOf(FieldErrors& errors, const Path& path, std::string_view value,
                   const std::vector<std::string_view>& supported) {
  if (!value.empty()) {
    OneOf(errors, path, value, supported);
    return;
  }
  std::string text = "valid values: [";
  for (std::size_t i = 0; i < supported.size(); ++i)
    text.append(i == 0 ? "" : " ").append(api::Quote(supported[i]));
  errors.push_back(api::RequiredError(path, text + "]"));
}

void ExitCodeValues(FieldErrors& errors, const Json& on_exit_codes, const Path& path) {
  const Json& values = ListAt(on_exit_codes, "values");
  if (values.empty()) {
    const Json* given = Find(on_exit_codes, "values");
    errors.push_back(
        api::InvalidError(path, given == nullptr ? Json() : *given, "at least one value is required"));
  }
  AtMost(errors, values, kMaxExitCodes, path);
  const bool in = StringAt(on_exit_codes, "operator") == "In";
  std::set<std::int64_t> seen;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const auto code = values[i].get<std::int64_t>();
    if (in && code == 0)
      errors.push_back(api::InvalidError(path.Index(i), 0, "must not be 0 for the In operator"));
    if (!seen.insert(code).second) errors.push_back(api::DuplicateError(path.Index(i), code));
  }
  if (!std::is_sorted(values.begin(), values.end())) {
    errors.push_back(api::InvalidError(path, values, "must be ordered"));
  }
}

void OnExitCodes(FieldErrors& errors, const Json& on_exit_codes, const Names& containers, const Path& path) {
  RequiredOneOf(errors, path.Child("operator"), StringAt(on_exit_codes, "operator"), {"In", "NotIn"});
  const Json* name = Find(on_exit_codes, "containerName");
  if (name != nullptr && !containers.contains(name->get_ref<const std::string&>())) {
    errors.push_back(
        api::InvalidError(path.Child("containerName"), *name,
                          "must be one of the container or initContainer names in the pod template"));
  }
  ExitCodeValues(errors, on_exit_codes, path.Child("values"));
}

void OnPodConditions(FieldErrors& errors, const Json& patterns, const Path& path) {
  AtMost(errors, patterns, kMaxConditionPatterns, path);
  for (std::size_t i = 0; i < patterns.size(); ++i) {
    const Path here = path.Index(i);
    const std::string_view type = StringAt(patterns[i], "type");
    AddInvalid(IsQualifiedName(type), type, here.Child("type"), errors);
    RequiredOneOf(errors, here.Child("status"), StringAt(patterns[i], "status"),
                  {"False", "True", "Unknown"});
  }
}

void FailureRule(FieldErrors& errors, const Json& spec, const Json& rule, const Names& containers,
                 const Path& path) {
  const std::string_view action = StringAt(rule, "action");
  if (action == "FailIndex") {
    if (Find(spec, "backoffLimitPerIndex") == nullptr) {
      errors.push_back(
          api::InvalidError(path.Child("action"), action, "requires the backoffLimitPerIndex to be set"));
    }
  } else {
    RequiredOneOf(errors, path.Child("action"), action, {"Count", "FailIndex", "FailJob", "Ignore"});
  }
  const Json* exit_codes = Find(rule, "onExitCodes");
  const Json& conditions = ListAt(rule, "onPodConditions");
  if (exit_codes != nullptr) OnExitCodes(errors, *exit_codes, containers, path.Child("onExitCodes"));
  if (!conditions.empty()) OnPodConditions(errors, conditions, path.Child("onPodConditions"));
  if (exit_codes != nullptr && !conditions.empty()) {
    errors.push_back(
        api::InvalidErrorNoValue(path, "specifying both OnExitCodes and OnPodConditions is not supported"));
  }
  if (exit_codes == nullptr && conditions.empty()) {
    errors.push_back(
        api::InvalidErrorNoValue(path, "specifying one of OnExitCodes and OnPodConditions is required"));
  }
}

void SucceededCount(FieldErrors& errors, std::int64_t count, std::int64_t limit, std::string_view what,
                    const Path& path) {
  if (count <= limit) return;
  errors.push_back(api::InvalidError(path, count,
                                     "must be less than or equal to " + std::to_string(limit) +
                                         " (the number of " + std::string(what) + ")"));
}

void SuccessRule(FieldErrors& errors, const Json& rule, std::int64_t completions, const Path& path) {
  const Json* count = Find(rule, "succeededCount");
  const Json* indexes = Find(rule, "succeededIndexes");
  if (count == nullptr && indexes == nullptr) {
    errors.push_back(
        api::RequiredError(path, "at least one of succeededCount or succeededIndexes must be specified"));
  }
  IndexCount named;
  if (indexes != nullptr) {
    const std::string& text = indexes->get_ref<const std::string&>();
    const Path here = path.Child("succeededIndexes");
    if (text.size() > kMaxSucceededIndexesBytes) {
      errors.push_back(api::TooLongError(here, static_cast<int>(kMaxSucceededIndexesBytes)));
    }
    named = CountIndexes(text, completions);
    if (!named.error.empty()) {
      errors.push_back(api::InvalidError(here, text, "error parsing succeededIndexes: " + named.error));
    }
  }
  if (count == nullptr) return;
  const auto wanted = count->get<std::int64_t>();
  const Path here = path.Child("succeededCount");
  api::Append(errors, ValidateNonnegative(wanted, here));
  SucceededCount(errors, wanted, completions, "specified completions", here);
  if (indexes != nullptr) {
    SucceededCount(errors, wanted, named.total, "indexes in the specified succeededIndexes field", here);
  }
}

}  // namespace

void ValidatePodFailurePolicy(FieldErrors& errors, const Json& spec, const Path& path) {
  const Json& rules = ListAt(spec, "podFailurePolicy", "rules");
  AtMost(errors, rules, kMaxRules, path.Child("rules"));
  Names containers;
  for (const char* list : {"containers", "initContainers"}) {
    for (const Json& container : ListAt(spec, "template", "spec", list))
      containers.insert(StringAt(container, "name"));
  }
  for (std::size_t i = 0; i < rules.size(); ++i) {
    FailureRule(errors, spec, rules[i], containers, path.Child("rules").Index(i));
  }
}

void ValidateSuccessPolicy(FieldErrors& errors, const Json& spec, const Path& path) {
  const Json& rules = ListAt(spec, "successPolicy", "rules");
  if (rules.empty()) {
    errors.push_back(api::RequiredError(
        path.Child("rules"), "at least one rules must be specified when the successPolicy is specified"));
  }
  AtMost(errors, rules, kMaxRules, path.Child("rules"));
  for (std::size_t i = 0; i < rules.size(); ++i) {
    SuccessRule(errors, rules[i], IntAt(spec, 0, "completions"), path.Child("rules").Index(i));
  }
}

}  // namespace terrarium::apiserver::strategy

#include "apiserver/strategy/internal/job_spec.h"

#include "apiserver/strategy/internal/checks.h"
#include "apiserver/validation/formats.h"

namespace terrarium::apiserver::strategy {
namespace {

constexpr std::int64_t kMaxParallelismIndexed = 100'000;
constexpr std::int64_t kMaxFailedIndexes = 100'000;
constexpr std::int64_t kManyCompletions = 100'000;
constexpr std::int64_t kMaxWithManyCompletions = 10'000;  // of parallelism and of maxFailedIndexes
constexpr int kMaxManagedByLength = 63;

bool IsIndexed(const Json& spec) { return StringAt(spec, "completionMode") == "Indexed"; }

void AtMost(FieldErrors& errors, const Json& spec, std::string_view key, std::int64_t max,
            std::string_view when, const Path& path) {
  const std::int64_t value = IntAt(spec, 0, key);
  if (value <= max) return;
  errors.push_back(api::InvalidError(
      path.Child(key), value, "must be less than or equal to " + std::to_string(max) + std::string(when)));
}

void ManagedBy(FieldErrors& errors, const Json& spec, const Path& path) {
  if (Find(spec, "managedBy") == nullptr) return;
  const std::string_view name = StringAt(spec, "managedBy");
  api::Append(errors, IsDomainPrefixedPath(name, path.Child("managedBy")));
  if (name.size() > kMaxManagedByLength) {
    errors.push_back(api::TooLongError(path.Child("managedBy"), kMaxManagedByLength));
  }
}

void IndexedLimits(FieldErrors& errors, const Json& spec, const Path& path) {
  const Json* completions = Find(spec, "completions");
  const Json* max_failed = Find(spec, "maxFailedIndexes");
  if (completions == nullptr) {
    errors.push_back(api::RequiredError(path.Child("completions"), "when completion mode is Indexed"));
  }
  AtMost(errors, spec, "parallelism", kMaxParallelismIndexed, " when completion mode is Indexed", path);
  if (completions != nullptr && max_failed != nullptr &&
      max_failed->get<std::int64_t>() > completions->get<std::int64_t>()) {
    errors.push_back(api::InvalidError(path.Child("maxFailedIndexes"), *max_failed,
                                       "must be less than or equal to completions"));
  }
  AtMost(errors, spec, "maxFailedIndexes", kMaxFailedIndexes, "", path);
  if (IntAt(spec, 0, "completions") <= kManyCompletions || Find(spec, "backoffLimitPerIndex") == nullptr)
    return;
  if (max_failed == nullptr) {
    errors.push_back(api::RequiredError(path.Child("maxFailedIndexes"),
                                        "must be specified when completions is above 100000"));
  }
  const char* when = " when completions are above 100000 and used with backoff limit per index";
  AtMost(errors, spec, "parallelism", kMaxWithManyCompletions, when, path);
  AtMost(errors, spec, "maxFailedIndexes", kMaxWithManyCompletions, when, path);
}

void CompletionMode(FieldErrors& errors, const Json& spec, const Path& path) {
  const Json* mode = Find(spec, "completionMode");
  if (mode != nullptr)
    OneOf(errors, path.Child("completionMode"), StringAt(spec, "completionMode"), {"NonIndexed", "Indexed"});
  if (IsIndexed(spec)) IndexedLimits(errors, spec, path);
  if (mode != nullptr && StringAt(spec, "completionMode") != "NonIndexed") return;
  for (const char* key : {"backoffLimitPerIndex", "maxFailedIndexes"}) {
    if (const Json* value = Find(spec, key)) {
      errors.push_back(api::InvalidError(path.Child(key), *value, "requires indexed completion mode"));
    }
  }
}

void PodReplacementPolicy(FieldErrors& errors, const Json& spec, const Path& path) {
  if (Find(spec, "podReplacementPolicy") == nullptr) return;
  const std::string_view policy = StringAt(spec, "podReplacementPolicy");
  if (Find(spec, "podFailurePolicy") != nullptr) {
    OneOf(errors, path, policy, {"Failed"});
  } else {
    OneOf(errors, path, policy, {"Failed", "TerminatingOrFailed"});
  }
}

void RestartPolicy(FieldErrors& errors, const Json& spec, const Path& path) {
  const std::string_view policy = StringAt(spec, "template", "spec", "restartPolicy");
  // Always is what an absent policy was defaulted to.
  if (policy.empty() || policy == "Always") {
    errors.push_back(api::RequiredError(path, "valid values: \"OnFailure\", \"Never\""));
  } else if (policy != "OnFailure" && policy != "Never") {
    errors.push_back(api::NotSupportedError(path, policy, {"OnFailure", "Never"}));
  } else if (policy != "Never" && Find(spec, "podFailurePolicy") != nullptr) {
    errors.push_back(
        api::InvalidError(path, policy, "only \"Never\" is supported when podFailurePolicy is specified"));
  }
}

}  // namespace

void ValidateJobSpec(FieldErrors& errors, const Json& spec, const PodValidationOptions& options,
                     const Path& path) {
  for (const char* key : {"parallelism", "completions", "activeDeadlineSeconds", "backoffLimit",
                          "ttlSecondsAfterFinished", "backoffLimitPerIndex", "maxFailedIndexes"}) {
    Nonnegative(errors, spec, key, path);
  }
  if (Find(spec, "maxFailedIndexes") != nullptr && Find(spec, "backoffLimitPerIndex") == nullptr) {
    errors.push_back(
        api::RequiredError(path.Child("backoffLimitPerIndex"), "when maxFailedIndexes is specified"));
  }
  ManagedBy(errors, spec, path);
  CompletionMode(errors, spec, path);
  if (Find(spec, "podFailurePolicy") != nullptr) {
    ValidatePodFailurePolicy(errors, spec, path.Child("podFailurePolicy"));
  }
  if (const Json* policy = Find(spec, "successPolicy")) {
    if (IsIndexed(spec)) {
      ValidateSuccessPolicy(errors, spec, path.Child("successPolicy"));
    } else {
      errors.push_back(
          api::InvalidError(path.Child("successPolicy"), *policy, "requires indexed completion mode"));
    }
  }
  PodReplacementPolicy(errors, spec, path.Child("podReplacementPolicy"));
  api::Append(errors, ValidatePodTemplateSpec(ObjectAt(spec, "template"), options, path.Child("template")));
  RestartPolicy(errors, spec, path.Child("template").Child("spec", "restartPolicy"));
}

std::vector<std::string> JobSpecWarnings(const Json& spec, const Path& path) {
  std::vector<std::string> warnings;
  if (IsIndexed(spec) && IntAt(spec, 0, "completions") > kManyCompletions &&
      IntAt(spec, 0, "parallelism") > kMaxWithManyCompletions) {
    warnings.push_back(
        path.String() +
        ": In Indexed Jobs with a number of completions higher than 10^5 and a parallelism higher than "
        "10^4, Kubernetes might not be able to track completedIndexes when a big number of indexes fail");
  }
  for (std::string& text : PodSpecWarnings(ObjectAt(spec, "template"), path.Child("template"))) {
    warnings.push_back(std::move(text));
  }
  return warnings;
}

}  // namespace terrarium::apiserver::strategy

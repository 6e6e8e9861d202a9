#include "api/selector/label_selector.h"
#include "apiserver/strategies.h"
#include "apiserver/strategy/internal/checks.h"
#include "apiserver/strategy/internal/job_spec.h"
#include "apiserver/strategy/internal/job_status.h"
#include "apiserver/strategy/internal/job_update.h"
#include "apiserver/strategy/internal/pod_template_rules.h"

namespace terrarium::apiserver {
namespace {

using namespace strategy;  // NOLINT: the helpers of this folder

constexpr const char* kControllerUid = "batch.kubernetes.io/controller-uid";
constexpr const char* kJobName = "batch.kubernetes.io/job-name";
constexpr const char* kLegacyControllerUid = "controller-uid";
constexpr const char* kLegacyJobName = "job-name";
constexpr std::int64_t kDefaultBackoffLimit = 6;
constexpr std::int64_t kNoBackoffLimit = 2147483647;

struct JobOptions {
  PodValidationOptions pod;
  LabelSelectorOptions selector;
  bool require_prefixed_labels = true;
};

JobOptions Options(const StrategyContext& context, const Json* old) {
  JobOptions options{.pod = TemplateOptions(context, old), .selector = {}};
  if (old == nullptr) return options;
  // What an older release stored may stay: odd selector values, and templates without the prefixed labels.
  options.selector.allow_invalid_label_values =
      !ValidateLabelSelector(ObjectAt(*old, "spec", "selector"), {}, Path()).empty();
  const Json& labels = ObjectAt(*old, "spec", "template", "metadata", "labels");
  options.require_prefixed_labels = labels.contains(kControllerUid) && labels.contains(kJobName);
  return options;
}

// Labels on the template that only this Job's pods have, and a selector for them. Labels that the client set
// are left alone; validation refuses them where they are wrong.
void GenerateSelector(Json& object) {
  const std::string uid(StringAt(object, "metadata", "uid"));
  const std::string name(StringAt(object, "metadata", "name"));
  // As in Kubernetes, a Job whose own labels and those of its template are empty gets the new ones, too.
  const bool shared = ObjectAt(object, "metadata", "labels").empty() &&
                      ObjectAt(object, "spec", "template", "metadata", "labels").empty();
  Json& spec = ObjectField(object, "spec");
  Json& labels = ObjectField(ObjectField(ObjectField(spec, "template"), "metadata"), "labels");
  labels.emplace(kLegacyJobName, name);
  labels.emplace(kJobName, name);
  labels.emplace(kLegacyControllerUid, uid);
  labels.emplace(kControllerUid, uid);
  Json copy = shared ? labels : Json();
  ObjectField(ObjectField(spec, "selector"), "matchLabels").emplace(kControllerUid, uid);
  if (shared) ObjectField(object, "metadata")["labels"] = std::move(copy);
}

void HasLabel(FieldErrors& errors, const Json& labels, const char* key, std::string_view wanted) {
  const Path path = Path("spec").Child("template").Child("metadata", "labels").Key(key);
  const std::string detail = "must be '" + std::string(wanted) + "'";
  if (!labels.contains(key)) {
    errors.push_back(api::RequiredError(path, detail));
  } else if (StringAt(labels, key) != wanted) {
    errors.push_back(api::InvalidError(path, labels, detail));
  }
}

void GeneratedSelector(FieldErrors& errors, const Json& object, bool require_prefixed_labels) {
  const Json& spec = ObjectAt(object, "spec");
  const Json* selector = Find(spec, "selector");
  if (BoolAt(spec, "manualSelector") || selector == nullptr) return;
  const std::string uid(StringAt(object, "metadata", "uid"));
  const std::string name(StringAt(object, "metadata", "name"));
  if (uid.empty()) errors.push_back(api::RequiredError(Path("metadata").Child("uid")));
  const Json& labels = ObjectAt(spec, "template", "metadata", "labels");
  Json expected = {{kLegacyControllerUid, uid}, {kLegacyJobName, name}};
  HasLabel(errors, labels, kLegacyControllerUid, uid);
  HasLabel(errors, labels, kLegacyJobName, name);
  if (require_prefixed_labels) {
    HasLabel(errors, labels, kControllerUid, uid);
    HasLabel(errors, labels, kJobName, name);
    expected[kControllerUid] = uid;
    expected[kJobName] = name;
  }
  const auto parsed = api::LabelSelector::FromDocument(selector);
  if (parsed && !parsed->Matches(expected)) {
    errors.push_back(
        api::InvalidError(Path("spec").Child("selector"), *selector, "`selector` not auto-generated"));
  }
}

void SpecWithSelector(FieldErrors& errors, const Json& spec, const JobOptions& options) {
  const Path path("spec");
  ValidateJobSpec(errors, spec, options.pod, path);
  const Json* selector = Find(spec, "selector");
  if (selector == nullptr) {
    errors.push_back(api::RequiredError(path.Child("selector")));
  } else {
    api::Append(errors, ValidateLabelSelector(*selector, options.selector, path.Child("selector")));
  }
  const auto parsed = api::LabelSelector::FromDocument(selector);
  if (parsed && !parsed->Matches(ObjectAt(spec, "template", "metadata", "labels"))) {
    errors.push_back(LabelsMismatch(ObjectAt(spec, "template"), path.Child("template")));
  }
}

// The hostname of the last index must be a DNS label, or the pods could not be created later.
void IndexedHostname(FieldErrors& errors, const Json& object) {
  const std::int64_t completions = IntAt(object, 0, "spec", "completions");
  if (StringAt(object, "spec", "completionMode") != "Indexed" || completions <= 0) return;
  const std::string name(StringAt(object, "metadata", "name"));
  const std::string hostname = name + "-" + std::to_string(completions - 1);
  if (IsDns1123Label(hostname).empty()) return;
  errors.push_back(api::InvalidError(Path("metadata").Child("name"), name,
                                     "will not able to create pod with invalid DNS label: " + hostname));
}

FieldErrors WholeJob(const Json& object, const JobOptions& options, NameCheck rule) {
  FieldErrors errors = NewMetadata(object, true, rule);
  GeneratedSelector(errors, object, options.require_prefixed_labels);
  SpecWithSelector(errors, ObjectAt(object, "spec"), options);
  IndexedHostname(errors, object);
  return errors;
}

// In Kubernetes a Job without labels shares the map of its template, so that labels generated later show in
// both.
void LabelsFromTemplate(Json& object) {
  const Json* labels = Find(object, "spec", "template", "metadata", "labels");
  if (labels == nullptr || !ObjectAt(object, "metadata", "labels").empty()) return;
  const Json copy = *labels;
  ObjectField(object, "metadata")["labels"] = copy;
}

std::string Successful(const Json& object) { return std::to_string(IntAt(object, 0, "status", "succeeded")); }

constexpr SelectableField kFields[] = {{"status.successful", Successful}};

class Job final : public Strategy {
 public:
  void Default(Json& object) const override {
    Json& spec = ObjectField(object, "spec");
    DefaultTemplate(spec);
    if (Find(spec, "parallelism") == nullptr) {
      if (Find(spec, "completions") == nullptr) spec["completions"] = 1;
      spec["parallelism"] = 1;
    }
    if (Find(spec, "backoffLimit") == nullptr) {
      spec["backoffLimit"] =
          Find(spec, "backoffLimitPerIndex") == nullptr ? kDefaultBackoffLimit : kNoBackoffLimit;
    }
    if (Find(spec, "podReplacementPolicy") == nullptr) {
      spec["podReplacementPolicy"] =
          Find(spec, "podFailurePolicy") == nullptr ? "TerminatingOrFailed" : "Failed";
    }
  }

  void PrepareForCreate(const StrategyContext& context, Json& object) const override {
    const bool take_labels = ObjectAt(object, "metadata", "labels").empty() &&
                             Find(object, "spec", "template", "metadata", "labels") != nullptr;
    if (!BoolAt(object, "spec", "manualSelector")) GenerateSelector(object);
    if (take_labels) LabelsFromTemplate(object);
    if (!context.gates.Enabled(api::gate::kJobBackoffLimitPerIndex)) DropFailIndexRules(object);
  }

  void PrepareForUpdate(const StrategyContext& /*context*/, Json& object,
                        const Json& /*old*/) const override {
    LabelsFromTemplate(object);
  }

  FieldErrors Validate(const StrategyContext& context, const Json& object) const override {
    return WholeJob(object, Options(context, nullptr), NameRule());
  }

  FieldErrors ValidateUpdate(const StrategyContext& context, const Json& object,
                             const Json& old) const override {
    const JobOptions options = Options(context, &old);
    FieldErrors errors = WholeJob(object, options, NameRule());
    api::Append(errors, ChangedMetadata(object, old));
    // Kubernetes looks at the spec a second time here, and clients see its causes twice.
    SpecWithSelector(errors, ObjectAt(object, "spec"), options);
    ValidateJobSpecChanges(errors, object, old, context.gates);
    return errors;
  }

  FieldErrors ValidateStatusUpdate(const StrategyContext& context, const Json& object,
                                   const Json& old) const override {
    FieldErrors errors = ChangedMetadata(object, old);
    ValidateJobStatusUpdate(errors, object, old, context.gates);
    return errors;
  }

  std::vector<std::string> Warnings(const StrategyContext& /*context*/, const Json& object,
                                    const Json* old) const override {
    std::vector<std::string> warnings;
    if (old == nullptr) warnings = PodNameWarnings(object);
    if (old != nullptr && !BumpsGeneration(object, *old)) return warnings;
    for (std::string& text : JobSpecWarnings(ObjectAt(object, "spec"), Path("spec"))) {
      warnings.push_back(std::move(text));
    }
    return warnings;
  }

  std::span<const SelectableField> SelectableFields() const override { return kFields; }
  bool OrphansDependentsByDefault() const override { return true; }
  std::string_view OrphanByDefaultWarning() const override {
    return "child pods are preserved by default when jobs are deleted; set propagationPolicy=Background to "
           "remove them "
           "or set propagationPolicy=Orphan to suppress this warning";
  }

 private:
  // Without per-index limits there is no index to fail.
  static void DropFailIndexRules(Json& object) {
    if (ListAt(object, "spec", "podFailurePolicy", "rules").empty()) return;
    Json& rules = object["spec"]["podFailurePolicy"]["rules"];
    Json kept = Json::array();
    for (Json& rule : rules) {
      if (StringAt(rule, "action") != "FailIndex") kept.push_back(std::move(rule));
    }
    rules = std::move(kept);
  }
};

}  // namespace

const Strategy& JobStrategy() {
  static const Job strategy;
  return strategy;
}

}  // namespace terrarium::apiserver

#include <set>

#include "api/selector/label_selector.h"
#include "apiserver/strategies.h"
#include "apiserver/strategy/internal/checks.h"
#include "apiserver/strategy/internal/int_or_percent.h"
#include "apiserver/strategy/internal/pod_template_rules.h"
#include "apiserver/strategy/internal/update_strategy.h"

namespace terrarium::apiserver {
namespace {

using namespace strategy;  // NOLINT: the helpers of this folder

// An update skips the immutable fields. It also skips the template when the stored spec is already invalid,
// which happens when older, laxer rules accepted it.
struct SpecOptions {
  bool check_immutable_parts = true;
  bool check_template = true;
};

void RollingUpdate(FieldErrors& errors, const Json& rolling, const Path& path) {
  Nonnegative(errors, rolling, "partition", path);
  const Json* unavailable = Find(rolling, "maxUnavailable");
  if (unavailable == nullptr) return;
  PositiveIntOrPercent(errors, unavailable, path.Child("maxUnavailable"));
  if (IntOrPercentValue(unavailable) == 0) {
    errors.push_back(api::InvalidError(path.Child("maxUnavailable"), *unavailable, "cannot be 0"));
  }
  AtMostAllPercent(errors, unavailable, path.Child("maxUnavailable"));
}

void UpdateStrategy(FieldErrors& errors, const Json& strategy, const Path& path) {
  const std::string_view type = StringAt(strategy, "type");
  const Json* rolling = Find(strategy, "rollingUpdate");
  if (type == "RollingUpdate") {
    if (rolling != nullptr) RollingUpdate(errors, *rolling, path.Child("rollingUpdate"));
  } else if (type == "OnDelete") {
    if (rolling != nullptr) {
      errors.push_back(api::InvalidError(path.Child("rollingUpdate"), *rolling,
                                         "only allowed for updateStrategy 'RollingUpdate'"));
    }
  } else if (type.empty()) {
    errors.push_back(api::RequiredError(path));
  } else {
    errors.push_back(InvalidText(path, UpdateStrategyText(strategy, {"partition", "maxUnavailable"}),
                                 "must be 'RollingUpdate' or 'OnDelete'"));
  }
}

// The template as the controller uses it. The controller sets hostname and subdomain itself, and adds a
// volume for each claim, which replaces a volume of the same name.
Json EffectiveTemplate(const Json& spec) {
  Json pod_template = ObjectAt(spec, "template");
  const Json& claims = ListAt(spec, "volumeClaimTemplates");
  Json& pod_spec = ObjectField(pod_template, "spec");
  pod_spec.erase("subdomain");
  pod_spec.erase("hostname");
  if (claims.empty()) return pod_template;
  Json volumes = Json::array();
  for (const Json& claim : claims) {
    const std::string name(StringAt(claim, "metadata", "name"));
    volumes.push_back({{"name", name}, {"persistentVolumeClaim", {{"claimName", name}}}});
  }
  std::set<std::string> claimed;
  for (const Json& volume : volumes) claimed.insert(volume["name"].get<std::string>());
  for (const Json& volume : ListAt(pod_spec, "volumes")) {
    if (!claimed.contains(volume.value("name", ""))) volumes.push_back(volume);
  }
  pod_spec["volumes"] = std::move(volumes);
  return pod_template;
}

void Template(FieldErrors& errors, const Json& spec, const api::LabelSelector& selector,
              const SpecOptions& options, const PodValidationOptions& pod_options, const Path& path) {
  const Json pod_template = EffectiveTemplate(spec);
  const Json& labels = ObjectAt(pod_template, "metadata", "labels");
  if (!selector.selects_everything() && !selector.Matches(labels)) {
    errors.push_back(LabelsMismatch(ObjectAt(spec, "template"), path));
  }
  if (options.check_template) api::Append(errors, ValidatePodTemplateSpec(pod_template, pod_options, path));
  // Kubernetes validates these twice, so clients see each cause twice.
  api::Append(errors, ValidateLabels(labels, path.Child("labels")));
  api::Append(errors, ValidateAnnotations(ObjectAt(pod_template, "metadata", "annotations"),
                                          path.Child("annotations")));
}

void Scale(FieldErrors& errors, const Json& spec, const Path& path) {
  Nonnegative(errors, spec, "replicas", path);
  Nonnegative(errors, spec, "minReadySeconds", path);
  if (const Json* ordinals = Find(spec, "ordinals"))
    Nonnegative(errors, *ordinals, "start", path.Child("ordinals"));
}

FieldErrors Spec(const Json& spec, const SpecOptions& options, const PodValidationOptions& pod_options) {
  const Path path("spec");
  FieldErrors errors;
  const std::string_view management = StringAt(spec, "podManagementPolicy");
  if (management.empty()) {
    errors.push_back(api::RequiredError(path.Child("podManagementPolicy")));
  } else if (management != "OrderedReady" && management != "Parallel") {
    errors.push_back(api::InvalidError(path.Child("podManagementPolicy"), std::string(management),
                                       "must be 'OrderedReady' or 'Parallel'"));
  }
  UpdateStrategy(errors, ObjectAt(spec, "updateStrategy"), path.Child("updateStrategy"));
  if (const Json* retention = Find(spec, "persistentVolumeClaimRetentionPolicy")) {
    for (const char* key : {"whenDeleted", "whenScaled"}) {
      OneOf(errors, path.Child("persistentVolumeClaimRetentionPolicy", key), StringAt(*retention, key),
            {"Retain", "Delete"});
    }
  }
  const Json& claims = ListAt(spec, "volumeClaimTemplates");
  for (std::size_t i = 0; options.check_immutable_parts && i < claims.size(); ++i) {
    // Kubernetes validates only the spec of a claim, not its metadata.
    api::Append(errors, ValidatePersistentVolumeClaimTemplate({{"spec", ObjectAt(claims[i], "spec")}},
                                                              path.Child("volumeClaimTemplates").Index(i)));
  }
  Scale(errors, spec, path);
  if (const std::string_view name = StringAt(spec, "serviceName");
      options.check_immutable_parts && !name.empty()) {
    AddInvalid(IsDns1123Label(name), name, path.Child("serviceName"), errors);
  }
  RequiredSelector(errors, spec, "empty selector is invalid for statefulset", path);
  const Json* selector_document = Find(spec, "selector");
  if (const auto selector = api::LabelSelector::FromDocument(selector_document)) {
    Template(errors, spec, *selector, options, pod_options, path.Child("template"));
  } else {
    errors.push_back(api::InvalidError(path.Child("selector"), *selector_document, ""));
  }
  RequireRestartAlways(errors, ObjectAt(spec, "template"), "StatefulSet", path.Child("template"));
  return errors;
}

// The gate of the field also decides whether it has a default. Kubernetes applies the default to stored
// objects too, so an update by a client that does not know the field changes nothing.
void DefaultMaxUnavailable(const StrategyContext& context, Json& object, const Json* old) {
  if (!context.gates.Enabled(api::gate::kMaxUnavailableStatefulSet)) return;
  const Json* rolling = Find(object, "spec", "updateStrategy", "rollingUpdate");
  if (rolling == nullptr || Find(*rolling, "maxUnavailable") != nullptr) return;
  if (old != nullptr && Find(*old, "spec", "updateStrategy", "rollingUpdate", "maxUnavailable") == nullptr)
    return;
  object["spec"]["updateStrategy"]["rollingUpdate"]["maxUnavailable"] = 1;
}

// As in Kubernetes, each claim has its apiVersion and kind, and the phase Pending.
void DefaultClaims(Json& spec) {
  if (ListAt(spec, "volumeClaimTemplates").empty()) return;
  for (Json& claim : spec["volumeClaimTemplates"]) {
    claim["apiVersion"] = "v1";
    claim["kind"] = "PersistentVolumeClaim";
    Json& status = ObjectField(claim, "status");
    if (StringAt(status, "phase").empty()) status["phase"] = "Pending";
  }
}

bool OnlyMutableFieldsDiffer(Json spec, Json old_spec) {
  for (const char* key : {"replicas", "ordinals", "template", "updateStrategy", "revisionHistoryLimit",
                          "persistentVolumeClaimRetentionPolicy", "minReadySeconds"}) {
    spec.erase(key);
    old_spec.erase(key);
  }
  return spec == old_spec;
}

class StatefulSet final : public Strategy {
 public:
  NameCheck NameRule() const override { return NameIsDnsLabel; }

  void Default(Json& object) const override {
    Json& spec = ObjectField(object, "spec");
    DefaultTemplate(spec);
    DefaultClaims(spec);
    Json& strategy = ObjectField(spec, "updateStrategy");
    if (StringAt(strategy, "type").empty()) {
      strategy["type"] = "RollingUpdate";
      ObjectField(strategy, "rollingUpdate");
    }
    if (StringAt(strategy, "type") != "RollingUpdate" || Find(strategy, "rollingUpdate") == nullptr) return;
    if (Find(strategy, "rollingUpdate", "partition") == nullptr) strategy["rollingUpdate"]["partition"] = 0;
  }

  void PrepareForCreate(const StrategyContext& context, Json& object) const override {
    DefaultMaxUnavailable(context, object, nullptr);
  }

  void PrepareForUpdate(const StrategyContext& context, Json& object, const Json& old) const override {
    DefaultMaxUnavailable(context, object, &old);
  }

  FieldErrors Validate(const StrategyContext& context, const Json& object) const override {
    FieldErrors errors = NewMetadata(object, true, NameRule());
    api::Append(errors, Spec(ObjectAt(object, "spec"), {}, TemplateOptions(context, nullptr)));
    return errors;
  }

  FieldErrors ValidateUpdate(const StrategyContext& context, const Json& object,
                             const Json& old) const override {
    const Json& spec = ObjectAt(object, "spec");
    const Json& old_spec = ObjectAt(old, "spec");
    FieldErrors errors = ChangedMetadata(object, old);
    SpecOptions options{.check_immutable_parts = false};
    const PodValidationOptions pod_options = TemplateOptions(context, &old);
    options.check_template = Spec(old_spec, options, pod_options).empty();
    api::Append(errors, Spec(spec, options, pod_options));
    if (!OnlyMutableFieldsDiffer(spec, old_spec)) {
      errors.push_back(api::ForbiddenError(Path("spec"),
                                           "updates to statefulset spec for fields other than 'replicas', "
                                           "'ordinals', 'template', 'updateStrategy', "
                                           "'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' "
                                           "and 'minReadySeconds' are forbidden"));
    }
    return errors;
  }

  FieldErrors ValidateStatusUpdate(const StrategyContext& /*context*/, const Json& object,
                                   const Json& old) const override {
    const Path path("status");
    const Json& status = ObjectAt(object, "status");
    FieldErrors errors;
    for (const char* key : {"replicas", "readyReplicas", "currentReplicas", "updatedReplicas",
                            "availableReplicas", "observedGeneration", "collisionCount"}) {
      Nonnegative(errors, status, key, path);
    }
    for (const char* key : {"readyReplicas", "currentReplicas", "updatedReplicas", "availableReplicas"}) {
      NotGreater(errors, status, key, "replicas", "cannot be greater than status.replicas", path);
    }
    NotGreater(errors, status, "availableReplicas", "readyReplicas",
               "cannot be greater than status.readyReplicas", path);
    api::Append(errors, ChangedMetadata(object, old));
    CollisionCountKept(errors, object, old);
    return errors;
  }

  std::vector<std::string> Warnings(const StrategyContext& /*context*/, const Json& object,
                                    const Json* old) const override {
    std::vector<std::string> warnings = TemplateWarnings(*this, object, old);
    if (IntAt(object, 0, "spec", "revisionHistoryLimit") < 0) {
      warnings.push_back(
          "spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is "
          "recommended");
    }
    return warnings;
  }
};

}  // namespace

const Strategy& StatefulSetStrategy() {
  static const StatefulSet strategy;
  return strategy;
}

}  // namespace terrarium::apiserver

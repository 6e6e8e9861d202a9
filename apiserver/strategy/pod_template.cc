#include "apiserver/validation/pod_template.h"

#include "apiserver/strategies.h"
#include "apiserver/strategy/internal/checks.h"

namespace terrarium::apiserver {
namespace {

using namespace strategy;  // NOLINT: the helpers of this folder

class PodTemplate final : public Strategy {
 public:
  bool HasStatus() const override { return false; }

  void Default(Json& object) const override {
    if (Find(object, "template", "spec") != nullptr) DefaultPodSpec(object["template"]["spec"]);
  }

  FieldErrors Validate(const StrategyContext& context, const Json& object) const override {
    return Whole(object, PodOptions(context));
  }

  FieldErrors ValidateUpdate(const StrategyContext& context, const Json& object,
                             const Json& old) const override {
    FieldErrors errors = ChangedMetadata(object, old);
    api::Append(errors, Whole(object, PodOptions(context, &ObjectAt(old, "template"))));
    return errors;
  }

  bool BumpsGeneration(const Json& object, const Json& old) const override {
    return ObjectAt(object, "template", "spec") != ObjectAt(old, "template", "spec");
  }

  std::vector<std::string> Warnings(const StrategyContext& /*context*/, const Json& object,
                                    const Json* old) const override {
    if (old != nullptr && !BumpsGeneration(object, *old)) return {};
    return PodSpecWarnings(ObjectAt(object, "template"), Path("template"));
  }

 private:
  FieldErrors Whole(const Json& object, const PodValidationOptions& options) const {
    FieldErrors errors = NewMetadata(object, true, NameRule());
    api::Append(errors, ValidatePodTemplateSpec(ObjectAt(object, "template"), options, Path("template")));
    return errors;
  }
};

}  // namespace

const Strategy& PodTemplateStrategy() {
  static const PodTemplate strategy;
  return strategy;
}

}  // namespace terrarium::apiserver

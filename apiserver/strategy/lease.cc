#include "apiserver/strategies.h"
#include "apiserver/strategy/internal/checks.h"
#include "apiserver/validation/formats.h"

namespace terrarium::apiserver {
namespace {

using namespace strategy;  // NOLINT: the helpers of this folder

// strategy and preferredHolder belong to the gate CoordinatedLeaderElection, which is off in the release we
// follow.
void DropCoordination(Json& object, const Json* old) {
  for (const char* key : {"strategy", "preferredHolder"}) {
    if (old != nullptr && Find(*old, "spec", key) != nullptr) continue;
    if (Find(object, "spec", key) != nullptr) object["spec"].erase(key);
  }
}

void Coordination(FieldErrors& errors, const Json& spec, const Path& path) {
  const std::string_view strategy = StringAt(spec, "strategy");
  if (Find(spec, "strategy") != nullptr) {
    // The doubled path is Kubernetes' own.
    const Path here = path.Child("strategy", "strategy");
    if (strategy.find('/') == std::string_view::npos) {
      OneOf(errors, here, strategy, {"OldestEmulationVersion"});
    } else {
      AddInvalid(IsQualifiedName(strategy), strategy, here, errors);
    }
  }
  if (!StringAt(spec, "preferredHolder").empty() && strategy.empty()) {
    errors.push_back(
        api::ForbiddenError(path.Child("preferredHolder"), "may only be specified if `strategy` is defined"));
  }
}

FieldErrors Spec(const Json& spec) {
  const Path path("spec");
  FieldErrors errors;
  if (const std::int64_t seconds = IntAt(spec, 1, "leaseDurationSeconds"); seconds <= 0) {
    errors.push_back(
        api::InvalidError(path.Child("leaseDurationSeconds"), seconds, "must be greater than 0"));
  }
  Nonnegative(errors, spec, "leaseTransitions", path);
  Coordination(errors, spec, path);
  return errors;
}

class Lease final : public Strategy {
 public:
  bool HasStatus() const override { return false; }
  bool HasGeneration() const override { return false; }
  bool AllowCreateOnUpdate() const override { return true; }
  bool AllowUnconditionalUpdate() const override { return false; }

  void PrepareForCreate(const StrategyContext& /*context*/, Json& object) const override {
    DropCoordination(object, nullptr);
  }

  void PrepareForUpdate(const StrategyContext& /*context*/, Json& object, const Json& old) const override {
    DropCoordination(object, &old);
  }

  FieldErrors Validate(const StrategyContext& /*context*/, const Json& object) const override {
    FieldErrors errors = NewMetadata(object, true, NameRule());
    api::Append(errors, Spec(ObjectAt(object, "spec")));
    return errors;
  }

  FieldErrors ValidateUpdate(const StrategyContext& /*context*/, const Json& object,
                             const Json& old) const override {
    FieldErrors errors = ChangedMetadata(object, old);
    api::Append(errors, Spec(ObjectAt(object, "spec")));
    return errors;
  }
};

}  // namespace

const Strategy& LeaseStrategy() {
  static const Lease strategy;
  return strategy;
}

}  // namespace terrarium::apiserver

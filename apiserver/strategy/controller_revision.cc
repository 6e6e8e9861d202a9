#include "apiserver/strategies.h"
#include "apiserver/strategy/internal/checks.h"

namespace terrarium::apiserver {
namespace {

using namespace strategy;  // NOLINT: the helpers of this folder

FieldErrors Common(const Json& object, NameCheck rule) {
  FieldErrors errors = NewMetadata(object, true, rule);
  Nonnegative(errors, object, "revision", Path());
  return errors;
}

class ControllerRevision final : public Strategy {
 public:
  bool HasStatus() const override { return false; }
  bool HasGeneration() const override { return false; }

  FieldErrors Validate(const StrategyContext& /*context*/, const Json& object) const override {
    FieldErrors errors = Common(object, NameRule());
    const Json* data = Find(object, "data");
    if (data == nullptr) {
      errors.push_back(api::RequiredError(Path("data"), "data is mandatory"));
    } else if (!data->is_object()) {
      errors.push_back(api::RequiredError(Path("data"), "data must be a valid JSON object"));
    }
    return errors;
  }

  FieldErrors ValidateUpdate(const StrategyContext& /*context*/, const Json& object,
                             const Json& old) const override {
    FieldErrors errors = ChangedMetadata(object, old);
    api::Append(errors, Common(object, NameRule()));
    Immutable(errors, object, old, "data", Path());
    return errors;
  }
};

}  // namespace

const Strategy& ControllerRevisionStrategy() {
  static const ControllerRevision strategy;
  return strategy;
}

}  // namespace terrarium::apiserver

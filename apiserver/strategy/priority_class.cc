#include "apiserver/strategies.h"
#include "apiserver/strategy/internal/plain_kind.h"
#include "apiserver/strategy/internal/system_priority_classes.h"

namespace terrarium::apiserver {
namespace {

using namespace strategy;  // NOLINT: the helpers of this folder

constexpr std::int64_t kHighestUserDefinable = 1'000'000'000;
constexpr std::string_view kSystemPrefix = "system-";

// Kubernetes' words for a class with a reserved name that is not one of its own; empty for its own classes.
std::string SystemClassError(const Json& object) {
  const std::string name(StringAt(object, "metadata", "name"));
  const std::int64_t value = IntAt(object, 0, "value");
  for (const SystemPriorityClass& known : kSystemPriorityClasses) {
    if (known.name != name) continue;
    if (value != known.value)
      return "value of " + name + " PriorityClass must be " + std::to_string(known.value);
    if (BoolAt(object, "globalDefault"))
      return "globalDefault of " + name + " PriorityClass must be false";
    return "";
  }
  return name + " is not a known system priority class";
}

class PriorityClass final : public PlainKind {
 public:
  PriorityClass() : PlainKind({.generation = Generation::kFixed}) {}

 private:
  void Check(const Json& object, const Json* old, FieldErrors& errors) const override {
    if (old != nullptr) {
      if (IntAt(object, 0, "value") != IntAt(*old, 0, "value"))
        errors.push_back(api::ForbiddenError(Path("value"), "may not be changed in an update."));
      Immutable(errors, object, *old, "preemptionPolicy", Path());
      return;
    }
    if (StringAt(object, "metadata", "name").starts_with(kSystemPrefix)) {
      if (const std::string error = SystemClassError(object); !error.empty())
        errors.push_back(api::ForbiddenError(
            Path("metadata.name"),
            "priority class names with 'system-' prefix are reserved for system use only. error: " + error));
    } else if (IntAt(object, 0, "value") > kHighestUserDefinable) {
      errors.push_back(api::ForbiddenError(Path("value"),
                                           "maximum allowed value of a user defined priority is 1000000000"));
    }
    const std::string_view policy = StringAt(object, "preemptionPolicy");
    if (policy.empty())
      errors.push_back(api::RequiredError(Path("preemptionPolicy")));
    else
      OneOf(errors, Path("preemptionPolicy"), policy, {"PreemptLowerPriority", "Never"});
  }
};

}  // namespace

const Strategy& PriorityClassStrategy() {
  static const PriorityClass strategy;
  return strategy;
}

}  // namespace terrarium::apiserver

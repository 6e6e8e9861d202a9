#include "apiserver/strategies.h"
#include "apiserver/strategy/internal/checks.h"

namespace terrarium::apiserver {
namespace {

using namespace strategy;  // NOLINT: the helpers of this folder

// The rules that hold for the metadata of all kinds, and no others.
class Generic final : public Strategy {
 public:
  explicit Generic(bool has_status) : has_status_(has_status) {}

  bool HasStatus() const override { return has_status_; }

  FieldErrors Validate(const StrategyContext& /*context*/, const Json& object) const override {
    // The namespace is the request's own where the resource has namespaces, and absent elsewhere.
    return NewMetadata(object, !api::StringAt(object, "metadata", "namespace").empty(), NameRule());
  }

  FieldErrors ValidateUpdate(const StrategyContext& /*context*/, const Json& object,
                             const Json& old) const override {
    return ChangedMetadata(object, old);
  }

  FieldErrors ValidateStatusUpdate(const StrategyContext& /*context*/, const Json& object,
                                   const Json& old) const override {
    return ChangedMetadata(object, old);
  }

 private:
  bool has_status_;
};

}  // namespace

const Strategy& GenericStrategy(bool has_status) {
  static const Generic with_status(true);
  static const Generic without_status(false);
  return has_status ? with_status : without_status;
}

}  // namespace terrarium::apiserver

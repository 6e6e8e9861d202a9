#include "apiserver/strategies.h"
#include "apiserver/strategy/internal/plain_kind.h"

namespace terrarium::apiserver {
namespace {

using namespace strategy;  // NOLINT: the helpers of this folder

class CsiDriver final : public PlainKind {
 public:
  CsiDriver() : PlainKind({.generation = Generation::kSpec, .unconditional_update = false}) {}

  // Kubernetes counts changes of the spec, but does not begin at 1.
  void PrepareForCreate(const StrategyContext& /*context*/, Json& object) const override {
    object["metadata"].erase("generation");
  }
};

}  // namespace

const Strategy& CsiDriverStrategy() {
  static const CsiDriver strategy;
  return strategy;
}

}  // namespace terrarium::apiserver

#include "apiserver/strategy.h"

#include "api/json_access.h"
#include "apiserver/validation/metadata.h"

namespace terrarium::apiserver {

void Strategy::Default(Json& /*object*/) const {}

void Strategy::PrepareForCreate(const StrategyContext& /*context*/, Json& /*object*/) const {}

void Strategy::PrepareForUpdate(const StrategyContext& /*context*/, Json& /*object*/,
                                const Json& /*old*/) const {}

void Strategy::PrepareForStatusUpdate(const StrategyContext& /*context*/, Json& /*object*/,
                                      const Json& /*old*/) const {}

FieldErrors Strategy::ValidateStatusUpdate(const StrategyContext& /*context*/, const Json& /*object*/,
                                           const Json& /*old*/) const {
  return {};
}

std::vector<std::string> Strategy::Warnings(const StrategyContext& /*context*/, const Json& /*object*/,
                                            const Json* /*old*/) const {
  return {};
}

bool Strategy::BumpsGeneration(const Json& object, const Json& old) const {
  return api::ObjectAt(object, "spec") != api::ObjectAt(old, "spec");
}

NameCheck Strategy::NameRule() const { return NameIsDnsSubdomain; }

}  // namespace terrarium::apiserver

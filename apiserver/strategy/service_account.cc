#include "apiserver/strategies.h"
#include "apiserver/strategy/internal/checks.h"

namespace terrarium::apiserver {
namespace {

using namespace strategy;  // NOLINT: the helpers of this folder

constexpr const char* kEnforceMountable = "kubernetes.io/enforce-mountable-secrets";

// Secrets are referred to by name and nothing else.
void KeepSecretNamesOnly(Json& object) {
  if (ListAt(object, "secrets").empty()) return;
  for (Json& secret : object["secrets"]) {
    Json name = Json::object();
    if (const Json* value = Find(secret, "name")) name["name"] = *value;
    secret = std::move(name);
  }
}

class ServiceAccount final : public Strategy {
 public:
  bool HasStatus() const override { return false; }
  bool ReturnsDeletedObject() const override { return true; }
  bool HasGeneration() const override { return false; }

  void PrepareForCreate(const StrategyContext& /*context*/, Json& object) const override {
    KeepSecretNamesOnly(object);
  }

  void PrepareForUpdate(const StrategyContext& /*context*/, Json& object,
                        const Json& /*old*/) const override {
    KeepSecretNamesOnly(object);
  }

  FieldErrors Validate(const StrategyContext& /*context*/, const Json& object) const override {
    return NewMetadata(object, true, NameRule());
  }

  FieldErrors ValidateUpdate(const StrategyContext& /*context*/, const Json& object,
                             const Json& old) const override {
    FieldErrors errors = ChangedMetadata(object, old);
    api::Append(errors, NewMetadata(object, true, NameRule()));
    return errors;
  }

  std::vector<std::string> Warnings(const StrategyContext& /*context*/, const Json& object,
                                    const Json* old) const override {
    const auto enforces = [](const Json& account) {
      return ObjectAt(account, "metadata", "annotations").contains(kEnforceMountable);
    };
    if (!enforces(object) || (old != nullptr && enforces(*old))) return {};
    return {"metadata.annotations[" + std::string(kEnforceMountable) +
            "]: deprecated in v1.32+; prefer separate namespaces to isolate access to mounted secrets"};
  }
};

}  // namespace

const Strategy& ServiceAccountStrategy() {
  static const ServiceAccount strategy;
  return strategy;
}

}  // namespace terrarium::apiserver

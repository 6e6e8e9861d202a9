#include "apiserver/strategies.h"
#include "apiserver/strategy/internal/checks.h"
#include "apiserver/strategy/internal/data_size.h"

namespace terrarium::apiserver {
namespace {

using namespace strategy;  // NOLINT: the helpers of this folder

FieldErrors WholeMap(const Json& object, NameCheck rule) {
  FieldErrors errors = NewMetadata(object, true, rule);
  const Json& data = ObjectAt(object, "data");
  const Json& binary = ObjectAt(object, "binaryData");
  std::size_t size = 0;
  for (const auto& [key, value] : data.items()) {
    AddInvalid(IsConfigMapKey(key), key, Path("data").Key(key), errors);
    if (binary.contains(key)) {
      errors.push_back(
          api::InvalidError(Path("data").Key(key), key, "duplicate of key present in binaryData"));
    }
    size += value.get_ref<const std::string&>().size();
  }
  for (const auto& [key, value] : binary.items()) {
    AddInvalid(IsConfigMapKey(key), key, Path("binaryData").Key(key), errors);
    size += DecodedSize(value);
  }
  // The empty path means the whole object.
  if (size > kMaxDataBytes) errors.push_back(api::TooLongError(Path("[]"), static_cast<int>(kMaxDataBytes)));
  return errors;
}

class ConfigMap final : public Strategy {
 public:
  bool HasStatus() const override { return false; }
  bool HasGeneration() const override { return false; }

  FieldErrors Validate(const StrategyContext& /*context*/, const Json& object) const override {
    return WholeMap(object, NameRule());
  }

  FieldErrors ValidateUpdate(const StrategyContext& /*context*/, const Json& object,
                             const Json& old) const override {
    FieldErrors errors = ChangedMetadata(object, old);
    KeptWhenImmutable(errors, object, old, {"data", "binaryData"});
    api::Append(errors, WholeMap(object, NameRule()));
    return errors;
  }
};

}  // namespace

const Strategy& ConfigMapStrategy() {
  static const ConfigMap strategy;
  return strategy;
}

}  // namespace terrarium::apiserver

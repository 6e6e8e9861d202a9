#include "api/base/base64.h"
#include "api/codec/decode.h"
#include "apiserver/strategies.h"
#include "apiserver/strategy/internal/checks.h"
#include "apiserver/strategy/internal/data_size.h"

namespace terrarium::apiserver {
namespace {

using namespace strategy;  // NOLINT: the helpers of this folder

std::string Decoded(const Json& data, std::string_view key) {
  std::string bytes;
  // Decoding cannot fail: the codec has read the text as base64 already.
  return api::DecodeBase64(StringAt(data, key), &bytes) ? bytes : std::string();
}

void RequiredKey(FieldErrors& errors, const Json& data, std::string_view key) {
  if (!data.contains(key)) errors.push_back(api::RequiredError(Path("data").Key(key)));
}

void DockerConfig(FieldErrors& errors, const Json& data, std::string_view key) {
  if (!data.contains(key)) {
    errors.push_back(api::RequiredError(Path("data").Key(key)));
    return;
  }
  const std::string text = Decoded(data, key);
  const api::Decoded parsed = api::DecodeJson(text, {.strict = false});
  if (parsed.object.is_object() || (!parsed.error && parsed.object.is_null())) return;
  errors.push_back(
      api::InvalidError(Path("data").Key(key), "<secret contents redacted>",
                        text.empty() ? "unexpected end of JSON input" : "must be a JSON object"));
}

// What the well-known types must hold.
void TypedData(FieldErrors& errors, const Json& object) {
  const std::string_view type = StringAt(object, "type");
  const Json& data = ObjectAt(object, "data");
  if (type == "kubernetes.io/service-account-token") {
    constexpr const char* kAccount = "kubernetes.io/service-account.name";
    if (StringAt(object, "metadata", "annotations", kAccount).empty()) {
      errors.push_back(api::RequiredError(Path("metadata").Child("annotations").Key(kAccount)));
    }
  } else if (type == "kubernetes.io/dockercfg") {
    DockerConfig(errors, data, ".dockercfg");
  } else if (type == "kubernetes.io/dockerconfigjson") {
    DockerConfig(errors, data, ".dockerconfigjson");
  } else if (type == "kubernetes.io/basic-auth") {
    if (data.contains("username") || data.contains("password")) return;
    RequiredKey(errors, data, "username");
    RequiredKey(errors, data, "password");
  } else if (type == "kubernetes.io/ssh-auth") {
    if (StringAt(data, "ssh-privatekey").empty()) {
      errors.push_back(api::RequiredError(Path("data").Key("ssh-privatekey")));
    }
  } else if (type == "kubernetes.io/tls") {
    RequiredKey(errors, data, "tls.crt");
    RequiredKey(errors, data, "tls.key");
  }
}

FieldErrors WholeSecret(const Json& object, NameCheck rule) {
  FieldErrors errors = NewMetadata(object, true, rule);
  std::size_t size = 0;
  for (const auto& [key, value] : ObjectAt(object, "data").items()) {
    AddInvalid(IsConfigMapKey(key), key, Path("data").Key(key), errors);
    size += DecodedSize(value);
  }
  if (size > kMaxDataBytes)
    errors.push_back(api::TooLongError(Path("data"), static_cast<int>(kMaxDataBytes)));
  TypedData(errors, object);
  return errors;
}

std::string Type(const Json& object) { return std::string(StringAt(object, "type")); }

constexpr SelectableField kFields[] = {{"type", Type}};

class Secret final : public Strategy {
 public:
  bool HasStatus() const override { return false; }
  bool HasGeneration() const override { return false; }

  // stringData is for writing only: it overwrites data and is never stored.
  void Default(Json& object) const override {
    const Json texts = ObjectAt(object, "stringData");
    object.erase("stringData");
    if (texts.empty()) return;
    auto& data = ObjectField(object, "data").get_ref<Json::object_t&>();
    for (const auto& [key, value] : texts.get_ref<const Json::object_t&>())
      data.AppendUnsorted(key.text()) = api::EncodeBase64(value.get_ref<const std::string&>());
    data.SortMembers();
  }

  void PrepareForUpdate(const StrategyContext& /*context*/, Json& object, const Json& old) const override {
    if (StringAt(object, "type").empty()) object["type"] = StringAt(old, "type");
  }

  FieldErrors Validate(const StrategyContext& /*context*/, const Json& object) const override {
    return WholeSecret(object, NameRule());
  }

  FieldErrors ValidateUpdate(const StrategyContext& /*context*/, const Json& object,
                             const Json& old) const override {
    FieldErrors errors = ChangedMetadata(object, old);
    Immutable(errors, object, old, "type", Path());
    KeptWhenImmutable(errors, object, old, {"data"});
    api::Append(errors, WholeSecret(object, NameRule()));
    return errors;
  }

  std::vector<std::string> Warnings(const StrategyContext& /*context*/, const Json& object,
                                    const Json* /*old*/) const override {
    if (StringAt(object, "type") != "kubernetes.io/tls") return {};
    const Json& data = ObjectAt(object, "data");
    for (const auto& [key, what] : {std::pair{"tls.crt", "certificate"}, std::pair{"tls.key", "key"}}) {
      if (Decoded(data, key).find("-----BEGIN ") == std::string::npos) {
        return {"tls: failed to find any PEM data in " + std::string(what) + " input"};
      }
    }
    return {};
  }

  std::span<const SelectableField> SelectableFields() const override { return kFields; }
};

}  // namespace

const Strategy& SecretStrategy() {
  static const Secret strategy;
  return strategy;
}

}  // namespace terrarium::apiserver

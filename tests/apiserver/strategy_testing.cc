#include "tests/apiserver/strategy_testing.h"

#include <gtest/gtest.h>

#include "api/codec/normalize.h"
#include "api/schema/defaulting.h"
#include "api/schema/schema.h"

namespace terrarium::apiserver::testing {
namespace {

Texts ToTexts(const FieldErrors& errors) {
  Texts out;
  for (const api::FieldError& error : errors) out.push_back(error.field + ": " + error.message);
  return out;
}

}  // namespace

Kind::Kind(const Strategy& strategy, std::string_view message, bool namespaced)
    : strategy_(strategy), message_("io.k8s.api." + std::string(message)), namespaced_(namespaced) {}

Kind& Kind::Gates(std::string_view text) {
  auto changed = gates_.With(text);
  EXPECT_TRUE(changed.ok()) << text;
  if (changed.ok()) gates_ = *changed;
  return *this;
}

Json Kind::Defaulted(Json object) const {
  const api::Message& message = api::Schema::Get().Must(message_);
  const auto error = api::Normalize(message, object, nullptr);
  EXPECT_FALSE(error.has_value()) << *error;
  api::ApplyDefaults(message, object);
  strategy_.Default(object);
  return object;
}

Json Kind::New(std::string_view text) const {
  Json object = Defaulted(Json::parse(text));
  Json& metadata = object["metadata"];
  if (namespaced_) metadata["namespace"] = "ns";
  metadata["uid"] = "u-1";
  metadata["creationTimestamp"] = "2026-01-01T00:00:00Z";
  if (strategy_.HasGeneration()) metadata["generation"] = 1;
  strategy_.PrepareForCreate(Context(), object);
  return object;
}

Texts Kind::CreateErrors(std::string_view text) const {
  return ToTexts(strategy_.Validate(Context(), New(text)));
}

Json Kind::Changed(const Json& old, std::string_view patch) const {
  Json object = old;
  object.merge_patch(Json::parse(patch));
  object = Defaulted(std::move(object));
  strategy_.PrepareForUpdate(Context(), object, old);
  return object;
}

Texts Kind::UpdateErrors(const Json& old, std::string_view patch) const {
  Json before = old;
  before["metadata"]["resourceVersion"] = "7";
  return ToTexts(strategy_.ValidateUpdate(Context(), Changed(before, patch), before));
}

Texts Kind::StatusErrors(const Json& old, std::string_view patch) const {
  Json before = old;
  before["metadata"]["resourceVersion"] = "7";
  Json object = before;
  object.merge_patch(Json{{"status", Json::parse(patch)}});
  object = Defaulted(std::move(object));
  strategy_.PrepareForStatusUpdate(Context(), object, before);
  return ToTexts(strategy_.ValidateStatusUpdate(Context(), object, before));
}

Texts Kind::CreateWarnings(std::string_view text) const {
  return strategy_.Warnings(Context(), New(text), nullptr);
}

std::string WithSpec(std::initializer_list<std::string_view> parts) {
  std::string out = R"({"metadata":{"name":"n"},"spec":{)";
  const char* separator = "";
  for (std::string_view part : parts) {
    out.append(separator).append(part);
    separator = ",";
  }
  return out + "}}";
}

}  // namespace terrarium::apiserver::testing

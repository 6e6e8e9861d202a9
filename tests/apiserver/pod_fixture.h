#pragma once

// Pods for the tests of pod rules: a minimal valid pod, changed by a merge patch, and its validation errors.

#include <string>
#include <vector>

#include "api/base/feature_gates.h"
#include "api/codec/normalize.h"
#include "api/json.h"
#include "api/schema/defaulting.h"
#include "api/schema/schema.h"
#include "apiserver/strategies.h"

namespace terrarium::apiserver::testing {

using api::Json;

inline StrategyContext Context(const api::FeatureGates& gates) {
  return {gates, api::Time(std::chrono::hours(1))};
}

inline const api::FeatureGates& DefaultGates() {
  static const api::FeatureGates gates;
  return gates;
}

// A pod after decoding, schema defaults and the defaults of the strategy.
inline Json Decoded(Json pod) {
  const api::Message& message = api::Schema::Get().Must("io.k8s.api.core.v1.Pod");
  if (auto error = api::Normalize(message, pod, nullptr)) return Json{{"decode error", *error}};
  api::ApplyDefaults(message, pod);
  PodStrategy().Default(pod);
  return pod;
}

// One container "c" with image "nginx:1"; `patch` is merged into the whole pod.
inline Json MakePod(const Json& patch = Json::object()) {
  Json pod = {{"metadata", {{"name", "p"}, {"namespace", "ns"}}},
              {"spec", {{"containers", Json::array({Json{{"name", "c"}, {"image", "nginx:1"}}})}}}};
  pod.merge_patch(patch);
  return Decoded(std::move(pod));
}

inline Json PodWithSpec(const Json& spec_patch) { return MakePod({{"spec", spec_patch}}); }

// The only container, with these fields added to its name and image.
inline Json PodWithContainer(const Json& container_patch) {
  Json container = {{"name", "c"}, {"image", "nginx:1"}};
  container.merge_patch(container_patch);
  return PodWithSpec({{"containers", Json::array({container})}});
}

// A pod as the store has it.
inline Json StoredPod(const Json& patch = Json::object()) {
  Json pod = MakePod(patch);
  pod["metadata"]["resourceVersion"] = "1";
  pod["metadata"]["generation"] = 1;
  PodStrategy().PrepareForCreate(Context(DefaultGates()), pod);
  return pod;
}

// Field errors as a client sees them: "<field>: <message>".
inline std::vector<std::string> Texts(const FieldErrors& errors) {
  std::vector<std::string> out;
  for (const api::FieldError& error : errors) out.push_back(error.field + ": " + error.message);
  return out;
}

inline std::vector<std::string> CreateErrors(Json pod, const api::FeatureGates& gates = DefaultGates()) {
  PodStrategy().PrepareForCreate(Context(gates), pod);
  return Texts(PodStrategy().Validate(Context(gates), pod));
}

inline std::vector<std::string> UpdateErrors(Json pod, const Json& old,
                                             const api::FeatureGates& gates = DefaultGates()) {
  PodStrategy().PrepareForUpdate(Context(gates), pod, old);
  return Texts(PodStrategy().ValidateUpdate(Context(gates), pod, old));
}

struct PodCase {
  const char* name;
  Json pod;
  std::vector<std::string> errors;
};

}  // namespace terrarium::apiserver::testing

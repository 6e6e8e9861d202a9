#pragma once

// Takes objects through the steps that strategy.h lists, without a server around them.

#include <string>
#include <string_view>
#include <vector>

#include "api/base/feature_gates.h"
#include "api/json.h"
#include "apiserver/strategy.h"

namespace terrarium::apiserver::testing {

using Texts = std::vector<std::string>;

// One kind: its strategy, its schema and the gates it runs under.
class Kind {
 public:
  // `message` is the schema name without the common prefix, e.g. "apps.v1.Deployment".
  Kind(const Strategy& strategy, std::string_view message, bool namespaced = true);

  // Applies "A=true,B=false" on top of the defaults.
  Kind& Gates(std::string_view text);

  // The object as it would be stored: normalised, defaulted, with metadata (namespace "ns", uid "u-1"),
  // prepared.
  Json New(std::string_view text) const;
  // The validation errors of New(text), each as "<field>: <message>".
  Texts CreateErrors(std::string_view text) const;

  // `old` after a JSON merge patch, ready to be stored.
  Json Changed(const Json& old, std::string_view patch) const;
  Texts UpdateErrors(const Json& old, std::string_view patch) const;
  // The same for a patch of the status.
  Texts StatusErrors(const Json& old, std::string_view patch) const;

  Texts CreateWarnings(std::string_view text) const;
  StrategyContext Context() const { return {gates_, {}}; }

 private:
  Json Defaulted(Json object) const;

  const Strategy& strategy_;
  std::string message_;
  bool namespaced_;
  api::FeatureGates gates_;
};

// A pod template that is valid in every workload kind: labels app=x, one container.
inline constexpr std::string_view kTemplate =
    R"("template":{"metadata":{"labels":{"app":"x"}},"spec":{"containers":[{"name":"c","image":"nginx:1"}]}})";
inline constexpr std::string_view kJobTemplate =
    R"("template":{"metadata":{"labels":{"app":"x"}},"spec":{"containers":[{"name":"c","image":"nginx:1"}],"restartPolicy":"Never"}})";
// selector app=x with kTemplate.
inline constexpr std::string_view kSelected =
    R"("selector":{"matchLabels":{"app":"x"}},"template":{"metadata":{"labels":{"app":"x"}},"spec":{"containers":[{"name":"c","image":"nginx:1"}]}})";

// {"metadata":{"name":"n"},"spec":{<parts joined by commas>}}
std::string WithSpec(std::initializer_list<std::string_view> parts);

}  // namespace terrarium::apiserver::testing

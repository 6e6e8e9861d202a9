#include "apiserver/internal/applied_config.h"

#include <algorithm>
#include <string_view>
#include <utility>
#include <variant>

#include "api/apply/check_types.h"
#include "api/apply/last_applied.h"
#include "api/base/errors.h"
#include "api/codec/go_words.h"
#include "api/codec/yaml.h"
#include "api/json_access.h"
#include "apiserver/internal/field_owners.h"

namespace terrarium::apiserver {
namespace {

using api::Result;

std::string KindText(std::string_view api_version, std::string_view kind) {
  std::string text;
  if (api_version.find('/') == std::string_view::npos) text += '/';
  return text.append(api_version).append(", Kind=").append(kind);
}

// "default/web; apps/v1, Kind=Deployment"
std::string DescribeConfig(const Json& config) {
  return std::string(api::StringAt(config, "metadata", "namespace")) + "/" +
         std::string(api::StringAt(config, "metadata", "name")) + "; " +
         KindText(api::StringAt(config, "apiVersion"), api::StringAt(config, "kind"));
}

Result<AppliedConfig> ParseConfig(const std::string& text) {
  constexpr const char* kPrefix = "error decoding YAML: ";
  std::string error;
  auto parsed = api::ParseYaml(text, &error);
  if (!parsed) return api::BadRequest(kPrefix + ("error converting YAML to JSON: " + error));
  if (parsed->value.is_null()) parsed->value = Json::object();
  if (!parsed->value.is_object())
    return api::BadRequest(kPrefix +
                           ("error unmarshaling JSON: while decoding JSON: json: cannot unmarshal " +
                            api::GoKind(parsed->value)) +
                           " into Go value of type map[string]interface {}");
  return AppliedConfig{std::move(parsed->value), std::move(parsed->strict_errors)};
}

}  // namespace

Result<AppliedConfig> ReadAppliedConfig(const Call& call, const ExpectedKind& expected) {
  auto config = ParseConfig(call.request.body);
  if (!config) return config;
  Json& document = config->document;
  const std::string expected_kind = KindText(ApiVersionOf(expected.group, expected.version), expected.kind);
  const std::string kind = KindText(api::StringAt(document, "apiVersion"), api::StringAt(document, "kind"));
  if (kind != expected_kind) return api::BadRequest("invalid object type: " + kind);
  if (const Json* owners = api::Find(document, "metadata", "managedFields");
      owners != nullptr && owners->is_array())
    return api::BadRequest("metadata.managedFields must be nil");
  const api::ValueType type = api::ValueType::Of(expected.schema);
  if (std::string mistakes = api::CheckTypes(type, document); !mistakes.empty())
    return api::GenericServerError("failed to create typed patch object (" + DescribeConfig(document) +
                                   "): " + mistakes);
  api::CanonicalizeForms(type, document);
  return config;
}

Result<void> JudgeAppliedConfig(Call& call, const AppliedConfig& config, FieldValidation validation) {
  if (config.strict_errors.empty() || validation == FieldValidation::kIgnore) return {};
  std::string_view mistakes = config.strict_errors.front();
  if (validation == FieldValidation::kStrict)
    return api::BadRequest("error strict decoding YAML: error converting YAML to JSON: " +
                           std::string(mistakes));
  // A line for each key, each of them a warning.
  constexpr std::string_view kPrefix = "yaml: unmarshal errors:\n";
  if (mistakes.starts_with(kPrefix)) mistakes.remove_prefix(kPrefix.size());
  while (!mistakes.empty()) {
    std::string_view line = mistakes.substr(0, mistakes.find('\n'));
    mistakes.remove_prefix(std::min(mistakes.size(), line.size() + 1));
    line.remove_prefix(std::min(line.size(), line.find_first_not_of(' ')));
    call.warnings.emplace_back(line);
  }
  return {};
}

Result<ApplyResult> ApplyConfig(const Call& call, const AppliedConfig& config, const ApplyTarget& target,
                                const api::FieldManager& manager, bool force) {
  const api::ManagedFields owners = target.owners == nullptr ? api::ManagedFields() : *target.owners;
  const bool by_kubectl = manager.name.text() == api::kKubectl;
  api::ApplyRequest request{target.before, config.document, manager, force, call.server.env.clock.Now()};
  api::ApplyOutcome outcome = api::ApplyConfiguration(target.type, request, owners);
  if (auto* conflicts = std::get_if<api::FieldConflicts>(&outcome)) {
    api::FieldConflicts left = std::move(*conflicts);
    if (by_kubectl)
      left = api::WithoutLastApplied(target.type, target.before, manager.api_version.text(), std::move(left));
    if (!left.empty()) return api::ConflictStatus(left);
    request.force = true;
    outcome = api::ApplyConfiguration(target.type, request, owners);
  }
  if (const auto* failure = std::get_if<std::string>(&outcome)) return api::GenericServerError(*failure);
  auto& applied = std::get<api::Applied>(outcome);
  if (by_kubectl) {
    Json object = applied.object ? *applied.object : target.before;
    api::UpdateLastApplied(config.document, object);
    if (applied.object || object != target.before) applied.object = std::move(object);
  }
  return ApplyResult{std::move(applied.object), ShareOwners(std::move(applied.managed))};
}

}  // namespace terrarium::apiserver

#include "apiserver/openapi/internal/well_known.h"

#include "api/base/check.h"

namespace terrarium::apiserver::openapi {
namespace {

using api::Json;

Json Text(const char* description) { return {{"type", "string"}, {"description", description}}; }

Json TimeSchema(Dialect dialect, const char* description) {
  Json schema = Text(description);
  schema["format"] = "date-time";
  if (dialect == Dialect::kV3) schema["nullable"] = true;  // a time that is not set is written as null
  return schema;
}

Json OneOf(const char* a, const char* b, const char* description) {
  return {{"oneOf", Json::array({Json{{"type", a}}, Json{{"type", b}}})}, {"description", description}};
}

Json VersionInfo() {
  Json schema = {{"type", "object"}, {"description", "What this server is and how it was built."}};
  for (const char* name : {"buildDate", "compiler", "gitCommit", "gitTreeState", "gitVersion", "goVersion",
                           "major", "minor", "platform"}) {
    schema["properties"][name] = {{"type", "string"}};
    schema["required"].push_back(name);
  }
  for (const char* name :
       {"emulationMajor", "emulationMinor", "minCompatibilityMajor", "minCompatibilityMinor"})
    schema["properties"][name] = {{"type", "string"}};
  return schema;
}

}  // namespace

Json WellKnownSchema(std::string_view name, Dialect dialect) {
  const bool v3 = dialect == Dialect::kV3;
  if (name == kQuantity) {
    const char* text = "An amount as a decimal number with an optional suffix: 100m, 1.5, 2Gi, 3e6.";
    return v3 ? OneOf("string", "number", text) : Text(text);
  }
  if (name == kIntOrString) {
    const char* text = "A number, or a string such as a percentage or the name of a port.";
    Json schema = v3 ? OneOf("integer", "string", text) : Text(text);
    schema["format"] = "int-or-string";
    return schema;
  }
  if (name == kTime) return TimeSchema(dialect, "A moment, to the second, as RFC 3339 writes it.");
  if (name == kMicroTime) return TimeSchema(dialect, "A moment, to the microsecond, as RFC 3339 writes it.");
  if (name == kDuration) return Text("A length of time such as 1h30m or 90s.");
  if (name == kRawExtension) return {{"type", "object"}, {"description", "An object of any kind."}};
  if (name == kFieldsV1)
    return {{"type", "object"}, {"description", "A set of fields in a trie of their names."}};
  if (name == kPatch) return {{"type", "object"}, {"description", "The fields to change."}};
  CHECK(name == kVersionInfo);
  return VersionInfo();
}

Json JsonPatchSchema() {
  Json operation = {{"type", "object"}, {"required", {"op", "path"}}};
  operation["properties"] = {
      {"op", {{"type", "string"}, {"enum", {"add", "remove", "replace", "move", "copy", "test"}}}},
      {"path", {{"type", "string"}}},
      {"from", {{"type", "string"}}},
      {"value", Json::object()},
  };
  return {{"type", "array"}, {"items", std::move(operation)}};
}

}  // namespace terrarium::apiserver::openapi

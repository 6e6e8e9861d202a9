#include "api/storage_v1/volume_script.h"

#include <charconv>

#include "api/base/duration.h"
#include "api/json_access.h"

namespace terrarium::api {
namespace {

constexpr std::string_view kPrefix = "terrarium.dev/";
constexpr int kFailuresMax = 1000;

struct OperationName {
  std::string_view prefix;
  VolumeOperation VolumeScript::*operation;
};
constexpr OperationName kOperations[] = {{"provision", &VolumeScript::provisioning},
                                         {"delete", &VolumeScript::deletion},
                                         {"resize", &VolumeScript::resizing}};

// Sets a member of an operation. Returns why the value is invalid, or "".
std::string SetOperation(std::string_view key, const std::string& value, VolumeOperation& operation) {
  if (key == "error") {
    operation.error = value;
    return value.empty() ? "must not be empty" : "";
  }
  if (key == "delay") {
    const ParsedDuration delay = ParseDuration(value);
    if (!delay) return delay.error;
    if (delay.value < Duration::zero()) return "must not be negative";
    operation.delay = delay.value;
    return "";
  }
  int failures = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), failures);
  if (error != std::errc() || end != value.data() + value.size() || failures < 1 || failures > kFailuresMax)
    return "must be a number from 1 to " + std::to_string(kFailuresMax);
  operation.failures = failures;
  return "";
}

std::string Set(std::string_view key, const std::string& value, VolumeScript& script) {
  if (key == "topology") {
    script.topology = value;
    return value.empty() ? "must be the name of a label of nodes" : "";
  }
  if (key == "provision") {
    script.provision = value != "false";
    return value == "true" || value == "false" ? "" : "must be \"true\" or \"false\"";
  }
  for (const OperationName& name : kOperations) {
    for (std::string_view member : {"delay", "error", "failures"})
      if (key == std::string(name.prefix) + "-" + std::string(member))
        return SetOperation(member, value, script.*(name.operation));
  }
  return "unknown parameter";
}

// Sets what is valid, and returns what is not.
std::vector<ParameterError> Read(const Json& parameters, VolumeScript& script) {
  std::vector<ParameterError> errors;
  for (const auto& [name, value] : parameters.items()) {
    const std::string_view key = name;
    if (!key.starts_with(kPrefix)) continue;
    const std::string& text = value.get_ref<const std::string&>();
    VolumeScript changed = script;
    if (std::string why = Set(key.substr(kPrefix.size()), text, changed); why.empty())
      script = std::move(changed);
    else
      errors.push_back({std::string(key), text, std::move(why)});
  }
  return errors;
}

}  // namespace

VolumeScript ReadVolumeScript(const Json& storage_class) {
  VolumeScript script;
  Read(ObjectAt(storage_class, "parameters"), script);
  return script;
}

std::vector<ParameterError> CheckVolumeScript(const Json& parameters) {
  VolumeScript script;
  return Read(parameters, script);
}

}  // namespace terrarium::api

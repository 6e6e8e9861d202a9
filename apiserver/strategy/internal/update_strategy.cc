#include "apiserver/strategy/internal/update_strategy.h"

#include "api/json_access.h"

namespace terrarium::apiserver::strategy {

std::string UpdateStrategyText(const Json& strategy, std::initializer_list<std::string_view> rolling_fields) {
  std::string text = "{\"Type\":" + api::Quote(api::StringAt(strategy, "type")) + ",\"RollingUpdate\":";
  const Json* rolling = api::Find(strategy, "rollingUpdate");
  if (rolling == nullptr) return text + "null}";
  const char* separator = "{";
  for (std::string_view name : rolling_fields) {
    std::string go_name(name);
    go_name[0] = static_cast<char>(go_name[0] - 'a' + 'A');
    const Json* value = api::Find(*rolling, name);
    text.append(separator)
        .append(api::Quote(go_name))
        .append(":")
        .append(value == nullptr ? "0" : value->dump());
    separator = ",";
  }
  return text + "}}";
}

api::FieldError UnknownUpdateStrategy(const api::Path& path, const Json& strategy,
                                      std::initializer_list<std::string_view> rolling_fields,
                                      std::initializer_list<std::string_view> supported) {
  std::string message = "Unsupported value: " + UpdateStrategyText(strategy, rolling_fields);
  const char* separator = ": supported values: ";
  for (std::string_view value : supported) {
    message.append(separator).append(api::Quote(value));
    separator = ", ";
  }
  return {api::FieldErrorType::kNotSupported, path.String(), std::move(message)};
}

api::FieldError InvalidText(const api::Path& path, std::string_view value_text, std::string_view detail) {
  return {api::FieldErrorType::kInvalid, path.String(),
          "Invalid value: " + std::string(value_text) + ": " + std::string(detail)};
}

}  // namespace terrarium::apiserver::strategy

#include "controllers/runtime/go_text.h"

#include "api/json_access.h"

namespace terrarium::controllers {

using api::Json;

std::string GoText(const Json* selector) {
  if (selector == nullptr) return "nil";
  std::string out = "&LabelSelector{MatchLabels:map[string]string{";
  for (const auto& [key, value] : api::ObjectAt(*selector, "matchLabels").items())
    out += key + ": " + value.get<std::string>() + ",";
  out += "},MatchExpressions:[]LabelSelectorRequirement{";
  for (const Json& expression : api::ListAt(*selector, "matchExpressions")) {
    out.append("LabelSelectorRequirement{Key:").append(api::StringAt(expression, "key"));
    out.append(",Operator:").append(api::StringAt(expression, "operator")).append(",Values:[");
    std::string values;
    for (const Json& value : api::ListAt(expression, "values"))
      values += (values.empty() ? "" : " ") + value.get<std::string>();
    out += values + "],},";
  }
  return out + "},}";
}

}  // namespace terrarium::controllers

#include "apiserver/strategy/internal/int_or_percent.h"

#include <string>
#include <string_view>

#include "apiserver/strategy/internal/checks.h"
#include "apiserver/validation/formats.h"

namespace terrarium::apiserver::strategy {

void PositiveIntOrPercent(FieldErrors& errors, const Json* value, const Path& path) {
  if (value != nullptr) api::Append(errors, ValidatePositiveIntOrPercent(*value, path));
}

void AtMostAllPercent(FieldErrors& errors, const Json* value, const Path& path) {
  if (value != nullptr) api::Append(errors, IsNotMoreThan100Percent(*value, path));
}

std::int64_t IntOrPercentValue(const Json* value) {
  if (value == nullptr) return 0;
  if (!value->is_string()) return value->get<std::int64_t>();
  std::string_view text = value->get_ref<const std::string&>();
  if (IsValidPercent(text).empty()) text.remove_suffix(1);
  return ParseInt(text).value_or(0);
}

}  // namespace terrarium::apiserver::strategy

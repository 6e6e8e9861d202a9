#pragma once

#include <string>
#include <string_view>

#include "api/json.h"

namespace terrarium::apiserver {

// The text of a list element or map value; "" when it is not a string. Lives as long as the document.
inline std::string_view TextOf(const api::Json& value) {
  return value.is_string() ? std::string_view(value.get_ref<const std::string&>()) : std::string_view{};
}

// Converts ASCII letters to lower case.
inline std::string AsciiLower(std::string_view text) {
  std::string out(text);
  for (char& c : out) {
    if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
  }
  return out;
}

}  // namespace terrarium::apiserver

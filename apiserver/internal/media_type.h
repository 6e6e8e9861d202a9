#pragma once

#include <string_view>

namespace terrarium::apiserver {

// "application/json" of "Application/JSON; charset=utf-8" is left as written but for parameters and blanks.
inline std::string_view MediaTypeOf(std::string_view header) {
  header = header.substr(0, header.find(';'));
  while (!header.empty() && header.back() == ' ') header.remove_suffix(1);
  while (!header.empty() && header.front() == ' ') header.remove_prefix(1);
  return header;
}

}  // namespace terrarium::apiserver

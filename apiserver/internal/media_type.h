#pragma once

#include <string_view>

namespace terrarium::apiserver {

// A patch that is an applied configuration; JSON is YAML, too.
inline constexpr std::string_view kApplyPatch = "application/apply-patch+yaml";

// The media type of a header without parameters and blanks; its case is kept.
inline std::string_view MediaTypeOf(std::string_view header) {
  header = header.substr(0, header.find(';'));
  while (!header.empty() && header.back() == ' ') header.remove_suffix(1);
  while (!header.empty() && header.front() == ' ') header.remove_prefix(1);
  return header;
}

}  // namespace terrarium::apiserver

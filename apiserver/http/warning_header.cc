#include "apiserver/http/warning_header.h"

#include <cstdint>
#include <optional>
#include <string_view>
#include <utility>

namespace terrarium::apiserver {
namespace {

// The number of bytes of the UTF-8 character that `text` begins with and its code point; 0 bytes: malformed.
std::size_t Character(std::string_view text, std::uint32_t* point) {
  auto byte = [&text](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  unsigned char first = byte(0);
  std::size_t size = first < 0x80                    ? 1
                     : first >= 0xc2 && first < 0xe0 ? 2
                     : (first & 0xf0) == 0xe0        ? 3
                     : first >= 0xf0 && first < 0xf5 ? 4
                                                     : 0;
  if (size == 0 || size > text.size()) return 0;
  *point = size == 1 ? first : first & (0x7fU >> size);
  for (std::size_t i = 1; i < size; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
    *point = (*point << 6) | (byte(i) & 0x3fU);
  }
  bool overlong = (size == 3 && *point < 0x800) || (size == 4 && *point < 0x10000);
  bool surrogate = *point >= 0xd800 && *point < 0xe000;
  return overlong || surrogate || *point > 0x10ffff ? 0 : size;
}

// nullopt: the text cannot be in a header.
std::optional<std::string> MakeHeader(std::string_view text) {
  std::string out = "299 - \"";
  while (!text.empty()) {
    std::uint32_t point = 0;
    std::size_t size = Character(text, &point);
    if (size == 0 || point < 0x20 || (point >= 0x7f && point < 0xa0)) return std::nullopt;
    if (point == '"' || point == '\\') out += '\\';
    out += text.substr(0, size);
    text.remove_prefix(size);
  }
  return out += '"';
}

}  // namespace

std::vector<std::string> WarningHeaders(const std::vector<std::string>& texts) {
  std::vector<std::string> out;
  for (const std::string& text : texts)
    if (auto header = MakeHeader(text)) out.push_back(std::move(*header));
  return out;
}

}  // namespace terrarium::apiserver

#include "api/codec/internal/utf8.h"

#include <cstdint>

namespace terrarium::api {
namespace {

// Length of the valid sequence at the start of `text`, or 0.
std::size_t SequenceLength(std::string_view text) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned first = at(0);
  if (first < 0x80) return 1;
  if (first < 0xc2 || first > 0xf4) return 0;
  const std::size_t n = first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
  if (text.size() < n) return 0;
  std::uint32_t point = first & (0xffU >> (n + 1));
  for (std::size_t i = 1; i < n; ++i) {
    if ((at(i) & 0xc0) != 0x80) return 0;
    point = point << 6 | (at(i) & 0x3f);
  }
  constexpr std::uint32_t kLowest[] = {0, 0, 0x80, 0x800, 0x10000};
  if (point < kLowest[n] || point > 0x10ffff || (point >= 0xd800 && point < 0xe000)) return 0;
  return n;
}

}  // namespace

std::string ValidUtf8(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const std::size_t n = SequenceLength(text);
    if (n == 0) {
      out.append("\xef\xbf\xbd");
      text.remove_prefix(1);
      continue;
    }
    out.append(text.substr(0, n));
    text.remove_prefix(n);
  }
  return out;
}

}  // namespace terrarium::api

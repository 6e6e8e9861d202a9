#include "apiserver/internal/printable.h"

#include <algorithm>
#include <iterator>

namespace terrarium::apiserver {
namespace {

constexpr Character kInvalid = {0xFFFD, 1};

struct Range {
  char32_t first, last;
};

// Controls, separators other than the space of ASCII, format characters, surrogates and private use.
constexpr Range kUnprintable[] = {
    {0x0000, 0x001F},   {0x007F, 0x00A0},   {0x00AD, 0x00AD},   {0x0600, 0x0605},   {0x061C, 0x061C},
    {0x06DD, 0x06DD},   {0x070F, 0x070F},   {0x0890, 0x0891},   {0x08E2, 0x08E2},   {0x1680, 0x1680},
    {0x180E, 0x180E},   {0x2000, 0x200F},   {0x2028, 0x202F},   {0x205F, 0x206F},   {0x3000, 0x3000},
    {0xD800, 0xF8FF},   {0xFEFF, 0xFEFF},   {0xFFF0, 0xFFFB},   {0xFFFE, 0xFFFF},   {0x110BD, 0x110BD},
    {0x110CD, 0x110CD}, {0x13430, 0x1343F}, {0x1BCA0, 0x1BCA3}, {0x1D173, 0x1D17A}, {0xE0001, 0xE007F},
    {0xF0000, 0x10FFFF}};

bool IsContinuation(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) == 0x80; }

}  // namespace

Character FirstCharacter(std::string_view text) {
  const auto lead = static_cast<unsigned char>(text[0]);
  if (lead < 0x80) return {lead, 1};
  std::size_t bytes = 0;
  char32_t code = 0;
  if (lead >= 0xC2 && lead <= 0xDF) {
    bytes = 2;
    code = lead & 0x1F;
  } else if (lead >= 0xE0 && lead <= 0xEF) {
    bytes = 3;
    code = lead & 0x0F;
  } else if (lead >= 0xF0 && lead <= 0xF4) {
    bytes = 4;
    code = lead & 0x07;
  }
  if (bytes == 0 || text.size() < bytes) return kInvalid;
  for (std::size_t i = 1; i < bytes; ++i) {
    if (!IsContinuation(text[i])) return kInvalid;
    code = (code << 6) | (static_cast<unsigned char>(text[i]) & 0x3F);
  }
  constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};  // of a character of so many bytes
  if (code < kLeast[bytes] || code > 0x10FFFF || (code >= 0xD800 && code <= 0xDFFF)) return kInvalid;
  return {code, bytes};
}

bool IsPrintable(char32_t code) {
  const auto* range = std::lower_bound(std::begin(kUnprintable), std::end(kUnprintable), code,
                                       [](const Range& r, char32_t c) { return r.last < c; });
  return range == std::end(kUnprintable) || code < range->first;
}

}  // namespace terrarium::apiserver

#include "api/base/base64.h"

#include <array>
#include <cstdint>

namespace terrarium::api {
namespace {

constexpr std::string_view kAlphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

constexpr std::array<std::int8_t, 256> MakeReverse() {
  std::array<std::int8_t, 256> reverse{};
  for (auto& entry : reverse) entry = -1;
  for (std::size_t i = 0; i < kAlphabet.size(); ++i) {
    reverse[static_cast<unsigned char>(kAlphabet[i])] = static_cast<std::int8_t>(i);
  }
  return reverse;
}
constexpr std::array<std::int8_t, 256> kReverse = MakeReverse();

// The padding that begins at `at` (the first '=') must end the text. Returns the offset of the mistake, or
// npos.
std::size_t CheckPadding(std::string_view text, std::size_t at, std::size_t digits) {
  if (digits < 2) return at;
  std::size_t i = text.find_first_not_of("\r\n", at + 1);
  if (digits == 2) {
    if (i == std::string_view::npos) return text.size();
    if (text[i] != '=') return i - 1;
    i = text.find_first_not_of("\r\n", i + 1);
  }
  return i;
}

}  // namespace

std::string EncodeBase64(std::string_view bytes) {
  std::string out;
  out.reserve((bytes.size() + 2) / 3 * 4);
  for (std::size_t i = 0; i < bytes.size(); i += 3) {
    const std::size_t n = bytes.size() - i < 3 ? bytes.size() - i : 3;
    std::uint32_t group = 0;
    for (std::size_t k = 0; k < 3; ++k) {
      group = group << 8 | (k < n ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    }
    for (std::size_t k = 0; k < 4; ++k) {
      out.push_back(k <= n ? kAlphabet[group >> (18 - 6 * k) & 63] : '=');
    }
  }
  return out;
}

bool DecodeBase64(std::string_view text, std::string* bytes, std::size_t* bad) {
  bytes->clear();
  bytes->reserve(text.size() / 4 * 3);
  std::uint32_t group = 0;
  std::size_t digits = 0;
  const auto fail = [bad](std::size_t at) {
    if (bad != nullptr) *bad = at;
    return false;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == '\r' || c == '\n') continue;
    if (c == '=') {
      const std::size_t wrong = CheckPadding(text, i, digits);
      if (wrong != std::string_view::npos) return fail(wrong);
      group <<= 6 * (4 - digits);
      for (std::size_t k = 0; k + 1 < digits; ++k)
        bytes->push_back(static_cast<char>(group >> (16 - 8 * k) & 255));
      return true;
    }
    const int value = kReverse[static_cast<unsigned char>(c)];
    if (value < 0) return fail(i);
    group = group << 6 | static_cast<std::uint32_t>(value);
    if (++digits < 4) continue;
    for (int shift : {16, 8, 0}) bytes->push_back(static_cast<char>(group >> shift & 255));
    group = 0;
    digits = 0;
  }
  return digits == 0 || fail(text.size() - digits);
}

}  // namespace terrarium::api

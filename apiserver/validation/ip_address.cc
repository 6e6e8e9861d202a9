// IP addresses as Kubernetes reads them: Go's lenient parser (leading zeros allowed) decides whether a text
// is an address at all, the strict one whether it is written properly.

#include <array>
#include <cstdio>

#include "apiserver/validation/formats.h"

namespace terrarium::apiserver {
namespace {

using api::FieldErrors;
using api::Path;

struct Address {
  int family = 0;                        // 4 or 6; an IPv4-mapped IPv6 address is 6
  std::array<std::uint8_t, 16> bytes{};  // IPv4 in the last four
  bool leading_zeros = false;

  bool MappedIpv4() const {
    if (family != 6) return false;
    for (int i = 0; i < 10; ++i) {
      if (bytes[i] != 0) return false;
    }
    return bytes[10] == 0xff && bytes[11] == 0xff;
  }
};

bool ParseIpv4(std::string_view text, Address& out) {
  for (int part = 0; part < 4; ++part) {
    int value = 0;
    std::size_t digits = 0;
    while (digits < text.size() && text[digits] >= '0' && text[digits] <= '9') {
      value = value * 10 + (text[digits++] - '0');
      if (value > 255) return false;
    }
    if (digits == 0) return false;
    if (digits > 1 && text[0] == '0') out.leading_zeros = true;
    out.bytes[12 + part] = static_cast<std::uint8_t>(value);
    text.remove_prefix(digits);
    if (part == 3) return text.empty();
    if (text.empty() || text[0] != '.') return false;
    text.remove_prefix(1);
  }
  return false;
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// Fills `out.bytes`; `ellipsis` is where "::" stood.
bool ParseIpv6(std::string_view text, Address& out) {
  std::array<std::uint8_t, 16> bytes{};
  std::size_t filled = 0;
  std::size_t ellipsis = 17;
  if (text.starts_with("::")) {
    ellipsis = 0;
    text.remove_prefix(2);
    if (text.empty()) return true;
  }
  while (filled < 16) {
    unsigned value = 0;
    std::size_t digits = 0;
    while (digits < text.size() && HexDigit(text[digits]) >= 0) {
      value = value * 16 + static_cast<unsigned>(HexDigit(text[digits++]));
      if (value > 0xffff) return false;
    }
    if (digits == 0) return false;
    if (digits < text.size() && text[digits] == '.') {  // the last four bytes as IPv4
      if ((ellipsis > 16 && filled != 12) || filled + 4 > 16) return false;
      Address v4;
      if (!ParseIpv4(text, v4)) return false;
      out.leading_zeros = out.leading_zeros || v4.leading_zeros;
      for (int i = 0; i < 4; ++i) bytes[filled++] = v4.bytes[12 + i];
      text = {};
      break;
    }
    bytes[filled++] = static_cast<std::uint8_t>(value >> 8);
    bytes[filled++] = static_cast<std::uint8_t>(value & 0xff);
    text.remove_prefix(digits);
    if (text.empty()) break;
    if (text[0] != ':' || text.size() == 1) return false;
    text.remove_prefix(1);
    if (text[0] == ':') {
      if (ellipsis <= 16) return false;
      ellipsis = filled;
      text.remove_prefix(1);
      if (text.empty()) break;
    }
  }
  if (!text.empty()) return false;
  if (filled < 16) {
    if (ellipsis > 16) return false;
    const std::size_t gap = 16 - filled;
    for (std::size_t i = filled; i > ellipsis; --i) bytes[i - 1 + gap] = bytes[i - 1];
    for (std::size_t i = ellipsis; i < ellipsis + gap; ++i) bytes[i] = 0;
  } else if (ellipsis <= 16) {
    return false;
  }
  out.bytes = bytes;
  return true;
}

std::optional<Address> Parse(std::string_view text) {
  Address out;
  if (text.find(':') == std::string_view::npos) {
    out.family = 4;
    if (ParseIpv4(text, out)) return out;
    return std::nullopt;
  }
  out.family = 6;
  if (ParseIpv6(text, out)) return out;
  return std::nullopt;
}

// RFC 5952: lower case, no leading zeros, the longest run of two or more zero groups as "::".
std::string CanonicalIpv6(const Address& address) {
  std::array<unsigned, 8> groups{};
  for (std::size_t i = 0; i < 8; ++i) groups[i] = address.bytes[2 * i] * 256u + address.bytes[2 * i + 1];
  std::size_t best = 8;
  std::size_t best_length = 1;
  for (std::size_t i = 0; i < 8; ++i) {
    std::size_t end = i;
    while (end < 8 && groups[end] == 0) ++end;
    if (end - i > best_length) {
      best = i;
      best_length = end - i;
    }
  }
  std::string out;
  for (std::size_t i = 0; i < 8; ++i) {
    if (i == best) {
      out += "::";
      i += best_length - 1;
      continue;
    }
    if (!out.empty() && out.back() != ':') out += ':';
    char text[8];
    std::snprintf(text, sizeof text, "%x", groups[i]);
    out += text;
  }
  return out;
}

}  // namespace

FieldErrors IsValidIp(std::string_view text, const Path& path) {
  const std::optional<Address> address = Parse(text);
  if (!address) {
    return {api::InvalidError(path, text, "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)")};
  }
  if (address->leading_zeros) return {api::InvalidError(path, text, "must not have leading 0s")};
  if (address->MappedIpv4())
    return {api::InvalidError(path, text, "must not be an IPv4-mapped IPv6 address")};
  return {};
}

std::vector<std::string> IpWarnings(std::string_view text, const Path& path) {
  const std::optional<Address> address = Parse(text);
  if (!address || address->family != 6 || address->MappedIpv4()) return {};
  const std::string canonical = CanonicalIpv6(*address);
  if (canonical == text) return {};
  return {path.String() + ": IPv6 address " + api::Quote(text) + " should be in RFC 5952 canonical format (" +
          api::Quote(canonical) + ")"};
}

std::optional<int> IpFamily(std::string_view text) {
  const std::optional<Address> address = Parse(text);
  if (!address) return std::nullopt;
  return address->MappedIpv4() ? 4 : address->family;
}

}  // namespace terrarium::apiserver

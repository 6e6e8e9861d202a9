#include "apiserver/strategy/internal/ip.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include <arpa/inet.h>

#include "apiserver/strategy/internal/checks.h"
#include "apiserver/validation/formats.h"

namespace terrarium::apiserver::strategy {
namespace {

struct Ip {
  bool v6 = false;
  std::array<std::uint8_t, 16> bytes{};  // the first 4 for IPv4
};

// nullopt when the text is not an address in its usual form (no leading zeros, no zone).
std::optional<Ip> ParseIp(std::string_view text) {
  const std::string copy(text);
  Ip ip;
  ip.v6 = copy.find(':') != std::string::npos;
  if (inet_pton(ip.v6 ? AF_INET6 : AF_INET, copy.c_str(), ip.bytes.data()) != 1) return std::nullopt;
  return ip;
}

bool BitOf(const Ip& ip, int bit) {
  return ((ip.bytes[static_cast<std::size_t>(bit / 8)] >> (7 - bit % 8)) & 1) != 0;
}

bool HasBitsBeyond(const Ip& ip, int prefix) {
  const int size = ip.v6 ? 16 : 4;
  for (int bit = prefix; bit < size * 8; ++bit) {
    if (BitOf(ip, bit)) return true;
  }
  return false;
}

struct Cidr {
  Ip ip;
  int prefix = 0;
};

std::optional<Cidr> ParseCidr(std::string_view text) {
  const std::size_t slash = text.find('/');
  if (slash == std::string_view::npos) return std::nullopt;
  const auto ip = ParseIp(text.substr(0, slash));
  const auto prefix = ParseInt(text.substr(slash + 1));
  if (!ip || !prefix || *prefix < 0 || *prefix > (ip->v6 ? 128 : 32)) return std::nullopt;
  return Cidr{*ip, static_cast<int>(*prefix)};
}

}  // namespace

Texts TextsOf(const Json& list) {
  Texts out;
  for (const Json& item : list)
    if (item.is_string()) out.insert(item.get_ref<const std::string&>());
  return out;
}

void ValidIp(FieldErrors& errors, std::string_view text, const Texts& old_values, const Path& path) {
  if (!old_values.contains(text)) api::Append(errors, IsValidIp(text, path));
}

void ValidCidr(FieldErrors& errors, std::string_view text, const Texts& old_values, const Path& path) {
  if (old_values.contains(text)) return;
  const std::size_t slash = text.find('/');
  const std::string_view address = text.substr(0, slash);
  const std::string_view bits = slash == std::string_view::npos ? std::string_view() : text.substr(slash + 1);
  const auto family = IpFamily(address);
  const auto prefix = bits.starts_with('+') || bits.starts_with('-') ? std::nullopt : ParseInt(bits);
  if (!family || !prefix || *prefix > (*family == 6 ? 128 : 32)) {
    errors.push_back(
        api::InvalidError(path, text, "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)"));
    return;
  }
  const auto ip = ParseIp(address);
  if (!ip || (bits.size() > 1 && bits.starts_with('0'))) {
    errors.push_back(api::InvalidError(path, text, "must not have leading 0s in IP or prefix length"));
  } else if (!IsValidIp(address, path).empty()) {
    errors.push_back(api::InvalidError(path, text, "must not have an IPv4-mapped IPv6 address"));
  } else if (HasBitsBeyond(*ip, static_cast<int>(*prefix))) {
    errors.push_back(api::InvalidError(path, text, "must not have bits set beyond the prefix length"));
  }
}

std::optional<bool> IsStrictSubset(std::string_view inner, std::string_view outer) {
  const auto part = ParseCidr(inner), whole = ParseCidr(outer);
  if (!part || !whole) return std::nullopt;
  if (part->ip.v6 != whole->ip.v6 || part->prefix <= whole->prefix) return false;
  for (int bit = 0; bit < whole->prefix; ++bit)
    if (BitOf(part->ip, bit) != BitOf(whole->ip, bit)) return false;
  return true;
}

void OrdinaryIp(FieldErrors& errors, std::string_view text, const Path& path) {
  const auto ip = ParseIp(text);
  if (!ip) return;
  const auto& b = ip->bytes;
  const std::size_t size = ip->v6 ? 16 : 4;
  const bool zero_but_last =
      std::all_of(b.begin(), b.begin() + size - 1, [](std::uint8_t x) { return x == 0; });
  if (zero_but_last && b[size - 1] == 0) {
    errors.push_back(api::InvalidError(path, text, "may not be unspecified (" + std::string(text) + ")"));
  }
  if (ip->v6 ? zero_but_last && b[15] == 1 : b[0] == 127) {
    errors.push_back(
        api::InvalidError(path, text, "may not be in the loopback range (127.0.0.0/8, ::1/128)"));
  }
  if (ip->v6 ? b[0] == 0xfe && (b[1] & 0xc0) == 0x80 : b[0] == 169 && b[1] == 254) {
    errors.push_back(
        api::InvalidError(path, text, "may not be in the link-local range (169.254.0.0/16, fe80::/10)"));
  }
  if (ip->v6 ? b[0] == 0xff && (b[1] & 0x0f) == 0x02 : b[0] == 224 && b[1] == 0 && b[2] == 0) {
    errors.push_back(api::InvalidError(
        path, text, "may not be in the link-local multicast range (224.0.0.0/24, ff02::/10)"));
  }
}

}  // namespace terrarium::apiserver::strategy

#pragma once

// The hosts that the control plane may call on its users' behalf. Without it, an object could make the server
// call hosts that the user cannot reach (SSRF).

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/status.h"

namespace terrarium::testbed {

// The form for comparisons: in lower case, without brackets of an address and the trailing dot of a name.
std::string NormalHost(std::string_view host);

class HostAllowList {
 public:
  // Loopback, and the Services whose addresses have been registered.
  static constexpr std::string_view kDefault = "localhost,127.0.0.0/8,::1,*.svc,*.svc.cluster.local";

  // Items separated by commas: a name, *.SUFFIX for every name below, an IP address or a network
  // (10.0.0.0/8), each with :PORT or for all ports; * for every host. An IPv6 address with a port is in
  // brackets. An empty text allows nothing.
  static api::Result<HostAllowList> Parse(std::string_view text);
  static HostAllowList Default();

  // Without a port only items without one count.
  bool Allows(std::string_view host, std::optional<std::uint16_t> port) const;

 private:
  using Address = std::array<unsigned char, 16>;  // IPv4 as IPv4-mapped IPv6
  struct Item {
    enum class Kind { kEverything, kName, kSuffix, kNetwork } kind = Kind::kName;
    std::string name;  // a suffix begins with its dot
    Address network{};
    int bits = 128;
    std::optional<std::uint16_t> port;
  };

  static std::optional<Address> ParseAddress(const std::string& text);
  static api::Result<Item> ParseItem(std::string_view text);
  static bool ParseHost(const std::string& host, Item* item);
  static bool Contains(const Item& item, const Address& address);

  std::vector<Item> items_;
};

// 1 to 65535, in digits alone.
std::optional<std::uint16_t> ParsePort(std::string_view text);

// HOST or HOST:PORT; an IPv6 address with a port is in brackets. The host is a NormalHost(); nullopt for an
// invalid port.
struct HostAndPort {
  std::string host;
  std::optional<std::uint16_t> port;
};
std::optional<HostAndPort> ParseHostAndPort(std::string_view text);

}  // namespace terrarium::testbed

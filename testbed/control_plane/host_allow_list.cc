#include "testbed/control_plane/host_allow_list.h"

#include <algorithm>
#include <charconv>
#include <cstring>

#include <arpa/inet.h>

#include "api/base/errors.h"
#include "apiserver/validation/formats.h"

namespace terrarium::testbed {
namespace {

template <typename Number>
std::optional<Number> ParseNumber(std::string_view text) {
  Number value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (text.empty() || text.front() == '-' || error != std::errc() || end != text.data() + text.size())
    return std::nullopt;
  return value;
}

std::string_view Trim(std::string_view text) {
  while (text.starts_with(' ')) text.remove_prefix(1);
  while (text.ends_with(' ')) text.remove_suffix(1);
  return text;
}

}  // namespace

std::string NormalHost(std::string_view host) {
  if (host.size() >= 2 && host.front() == '[' && host.back() == ']')
    host = host.substr(1, host.size() - 2);
  else if (host.size() > 1 && host.back() == '.')
    host.remove_suffix(1);
  std::string out(host);
  std::transform(out.begin(), out.end(), out.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return out;
}

std::optional<std::uint16_t> ParsePort(std::string_view text) {
  auto port = ParseNumber<std::uint16_t>(text);
  return port && *port > 0 ? port : std::nullopt;
}

std::optional<HostAndPort> ParseHostAndPort(std::string_view text) {
  HostAndPort out;
  std::size_t colon = text.rfind(':');
  bool bracketed = text.starts_with('[');
  // A bare IPv6 address has colons of its own, and no port.
  bool has_port = colon != std::string_view::npos &&
                  (bracketed ? colon > 0 && text[colon - 1] == ']' : text.find(':') == colon);
  if (has_port) {
    out.port = ParsePort(text.substr(colon + 1));
    if (!out.port) return std::nullopt;
    text = text.substr(0, colon);
  }
  out.host = NormalHost(text);
  return out;
}

std::optional<HostAllowList::Address> HostAllowList::ParseAddress(const std::string& text) {
  Address out{};
  if (inet_pton(AF_INET6, text.c_str(), out.data()) == 1) return out;
  unsigned char v4[4];
  if (inet_pton(AF_INET, text.c_str(), v4) != 1) return std::nullopt;
  out = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0xff};
  std::memcpy(out.data() + 12, v4, sizeof v4);
  return out;
}

bool HostAllowList::ParseHost(const std::string& host, Item* item) {
  std::size_t slash = host.find('/');
  if (auto address = ParseAddress(host.substr(0, slash))) {
    item->kind = Item::Kind::kNetwork;
    item->network = *address;
    if (slash == std::string::npos) return true;
    int offset = host.find(':') == std::string::npos ? 96 : 0;
    auto bits = ParseNumber<int>(std::string_view(host).substr(slash + 1));
    if (!bits || *bits + offset > 128) return false;
    item->bits = *bits + offset;
    return true;
  }
  bool suffix = host.starts_with("*.");
  std::string name = suffix ? host.substr(2) : host;
  item->kind = suffix ? Item::Kind::kSuffix : Item::Kind::kName;
  item->name = suffix ? "." + name : name;
  return apiserver::IsDns1123Subdomain(name).empty();
}

api::Result<HostAllowList::Item> HostAllowList::ParseItem(std::string_view text) {
  Item item;
  if (text == "*") {
    item.kind = Item::Kind::kEverything;
    return item;
  }
  auto parsed = ParseHostAndPort(text);
  if (!parsed || !ParseHost(parsed->host, &item))
    return api::BadRequest(
        api::Quote(std::string(text)) +
        " is not a host: a name, *.SUFFIX, an address or a network, with :PORT or without");
  item.port = parsed->port;
  return item;
}

api::Result<HostAllowList> HostAllowList::Parse(std::string_view text) {
  HostAllowList out;
  if (Trim(text).empty()) return out;
  for (;;) {
    std::size_t comma = text.find(',');
    auto item = ParseItem(Trim(text.substr(0, comma)));
    if (!item) return item.status();
    out.items_.push_back(std::move(*item));
    if (comma == std::string_view::npos) return out;
    text.remove_prefix(comma + 1);
  }
}

HostAllowList HostAllowList::Default() { return *Parse(kDefault); }

bool HostAllowList::Contains(const Item& item, const Address& address) {
  int whole = item.bits / 8, rest = item.bits % 8;
  if (!std::equal(address.begin(), address.begin() + whole, item.network.begin())) return false;
  return rest == 0 || ((address[whole] ^ item.network[whole]) >> (8 - rest)) == 0;
}

bool HostAllowList::Allows(std::string_view host, std::optional<std::uint16_t> port) const {
  std::string name = NormalHost(host);
  auto address = ParseAddress(name);
  return std::any_of(items_.begin(), items_.end(), [&](const Item& item) {
    if (item.port && item.port != port) return false;
    switch (item.kind) {
      case Item::Kind::kEverything: return true;
      case Item::Kind::kName: return !address && name == item.name;
      case Item::Kind::kSuffix:
        return !address && name.size() > item.name.size() && name.ends_with(item.name);
      case Item::Kind::kNetwork: return address && Contains(item, *address);
    }
    return false;
  });
}

}  // namespace terrarium::testbed

#include "apiserver/local_access.h"

#include <algorithm>
#include <cctype>
#include <optional>
#include <string_view>
#include <utility>

#include <arpa/inet.h>

#include "api/base/errors.h"

namespace terrarium::apiserver {
namespace {

std::string Lower(std::string_view text) {
  std::string out(text);
  std::transform(out.begin(), out.end(), out.begin(), [](unsigned char c) { return std::tolower(c); });
  return out;
}

bool IsPort(std::string_view text) {
  return !text.empty() && text.size() <= 5 &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); });
}

struct Authority {
  std::string host;  // lower case, without the brackets of an IPv6 address
  std::string port;  // empty: the scheme's
};

// HOST, HOST:PORT, [V6] or [V6]:PORT; nullopt for everything else.
std::optional<Authority> ParseAuthority(std::string_view text) {
  Authority out;
  std::string_view rest;
  if (text.starts_with('[')) {
    std::size_t end = text.find(']');
    if (end == std::string_view::npos) return std::nullopt;
    out.host = Lower(text.substr(1, end - 1));
    rest = text.substr(end + 1);
  } else {
    std::size_t colon = std::min(text.find(':'), text.size());
    out.host = Lower(text.substr(0, colon));
    rest = text.substr(colon);
  }
  if (out.host.empty() || out.host.find_first_of("/@ \\") != std::string::npos) return std::nullopt;
  if (rest.empty()) return out;
  if (rest.front() != ':' || !IsPort(rest.substr(1))) return std::nullopt;
  out.port = rest.substr(1);
  return out;
}

// True also for other spellings of ::1. Names that merely resolve to loopback are not loopback.
bool IsLoopbackHost(const std::string& host) {
  if (host == "localhost") return true;
  in_addr v4{};
  if (inet_pton(AF_INET, host.c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24) == 127;
  in6_addr v6{};
  return inet_pton(AF_INET6, host.c_str(), &v6) == 1 && IN6_IS_ADDR_LOOPBACK(&v6);
}

// An Origin is the scheme and authority of a page. The server's own pages come from the authority that the
// client names as Host. Browsers leave out the scheme's own port in both.
bool IsOwnOrigin(std::string_view origin, const Authority& host) {
  for (std::string_view scheme : {"http://", "https://"}) {
    if (!origin.starts_with(scheme)) continue;
    auto page = ParseAuthority(origin.substr(scheme.size()));
    std::string_view default_port = scheme == "http://" ? "80" : "443";
    auto port = [&](const Authority& at) {
      return at.port.empty() ? default_port : std::string_view(at.port);
    };
    return page && page->host == host.host && port(*page) == port(host);
  }
  return false;
}

api::Status Refused(std::string message) {
  return api::MakeStatus(403, api::reason::kForbidden, std::move(message));
}

}  // namespace

api::Result<void> LocalAccess::Check(const Request& request) const {
  auto host = ParseAuthority(request.host);
  if (check_host && !request.host.empty() &&
      !(host && (IsLoopbackHost(host->host) || host->host == Lower(address))))
    return Refused(
        "Host " + api::Quote(request.host) +
        " is not a loopback address: a server without --token-file and --client-ca answers to localhost, "
        "127.0.0.0/8 and [::1] only");
  if (check_origin && !request.origin.empty() && !(host && IsOwnOrigin(request.origin, *host)))
    return Refused("Origin " + api::Quote(request.origin) +
                   " is another site: only the server's own pages are served");
  return {};
}

}  // namespace terrarium::apiserver

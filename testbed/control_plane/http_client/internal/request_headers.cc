#include "testbed/control_plane/http_client/internal/request_headers.h"

#include <algorithm>
#include <array>

#include "api/base/errors.h"

namespace terrarium::testbed::internal {
namespace {

using Method = api::HttpCall::Method;

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// They frame the request and decide about the connection, which is the client's part.
constexpr std::array<std::string_view, 8> kOwnHeaders = {
    "connection", "content-length", "expect", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade"};

bool IsToken(std::string_view text) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= '0' && c <= '9') || (Lower(c) >= 'a' && Lower(c) <= 'z') ||
           kMarks.find(c) != std::string_view::npos;
  });
}

// Without line ends and other control characters: a line end would begin another header.
bool IsFieldValue(std::string_view text) {
  return std::all_of(text.begin(), text.end(),
                     [](unsigned char c) { return c == '\t' || (c >= ' ' && c != 127); });
}

bool IsPath(std::string_view path) {
  auto is_visible = [](unsigned char c) { return c > ' ' && c != 127; };
  return path.starts_with('/') && std::all_of(path.begin(), path.end(), is_visible);
}

bool IsGiven(const api::HttpCall& call, std::string_view name) {
  return std::any_of(call.headers.begin(), call.headers.end(),
                     [name](const auto& header) { return EqualNoCase(header.first, name); });
}

// As in a URL, without the port where it is the scheme's default. The port of a Service may be a name, which
// has no place here.
std::string HostHeader(const api::HttpCall& call) {
  bool v6 = call.host.find(':') != std::string::npos && !call.host.starts_with('[');
  std::string host = v6 ? "[" + call.host + "]" : call.host;
  bool number = !call.port.empty() && call.port.find_first_not_of("0123456789") == std::string::npos;
  if (!number || call.port == (call.tls ? "443" : "80")) return host;
  return host + ":" + call.port;
}

// libcurl drops a header without a value, unless it ends with a semicolon.
std::string Line(std::string_view name, std::string_view value) {
  bool blank = value.find_first_not_of(" \t") == std::string_view::npos;
  return blank ? std::string(name) + ";" : std::string(name) + ": " + std::string(value);
}

}  // namespace

bool EqualNoCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return Lower(x) == Lower(y); });
}

api::Result<std::vector<std::string>> RequestHeaders(const api::HttpCall& call) {
  if (!IsPath(call.path))
    return api::BadRequest("the path cannot be sent: it must begin with a slash and have no blanks");
  if (!IsFieldValue(call.host) || call.host.find(' ') != std::string::npos)
    return api::BadRequest("the host cannot be sent: it has a blank");
  std::vector<std::string> lines;
  auto add_default = [&](std::string_view name, std::string_view value) {
    if (!IsGiven(call, name)) lines.push_back(Line(name, value));
  };
  add_default("Host", HostHeader(call));
  add_default("User-Agent", "terrarium");
  if (call.method == Method::kPost) add_default("Content-Type", "application/json");
  add_default("Accept", "application/json");
  add_default("Accept-Encoding", "identity");
  for (const auto& [name, value] : call.headers) {
    if (!IsToken(name)) return api::BadRequest("a header cannot be sent: its name is malformed");
    if (std::any_of(kOwnHeaders.begin(), kOwnHeaders.end(), [&](auto own) { return EqualNoCase(own, name); }))
      return api::BadRequest("header " + name + " cannot be set: it belongs to the connection");
    if (!IsFieldValue(value))
      return api::BadRequest("header " + name +
                             " cannot be sent: its value has a line end or a control character");
    lines.push_back(Line(name, value));
  }
  lines.push_back("Connection: close");
  lines.push_back("Expect:");  // nothing to wait for: the body follows its head
  return lines;
}

}  // namespace terrarium::testbed::internal

#include "testbed/http_caller/internal/http_text.h"

#include <algorithm>
#include <array>

#include "api/base/errors.h"

namespace terrarium::testbed::internal {
namespace {

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

// They say how the request is framed and what becomes of the connection, which is not for the user to say.
constexpr std::array<std::string_view, 8> kOwnHeaders = {"connection", "content-length", "expect",  "keep-alive",
                                                         "te",         "trailer",        "transfer-encoding",
                                                         "upgrade"};

struct DefaultHeader {
  std::string_view name;
  std::string value;
};

bool IsGiven(const api::HttpCall& call, std::string_view name) {
  return std::any_of(call.headers.begin(), call.headers.end(),
                     [name](const auto& header) { return EqualNoCase(header.first, name); });
}

// As a URL would have it: the port is left out where it is the scheme's own, or has only a name.
std::string HostHeader(const api::HttpCall& call) {
  bool v6 = call.host.find(':') != std::string::npos && !call.host.starts_with('[');
  std::string host = v6 ? "[" + call.host + "]" : call.host;
  bool number = !call.port.empty() && call.port.find_first_not_of("0123456789") == std::string::npos;
  if (!number || call.port == (call.tls ? "443" : "80")) return host;
  return host + ":" + call.port;
}

bool IsPath(std::string_view path) {
  auto is_shown = [](unsigned char c) { return c > ' ' && c != 127; };
  return path.starts_with('/') && std::all_of(path.begin(), path.end(), is_shown);
}

}  // namespace

bool IsToken(std::string_view text) {
  constexpr std::string_view kMarks = "!#$%&'*+-.^_`|~";
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= '0' && c <= '9') || (Lower(c) >= 'a' && Lower(c) <= 'z') || kMarks.find(c) != std::string_view::npos;
  });
}

bool IsFieldValue(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](unsigned char c) { return c == '\t' || (c >= ' ' && c != 127); });
}

bool EqualNoCase(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(), [](char x, char y) { return Lower(x) == Lower(y); });
}

api::Result<std::string> RequestText(const api::HttpCall& call) {
  if (!IsPath(call.path))
    return api::BadRequest("the path cannot be sent: it must begin with a slash and have no blanks");
  if (!IsFieldValue(call.host) || call.host.find(' ') != std::string::npos)
    return api::BadRequest("the host cannot be sent: it has a blank");
  std::string text = "POST " + call.path + " HTTP/1.1\r\n";
  const DefaultHeader defaults[] = {{"Host", HostHeader(call)},
                                    {"User-Agent", "terrarium"},
                                    {"Content-Type", "application/json"},
                                    {"Accept", "application/json"},
                                    {"Accept-Encoding", "identity"}};
  for (const DefaultHeader& header : defaults)
    if (!IsGiven(call, header.name)) text.append(header.name).append(": ").append(header.value).append("\r\n");
  for (const auto& [name, value] : call.headers) {
    if (!IsToken(name)) return api::BadRequest("a header cannot be sent: its name is none");
    if (std::any_of(kOwnHeaders.begin(), kOwnHeaders.end(), [&](auto own) { return EqualNoCase(own, name); }))
      return api::BadRequest("header " + name + " cannot be set: it belongs to the connection");
    if (!IsFieldValue(value))
      return api::BadRequest("header " + name + " cannot be sent: its value has a line end or a control character");
    text.append(name).append(": ").append(value).append("\r\n");
  }
  text.append("Content-Length: ").append(std::to_string(call.body.size())).append("\r\nConnection: close\r\n\r\n");
  text.append(call.body);
  return text;
}

}  // namespace terrarium::testbed::internal

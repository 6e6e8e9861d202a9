#include "apiserver/http/request_head.h"

#include <algorithm>

#include "api/base/errors.h"
#include "apiserver/http/url.h"

namespace terrarium::apiserver {
namespace {

using api::Status;

constexpr std::string_view kSpaces = " \t";
// A parsed field takes far more memory than the few bytes that a client needs to send it.
constexpr std::size_t kFieldsMax = 1000;

Status Refused(int code, std::string_view message) {
  Status status = api::BadRequest(message);
  if (code != status.code) status.reason.clear();
  status.code = code;
  return status;
}

bool IsTokenCharacter(char c) {
  if ((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9')) return true;
  return c != '\0' && std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

bool IsToken(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), IsTokenCharacter);
}

bool IsControl(char c) { return (static_cast<unsigned char>(c) < 0x20 && c != '\t') || c == 0x7f; }

char Lower(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

std::string Lower(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = Lower(c);
  return out;
}

std::string_view Trim(std::string_view text) {
  std::size_t begin = text.find_first_not_of(kSpaces);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(kSpaces) - begin + 1);
}

// The next line without its end, which is taken off `text`. A bare line feed ends a line as well (RFC 9112,
// 2.2).
std::string_view TakeLine(std::string_view& text) {
  std::size_t end = text.find('\n');
  std::string_view line = text.substr(0, end);
  text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
  if (line.ends_with('\r')) line.remove_suffix(1);
  return line;
}

// Calls `use` with each element of a comma-separated list.
template <typename Use>
void ForEachElement(std::string_view list, const Use& use) {
  while (!list.empty()) {
    std::size_t comma = list.find(',');
    std::string_view element = Trim(list.substr(0, comma));
    list = comma == std::string_view::npos ? std::string_view{} : list.substr(comma + 1);
    if (!element.empty()) use(Lower(element));
  }
}

// Digits only: a sign, a space or a list means different things to different readers.
std::optional<std::uint64_t> ParseLength(std::string_view text) {
  if (text.empty() || text.size() > 18) return std::nullopt;
  std::uint64_t out = 0;
  for (char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    out = out * 10 + static_cast<std::uint64_t>(c - '0');
  }
  return out;
}

// http://host/path, as clients of a proxy send it, is the path on this server.
std::string_view OriginForm(std::string_view target) {
  std::size_t scheme = target.find("://");
  if (target.starts_with('/') || scheme == std::string_view::npos) return target;
  std::size_t slash = target.find('/', scheme + 3);
  return slash == std::string_view::npos ? std::string_view("/") : target.substr(slash);
}

std::optional<Status> ParseRequestLine(std::string_view line, RequestHead& head) {
  std::size_t first = line.find(' ');
  std::size_t last = line.rfind(' ');
  if (first == std::string_view::npos || first == last) return Refused(400, "malformed HTTP request line");
  std::string_view version = line.substr(last + 1);
  std::string_view target = line.substr(first + 1, last - first - 1);
  head.method = line.substr(0, first);
  if (!IsToken(head.method)) return Refused(400, "invalid HTTP method");
  if (version.size() != 8 || !version.starts_with("HTTP/")) return Refused(400, "malformed HTTP version");
  if (version != "HTTP/1.1" && version != "HTTP/1.0") return Refused(505, "unsupported HTTP version");
  head.minor_version = version.back() - '0';
  auto unprintable = [](char c) { return c == ' ' || c == '\t' || IsControl(c); };
  if (target.empty() || std::any_of(target.begin(), target.end(), unprintable))
    return Refused(400, "malformed request target");
  target = OriginForm(target);
  target = target.substr(0, target.find('#'));
  std::size_t question = target.find('?');
  if (question != std::string_view::npos) head.query = target.substr(question + 1);
  std::optional<std::string> path = DecodePath(target.substr(0, question));
  if (!path) return Refused(400, "invalid URL escape in the request target");
  head.path = std::move(*path);
  return std::nullopt;
}

std::optional<Status> ParseField(std::string_view line, RequestHead& head) {
  std::size_t colon = line.find(':');
  // Also refuses a line that continues the one before, and a space before the colon.
  if (colon == std::string_view::npos || !IsToken(line.substr(0, colon)))
    return Refused(400, "malformed HTTP header field");
  std::string_view value = Trim(line.substr(colon + 1));
  if (std::any_of(value.begin(), value.end(), IsControl)) return Refused(400, "invalid header field value");
  if (head.headers.size() == kFieldsMax)
    return Refused(431, "too many request header fields, limit is " + std::to_string(kFieldsMax));
  head.headers.emplace_back(Lower(line.substr(0, colon)), value);
  return std::nullopt;
}

std::optional<Status> ReadContentLength(const std::string& value, RequestHead& head) {
  std::optional<std::uint64_t> length = ParseLength(value);
  if (!length) return Refused(400, "bad Content-Length " + api::Quote(value));
  if (head.content_length && *head.content_length != *length)
    return Refused(400, "message contains several Content-Lengths that differ");
  head.content_length = length;
  return std::nullopt;
}

std::optional<Status> ReadTransferEncoding(const std::string& value, RequestHead& head) {
  if (head.chunked || Lower(value) != "chunked")
    return Refused(501, "unsupported transfer encoding: " + api::Quote(value));
  if (head.minor_version == 0) return Refused(400, "Transfer-Encoding in an HTTP/1.0 request");
  head.chunked = true;
  return std::nullopt;
}

void ReadConnection(const std::string& value, RequestHead& head) {
  ForEachElement(value, [&head](const std::string& option) {
    if (option == "close") head.keep_alive = false;
    if (option == "keep-alive" && head.minor_version == 0) head.keep_alive = true;
  });
}

// Evaluates the fields that describe the message itself.
std::optional<Status> ReadFraming(RequestHead& head) {
  head.keep_alive = head.minor_version == 1;
  int hosts = 0;
  for (const auto& [name, value] : head.headers) {
    std::optional<Status> bad;
    if (name == "content-length")
      bad = ReadContentLength(value, head);
    else if (name == "transfer-encoding")
      bad = ReadTransferEncoding(value, head);
    else if (name == "connection")
      ReadConnection(value, head);
    else if (name == "host")
      ++hosts;
    else if (name == "expect" && Lower(value) != "100-continue")
      bad = Refused(417, "unknown expectation");
    else if (name == "expect")
      head.expects_continue = head.minor_version == 1;
    if (bad) return bad;
  }
  if (head.chunked && head.content_length)
    return Refused(400, "message contains both Transfer-Encoding and Content-Length");
  if (hosts > 1) return Refused(400, "too many Host headers");
  if (hosts == 0 && head.minor_version == 1) return Refused(400, "missing required Host header");
  return std::nullopt;
}

}  // namespace

const std::string& RequestHead::Header(std::string_view name) const {
  static const std::string kNone;
  for (const auto& [field, value] : headers)
    if (field == name) return value;
  return kNone;
}

void RequestHead::DropFields() {
  std::string().swap(path);
  std::string().swap(query);
  decltype(headers)().swap(headers);
}

std::size_t FindHeadEnd(std::string_view text, std::size_t from) {
  for (std::size_t at = text.find('\n', from); at != std::string_view::npos; at = text.find('\n', at + 1)) {
    if (at + 1 < text.size() && text[at + 1] == '\n') return at + 2;
    if (at + 2 < text.size() && text[at + 1] == '\r' && text[at + 2] == '\n') return at + 3;
  }
  return std::string_view::npos;
}

api::Result<RequestHead> ParseRequestHead(std::string_view text) {
  RequestHead head;
  if (auto bad = ParseRequestLine(TakeLine(text), head)) return *bad;
  while (true) {
    std::string_view line = TakeLine(text);
    if (line.empty()) break;
    if (auto bad = ParseField(line, head)) return *bad;
  }
  if (auto bad = ReadFraming(head)) return *bad;
  return head;
}

}  // namespace terrarium::apiserver

#include "apiserver/http/response_head.h"

#include <array>
#include <cstdio>
#include <utility>

#include "apiserver/http/warning_header.h"

namespace terrarium::apiserver {
namespace {

// RFC 9110, 5.6.7. The words are English whatever the locale is.
std::string HttpDate(std::time_t now) {
  static constexpr std::array kDays = {"Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"};
  static constexpr std::array kMonths = {"Jan", "Feb", "Mar", "Apr", "May", "Jun",
                                         "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"};
  std::tm utc{};
  gmtime_r(&now, &utc);
  char text[128];
  std::size_t day = static_cast<std::size_t>(utc.tm_wday), month = static_cast<std::size_t>(utc.tm_mon);
  std::snprintf(text, sizeof text, "%s, %02d %s %04d %02d:%02d:%02d GMT", kDays.at(day), utc.tm_mday,
                kMonths.at(month), utc.tm_year + 1900, utc.tm_hour, utc.tm_min, utc.tm_sec);
  return text;
}

// Formatted once a second by each thread.
const std::string& CachedHttpDate(std::time_t now) {
  thread_local std::pair<std::time_t, std::string> cached{-1, ""};
  if (cached.first != now) cached = {now, HttpDate(now)};
  return cached.second;
}

void AppendField(std::string& out, std::string_view name, std::string_view value) {
  out.append(name).append(": ").append(value).append("\r\n");
}

}  // namespace

std::string_view ReasonPhrase(int code) {
  switch (code) {
    case 200: return "OK";
    case 201: return "Created";
    case 202: return "Accepted";
    case 204: return "No Content";
    case 301: return "Moved Permanently";
    case 302: return "Found";
    case 304: return "Not Modified";
    case 307: return "Temporary Redirect";
    case 308: return "Permanent Redirect";
    case 400: return "Bad Request";
    case 401: return "Unauthorized";
    case 403: return "Forbidden";
    case 404: return "Not Found";
    case 405: return "Method Not Allowed";
    case 406: return "Not Acceptable";
    case 408: return "Request Timeout";
    case 409: return "Conflict";
    case 410: return "Gone";
    case 413: return "Request Entity Too Large";
    case 415: return "Unsupported Media Type";
    case 417: return "Expectation Failed";
    case 422: return "Unprocessable Entity";
    case 429: return "Too Many Requests";
    case 431: return "Request Header Fields Too Large";
    case 500: return "Internal Server Error";
    case 501: return "Not Implemented";
    case 503: return "Service Unavailable";
    case 504: return "Gateway Timeout";
    case 505: return "HTTP Version Not Supported";
    default: return code < 400 ? "OK" : "Error";
  }
}

std::string FormatResponseHead(const Response& response, const ResponseHeadOptions& options) {
  std::string out;
  out.reserve(256);
  out.append(options.minor_version == 0 ? "HTTP/1.0 " : "HTTP/1.1 ").append(std::to_string(response.code));
  out.append(" ").append(ReasonPhrase(response.code)).append("\r\n");
  if (options.end != BodyEnd::kNoBody) AppendField(out, "Content-Type", response.content_type);
  AppendField(out, "Date", CachedHttpDate(options.now));
  if (options.end == BodyEnd::kLength)
    AppendField(out, "Content-Length", std::to_string(options.content_length));
  if (options.end == BodyEnd::kChunks) AppendField(out, "Transfer-Encoding", "chunked");
  if (options.close)
    AppendField(out, "Connection", "close");
  else if (options.keep_alive)
    AppendField(out, "Connection", "keep-alive");
  for (const auto& [name, value] : response.headers) AppendField(out, name, value);
  for (const std::string& warning : WarningHeaders(response.warnings)) AppendField(out, "Warning", warning);
  return out.append("\r\n");
}

}  // namespace terrarium::apiserver

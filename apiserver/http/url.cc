#include "apiserver/http/url.h"

namespace terrarium::apiserver {

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

namespace {

std::string Decode(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '+') {
      out += ' ';
    } else if (text[i] == '%' && i + 2 < text.size() && HexDigit(text[i + 1]) >= 0 &&
               HexDigit(text[i + 2]) >= 0) {
      out += static_cast<char>(HexDigit(text[i + 1]) * 16 + HexDigit(text[i + 2]));
      i += 2;
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace

std::optional<std::string> DecodePath(std::string_view path) {
  std::string out;
  out.reserve(path.size());
  for (std::size_t i = 0; i < path.size(); ++i) {
    if (path[i] != '%') {
      out += path[i];
      continue;
    }
    if (i + 2 >= path.size() || HexDigit(path[i + 1]) < 0 || HexDigit(path[i + 2]) < 0) return std::nullopt;
    out += static_cast<char>(HexDigit(path[i + 1]) * 16 + HexDigit(path[i + 2]));
    i += 2;
  }
  return out;
}

std::vector<std::pair<std::string, std::string>> ParseQuery(std::string_view query) {
  std::vector<std::pair<std::string, std::string>> out;
  while (!query.empty()) {
    std::size_t end = query.find('&');
    std::string_view item = query.substr(0, end);
    query = end == std::string_view::npos ? std::string_view{} : query.substr(end + 1);
    if (item.empty()) continue;
    std::size_t equals = item.find('=');
    std::string_view value = equals == std::string_view::npos ? std::string_view{} : item.substr(equals + 1);
    out.emplace_back(Decode(item.substr(0, equals)), Decode(value));
  }
  return out;
}

}  // namespace terrarium::apiserver

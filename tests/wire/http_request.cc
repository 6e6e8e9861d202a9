#include "tests/wire/http_request.h"

#include <algorithm>
#include <cctype>
#include <utility>

namespace terrarium::wire {
namespace {

bool SameName(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

std::string PercentDecode(std::string_view text, bool plus_is_space) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    bool escape = text[i] == '%' && i + 2 < text.size() &&
                  std::isxdigit(static_cast<unsigned char>(text[i + 1])) &&
                  std::isxdigit(static_cast<unsigned char>(text[i + 2]));
    if (escape) {
      out += static_cast<char>(std::stoi(std::string(text.substr(i + 1, 2)), nullptr, 16));
      i += 2;
    } else {
      out += text[i] == '+' && plus_is_space ? ' ' : text[i];
    }
  }
  return out;
}

void ReadQuery(std::string_view query, apiserver::Request& request) {
  while (!query.empty()) {
    std::size_t end = std::min(query.find('&'), query.size());
    std::string_view item = query.substr(0, end);
    query.remove_prefix(std::min(end + 1, query.size()));
    std::size_t equals = std::min(item.find('='), item.size());
    std::string_view value = equals == item.size() ? std::string_view{} : item.substr(equals + 1);
    if (!item.empty())
      request.query.emplace_back(PercentDecode(item.substr(0, equals), true), PercentDecode(value, true));
  }
}

}  // namespace

apiserver::Request MakeRequest(const std::string& method, const std::string& target,
                               const std::vector<Header>& headers, std::optional<std::string> body) {
  apiserver::Request request;
  request.method = method;
  std::size_t question = std::min(target.find('?'), target.size());
  request.path = PercentDecode(std::string_view(target).substr(0, question), false);
  if (question < target.size()) ReadQuery(std::string_view(target).substr(question + 1), request);
  request.accept = "application/json";
  request.host = "127.0.0.1";
  if (body) request.content_type = "application/json";
  for (const Header& header : headers) {
    if (SameName(header.name, "Accept")) request.accept = header.value;
    if (SameName(header.name, "Content-Type")) request.content_type = header.value;
    if (SameName(header.name, "User-Agent")) request.user_agent = header.value;
    if (SameName(header.name, "Host")) request.host = header.value;
    if (SameName(header.name, "If-None-Match")) request.if_none_match = header.value;
  }
  if (body) request.body = std::move(*body);
  return request;
}

std::string AnswerHeader(const apiserver::Response& response, const std::string& name) {
  if (SameName(name, "Content-Type")) return response.content_type;
  std::string value;
  for (const auto& [key, text] : response.headers)
    if (SameName(key, name)) value += (value.empty() ? "" : ", ") + text;
  return value;
}

}  // namespace terrarium::wire

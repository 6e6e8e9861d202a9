#include "apiserver/http/bearer_token.h"

#include <algorithm>

namespace terrarium::apiserver {

std::optional<std::string> BearerToken(std::string_view header) {
  static constexpr std::string_view kScheme = "bearer";
  std::size_t space = header.find(' ');
  if (space != kScheme.size()) return std::nullopt;
  auto same = [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; };
  if (!std::equal(kScheme.begin(), kScheme.end(), header.begin(), [&](char b, char a) { return same(a, b); }))
    return std::nullopt;
  std::string_view token = header.substr(space + 1);
  token = token.substr(0, token.find(' '));
  if (token.empty()) return std::nullopt;
  return std::string(token);
}

}  // namespace terrarium::apiserver

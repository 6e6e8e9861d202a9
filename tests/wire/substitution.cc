#include "tests/wire/substitution.h"

#include <algorithm>
#include <cctype>

namespace terrarium::wire {
namespace {

bool IsWordByte(char c) {
  auto byte = static_cast<unsigned char>(c);
  return std::isalnum(byte) || c == '_' || byte >= 0x80;
}

bool IsLower(char c) { return c >= 'a' && c <= 'z'; }

// The name in "{name}" at the start of the text, or empty.
std::string_view NameAt(std::string_view text) {
  std::size_t end = text.find('}');
  if (text.front() != '{' || end == std::string_view::npos || end < 2) return {};
  std::string_view name = text.substr(1, end - 1);
  bool plain = IsLower(name[0]) && std::all_of(name.begin(), name.end(), [](char c) {
                 return IsLower(c) || c == '_' || (c >= '0' && c <= '9');
               });
  return plain ? name : std::string_view{};
}

// Reads "{repeat:text:times}" at the start of the text: its length, or 0.
std::size_t RepeatAt(std::string_view text, std::string* out) {
  constexpr std::string_view kStart = "{repeat:";
  if (!text.starts_with(kStart)) return 0;
  std::size_t colon = text.find(':', kStart.size()), end = text.find('}', kStart.size());
  if (colon == std::string_view::npos || end == std::string_view::npos || colon > end) return 0;
  std::string_view times = text.substr(colon + 1, end - colon - 1);
  if (times.empty() ||
      !std::all_of(times.begin(), times.end(), [](unsigned char c) { return std::isdigit(c); }))
    return 0;
  for (int i = std::stoi(std::string(times)); i > 0; --i)
    *out += text.substr(kStart.size(), colon - kStart.size());
  return end + 1;
}

}  // namespace

bool Substitute(std::string_view text, const std::string& ns, const std::map<std::string, std::string>& saved,
                std::string* out) {
  std::string result;
  for (std::size_t i = 0; i < text.size();) {
    std::string_view rest = text.substr(i);
    bool word = rest.starts_with("NS") && (i == 0 || !IsWordByte(text[i - 1])) &&
                (rest.size() == 2 || !IsWordByte(rest[2]));
    if (word) {
      result += ns;
      i += 2;
    } else if (std::size_t length = RepeatAt(rest, &result); length > 0) {
      i += length;
    } else if (std::string_view name = NameAt(rest); !name.empty()) {
      auto it = saved.find(std::string(name));
      if (it == saved.end()) {
        *out = name;
        return false;
      }
      result += it->second;
      i += name.size() + 2;
    } else {
      result += text[i++];
    }
  }
  *out = std::move(result);
  return true;
}

}  // namespace terrarium::wire

// Image references as the container tools write them: [domain/]path[:tag][@digest].

#include "apiserver/validation/internal/image_name.h"

#include <algorithm>

namespace terrarium::apiserver {
namespace {

bool IsLowerAlnum(char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); }
bool IsAlnum(char c) { return IsLowerAlnum(c) || (c >= 'A' && c <= 'Z'); }
bool IsHex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') || (c >= 'A' && c <= 'F'); }

bool IsTag(std::string_view tag) {
  if (tag.empty() || tag.size() > 128 || !(IsAlnum(tag[0]) || tag[0] == '_')) return false;
  return std::all_of(tag.begin(), tag.end(),
                     [](char c) { return IsAlnum(c) || c == '_' || c == '.' || c == '-'; });
}

bool IsDigest(std::string_view digest) {
  const std::size_t colon = digest.find(':');
  if (colon == std::string_view::npos || colon == 0) return false;
  const std::string_view hex = digest.substr(colon + 1);
  return hex.size() >= 32 && std::all_of(hex.begin(), hex.end(), IsHex);
}

// Runs of letters and digits, joined by one dot, one or two underscores, or dashes.
bool IsPathPart(std::string_view part) {
  if (part.empty() || !IsLowerAlnum(part.front()) || !IsLowerAlnum(part.back())) return false;
  for (std::size_t i = 0; i < part.size();) {
    if (IsLowerAlnum(part[i])) {
      ++i;
      continue;
    }
    const char joint = part[i];
    std::size_t length = 0;
    while (i < part.size() && part[i] == joint) {
      ++i;
      ++length;
    }
    const std::size_t longest = joint == '.' ? 1 : joint == '_' ? 2 : joint == '-' ? part.size() : 0;
    if (length > longest || !IsLowerAlnum(part[i])) return false;
  }
  return true;
}

bool IsPath(std::string_view path) {
  for (;;) {
    const std::size_t slash = path.find('/');
    if (!IsPathPart(path.substr(0, slash))) return false;
    if (slash == std::string_view::npos) return true;
    path.remove_prefix(slash + 1);
  }
}

// The first part is a registry when it looks like a host: it has a dot, a port or capitals, or is localhost.
bool LooksLikeDomain(std::string_view part) {
  return part == "localhost" || part.find_first_of(".:") != std::string_view::npos ||
         std::any_of(part.begin(), part.end(), [](char c) { return c >= 'A' && c <= 'Z'; });
}

bool IsDomain(std::string_view domain) {
  return std::all_of(domain.begin(), domain.end(), [](char c) {
    return IsAlnum(c) || c == '.' || c == '-' || c == ':' || c == '[' || c == ']';
  });
}

bool IsName(std::string_view name) {
  // Sixty-four hex digits alone are an image's id and not a name.
  const auto small_hex = [](char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); };
  if (name.size() == 64 && std::all_of(name.begin(), name.end(), small_hex)) return false;
  const std::size_t slash = name.find('/');
  if (slash != std::string_view::npos && LooksLikeDomain(name.substr(0, slash))) {
    return IsDomain(name.substr(0, slash)) && IsPath(name.substr(slash + 1));
  }
  return IsPath(name);
}

}  // namespace

bool IsLatestImage(std::string_view image) {
  const std::size_t at = image.find('@');
  const bool digest = at != std::string_view::npos;
  if (digest && !IsDigest(image.substr(at + 1))) return false;
  std::string_view name = image.substr(0, at);
  const std::size_t colon = name.rfind(':');
  const std::size_t slash = name.rfind('/');
  const bool tagged = colon != std::string_view::npos && (slash == std::string_view::npos || colon > slash);
  const std::string_view tag = tagged ? name.substr(colon + 1) : std::string_view{};
  if (tagged) name = name.substr(0, colon);
  if ((tagged && !IsTag(tag)) || !IsName(name)) return false;
  return tagged ? tag == "latest" : !digest;
}

}  // namespace terrarium::apiserver

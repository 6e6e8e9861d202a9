#include "apiserver/strategy/internal/time_zone.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <system_error>

namespace terrarium::apiserver::strategy {
namespace {

constexpr std::size_t kMaxPartLength = 14;
constexpr const char* kZoneFolder = "/usr/share/zoneinfo";

bool IsPart(std::string_view part) {
  if (part.empty() || part.size() > kMaxPartLength || part.front() == '-' || part == "." || part == "..")
    return false;
  return std::all_of(part.begin(), part.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '-' || c == '_' || c == '+';
  });
}

bool HasZoneData(const std::filesystem::path& file) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) return false;
  std::ifstream in(file, std::ios::binary);
  char magic[4] = {};
  in.read(magic, sizeof magic);
  return in && std::string_view(magic, sizeof magic) == "TZif";
}

}  // namespace

bool IsTimeZoneName(std::string_view name) {
  for (;;) {
    const std::size_t slash = name.find('/');
    if (!IsPart(name.substr(0, slash))) return false;
    if (slash == std::string_view::npos) return true;
    name.remove_prefix(slash + 1);
  }
}

std::string TimeZoneError(std::string_view name) {
  if (name.empty() || name == "UTC" || name == "Local") return "";
  const std::string unknown = "unknown time zone " + std::string(name);
  if (!IsTimeZoneName(name)) return unknown;
  std::error_code error;
  if (!std::filesystem::is_directory(kZoneFolder, error)) return "";
  return HasZoneData(std::filesystem::path(kZoneFolder) / name) ? "" : unknown;
}

}  // namespace terrarium::apiserver::strategy

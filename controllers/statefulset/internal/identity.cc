#include "controllers/statefulset/internal/identity.h"

#include <algorithm>
#include <charconv>
#include <cstdint>

namespace terrarium::controllers::statefulset {
namespace {

// The text after the set's name and a dash; empty when the pod is not a member.
std::string_view DigitsOf(std::string_view set, std::string_view pod) {
  const std::size_t dash = pod.rfind('-');
  if (dash == std::string_view::npos || pod.substr(0, dash) != set) return {};
  const std::string_view digits = pod.substr(dash + 1);
  const bool all = std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
  return all ? digits : std::string_view{};
}

}  // namespace

std::string PodName(std::string_view set, int ordinal) {
  return std::string(set) + "-" + std::to_string(ordinal);
}

std::string ClaimName(std::string_view claim_template, std::string_view set, int ordinal) {
  return std::string(claim_template) + "-" + PodName(set, ordinal);
}

bool IsMember(std::string_view set, std::string_view pod) { return !DigitsOf(set, pod).empty(); }

int OrdinalOf(std::string_view set, std::string_view pod) {
  const std::string_view digits = DigitsOf(set, pod);
  if (digits.empty() || (digits.size() > 1 && digits.front() == '0')) return kNoOrdinal;
  std::int32_t ordinal = kNoOrdinal;
  auto [rest, error] = std::from_chars(digits.data(), digits.data() + digits.size(), ordinal);
  return error == std::errc() ? ordinal : kNoOrdinal;
}

}  // namespace terrarium::controllers::statefulset

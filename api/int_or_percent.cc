#include "api/int_or_percent.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace terrarium::api {
namespace {

// Percentages have no upper limit. Capping them at the largest number of replicas keeps the multiplication
// from overflowing.
constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();

// The number before the percent sign; nullopt for any other text.
std::optional<std::int64_t> PercentOf(const std::string& text) {
  std::int64_t percent = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), percent);
  if (error != std::errc() || std::string_view(end) != "%") return std::nullopt;
  return std::clamp<std::int64_t>(percent, 0, kMost);
}

}  // namespace

std::int64_t ResolveIntOrPercent(const Json* int_or_percent, std::int64_t total, Rounding rounding) {
  if (int_or_percent == nullptr) return 0;
  if (int_or_percent->is_number_integer()) return int_or_percent->get<std::int64_t>();
  if (!int_or_percent->is_string()) return 0;
  std::int64_t hundredths = PercentOf(int_or_percent->get_ref<const std::string&>()).value_or(0) * total;
  return std::min((hundredths + (rounding == Rounding::kUp ? 99 : 0)) / 100, kMost);
}

}  // namespace terrarium::api

#include "testbed/scenario/metrics_text.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <map>

namespace terrarium::testbed::scenario {
namespace {

struct Series {
  std::string_view head;  // the name with its labels, as it stands there
  std::map<std::string, std::string> labels;
  double value = 0;
};

// a="b",c="d" with \" \\ and \n inside the quotes.
std::map<std::string, std::string> ParseLabels(std::string_view text) {
  std::map<std::string, std::string> labels;
  while (!text.empty()) {
    const std::size_t equals = text.find("=\"");
    if (equals == std::string_view::npos) break;
    std::string key(text.substr(0, equals)), value;
    std::size_t at = equals + 2;
    for (; at < text.size() && text[at] != '"'; ++at) {
      if (text[at] == '\\' && at + 1 < text.size())
        value += text[++at] == 'n' ? '\n' : text[at];
      else
        value += text[at];
    }
    labels[key] = value;
    text.remove_prefix(std::min(text.size(), at + 1));
    if (text.starts_with(',')) text.remove_prefix(1);
  }
  return labels;
}

void EachSeries(std::string_view text, std::string_view name,
                const std::function<void(const Series&)>& visit) {
  while (!text.empty()) {
    const std::size_t end = text.find('\n');
    std::string_view line = text.substr(0, end);
    text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
    if (!line.starts_with(name)) continue;
    std::string_view rest = line.substr(name.size());
    if (!rest.starts_with('{') && !rest.starts_with(' ')) continue;
    Series series;
    const std::size_t close = rest.starts_with('{') ? rest.rfind('}') : std::string_view::npos;
    if (close != std::string_view::npos) series.labels = ParseLabels(rest.substr(1, close - 1));
    const std::size_t head = close == std::string_view::npos ? 0 : close + 1;
    series.head = line.substr(0, name.size() + head);
    series.value = std::strtod(std::string(rest.substr(head)).c_str(), nullptr);
    visit(series);
  }
}

}  // namespace

std::optional<double> SumOfSeries(std::string_view text, std::string_view name, const api::Json& labels) {
  std::optional<double> sum;
  EachSeries(text, name, [&](const Series& series) {
    for (const auto& [key, value] : labels.items()) {
      auto found = series.labels.find(key);
      if (found == series.labels.end() || value != found->second) return;
    }
    sum = sum.value_or(0) + series.value;
  });
  return sum;
}

std::string SeriesOf(std::string_view text, std::string_view name) {
  constexpr int kShownMax = 5;
  std::string out;
  int seen = 0;
  EachSeries(text, name, [&](const Series& series) {
    if (++seen <= kShownMax) out += (out.empty() ? "" : ", ") + std::string(series.head);
  });
  if (seen > kShownMax) out += " and " + std::to_string(seen - kShownMax) + " more";
  return out;
}

std::string FormatMetric(double value) {
  if (std::floor(value) == value && std::fabs(value) < 1e15)
    return std::to_string(static_cast<std::int64_t>(value));
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  return text;
}

}  // namespace terrarium::testbed::scenario

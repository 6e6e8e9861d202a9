#pragma once

// Reads single series from Prometheus text.

#include <optional>
#include <string>
#include <string_view>

#include "api/json.h"

namespace terrarium::testbed::scenario {

// The sum of all series of that name whose labels include `labels` (an object of strings); nullopt: no such
// series.
std::optional<double> SumOfSeries(std::string_view text, std::string_view name, const api::Json& labels);
// The first few series of that name with their labels, for messages; empty: none.
std::string SeriesOf(std::string_view text, std::string_view name);
std::string FormatMetric(double value);

}  // namespace terrarium::testbed::scenario

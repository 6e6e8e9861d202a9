#pragma once

// Reads Prometheus' text form, as far as a test asks about single series.

#include <optional>
#include <string>
#include <string_view>

#include "api/json.h"

namespace terrarium::testbed::scenario {

// The sum of all series of that name whose labels include `labels` (an object of texts); nullopt: there is
// none.
std::optional<double> SumOfSeries(std::string_view text, std::string_view name, const api::Json& labels);
// The series of that name with their labels, the first few of them, for people; empty: there is none.
std::string SeriesOf(std::string_view text, std::string_view name);
std::string FormatMetric(double value);

}  // namespace terrarium::testbed::scenario

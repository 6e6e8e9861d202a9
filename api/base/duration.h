#pragma once

// Durations as Go writes them: "1h30m", "1.5s", "250ms", "0".

#include <string>
#include <string_view>

#include "api/base/clock.h"

namespace terrarium::api {

struct ParsedDuration {
  Duration value{};
  std::string error;  // Go's words for what is wrong; empty when nothing is
  explicit operator bool() const { return error.empty(); }
};

// Anything that Go's time.ParseDuration reads, negative ones included, to the nearest microsecond.
ParsedDuration ParseDuration(std::string_view text);
// The shortest form in Go's own style: "1h30m0s", "1.5s", "250ms", "0s".
std::string FormatDuration(Duration duration);

}  // namespace terrarium::api

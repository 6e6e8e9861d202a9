#pragma once

// Durations as Go writes them: "1h30m", "1.5s", "250ms", "0".

#include <string>
#include <string_view>

#include "api/base/clock.h"

namespace terrarium::api {

struct ParsedDuration {
  Duration value{};
  std::string error;  // in Go's words; empty on success
  explicit operator bool() const { return error.empty(); }
};

// Accepts what Go's time.ParseDuration accepts, negative durations included. Rounds to the nearest
// microsecond.
ParsedDuration ParseDuration(std::string_view text);
// The shortest form in Go's own style: "1h30m0s", "1.5s", "250ms", "0s".
std::string FormatDuration(Duration duration);

}  // namespace terrarium::api

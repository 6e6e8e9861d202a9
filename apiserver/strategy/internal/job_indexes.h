#pragma once

// Index lists of Indexed Jobs: "0-3,7,9-10".

#include <cstdint>
#include <string>
#include <string_view>

namespace terrarium::apiserver::strategy {

// The number of indexes in the text, or in `error` why it is invalid: not increasing, not below
// `completions`, ...
struct IndexCount {
  std::int64_t total = 0;
  std::string error;
};
IndexCount CountIndexes(std::string_view text, std::int64_t completions);

// "" or the message that both lists name an index. Malformed intervals are skipped.
std::string IndexOverlap(std::string_view completed, std::string_view failed, std::int64_t completions);

}  // namespace terrarium::apiserver::strategy

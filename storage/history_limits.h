#pragma once

#include <cstddef>

namespace terrarium::storage {

// How much of the past a store remembers for watches that resume and lists that page. The oldest events go
// when there are too many of them or when what only they keep alive grows too large; the newest `events_min`
// always stay.
struct HistoryLimits {
  std::size_t events_max = 10'000;
  std::size_t bytes_max = std::size_t{24} << 20;
  std::size_t events_min = 1'000;
};

}  // namespace terrarium::storage

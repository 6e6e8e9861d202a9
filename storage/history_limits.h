#pragma once

#include <cstddef>

namespace terrarium::storage {

// How much history a store keeps, for watches that resume and lists with pages. The oldest events are dropped
// when there are more than `events_max`, or when the objects that only events refer to exceed `bytes_max`;
// the newest `events_min` always stay.
struct HistoryLimits {
  std::size_t events_max = 10'000;
  std::size_t bytes_max = std::size_t{24} << 20;
  std::size_t events_min = 1'000;
};

}  // namespace terrarium::storage

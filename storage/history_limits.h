#pragma once

#include <cstddef>

namespace terrarium::storage {

// How much history a store keeps, for watches that resume and lists with pages. When there are more events
// than `events_max`, or the objects that only events refer to exceed `bytes_max`, the resource with the most
// history gives up its oldest events, so that a busy one (Leases, Events) does not expire the watches of the
// others. `events_min` events stay even if they exceed the bytes.
struct HistoryLimits {
  std::size_t events_max = 10'000;
  std::size_t bytes_max = std::size_t{24} << 20;
  std::size_t events_min = 1'000;
};

}  // namespace terrarium::storage

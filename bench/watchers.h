#pragma once

#include <cstdint>
#include <functional>
#include <string>

namespace terrarium::bench {

struct Fanout {
  std::uint16_t port = 0;
  int watchers = 0;
  int events = 0;
  std::string path;                                     // of the stream
  std::function<std::string(std::uint64_t n)> trigger;  // the request that makes the n-th event
};

// Opens the streams, causes the events and waits until every stream has received all of them.
// Returns deliveries per second.
double MeasureFanout(const Fanout& fanout);

}  // namespace terrarium::bench

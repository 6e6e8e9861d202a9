#pragma once

// The part of a container's log that a client requested.

#include <cstdint>
#include <limits>
#include <memory>
#include <optional>
#include <string>

#include "api/container_log.h"
#include "apiserver/subresources/internal/pod_log_options.h"

namespace terrarium::apiserver {

// Reads a log from its tail on, line by line, as a kubelet does: the tail is counted first, then older lines
// are left out. Not thread-safe.
class LogReader {
 public:
  LogReader(std::shared_ptr<api::ContainerLog> log, const PodLogOptions& options, api::Time now);

  struct Progress {
    bool over = false;              // nothing more will come
    std::optional<api::Time> next;  // when there may be more, besides the end of the container
  };
  // Appends what has been printed by `now`, until `out` has reached about `size_max`.
  Progress Read(api::Time now, std::size_t size_max, std::string& out);

 private:
  std::shared_ptr<api::ContainerLog> log_;
  bool timestamps_;
  api::Time since_ = api::Time::min();
  std::int64_t position_ = 0;
  std::int64_t bytes_left_ = std::numeric_limits<std::int64_t>::max();
};

}  // namespace terrarium::apiserver

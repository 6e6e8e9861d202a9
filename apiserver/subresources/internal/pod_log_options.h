#pragma once

// v1.PodLogOptions: which part of a container's log a client asks for.

#include <cstdint>
#include <optional>
#include <string>

#include "api/base/clock.h"
#include "api/base/status.h"
#include "apiserver/request.h"

namespace terrarium::apiserver {

struct PodLogOptions {
  std::string container;
  bool follow = false;
  bool previous = false;
  bool timestamps = false;
  std::optional<std::int64_t> since_seconds;
  std::optional<api::Time> since_time;
  std::optional<std::int64_t> tail_lines;
  std::optional<std::int64_t> limit_bytes;
};

// From the query. 400 for malformed values, 422 for invalid ones, in the name of the pod.
api::Result<PodLogOptions> ParsePodLogOptions(const Request& request, const std::string& pod);

}  // namespace terrarium::apiserver

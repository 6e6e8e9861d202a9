#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/clock.h"

namespace terrarium::api {

// The output of a container: a text when it starts, and again after each period while it runs.
struct PrintScript {
  std::string text;
  std::optional<Duration> every;
};

// The output of one run of a container. No line is stored: the lines are computed from the script, the start
// and end of the container, and the current time. Thread-safe.
class ContainerLog {
 public:
  // Beyond this only the newest lines are kept, as after the rotation of a log file.
  static constexpr std::int64_t kBytesMax = 10 * 1024 * 1024;

  ContainerLog(PrintScript script, Time started);
  ContainerLog(const ContainerLog&) = delete;
  ContainerLog& operator=(const ContainerLog&) = delete;

  // The container has ended and prints nothing more. Calls after the first change nothing.
  void End(Time finished);

  struct Line {
    Time time;
    std::string_view text;  // with its newline, which the last one may lack; lives as long as the log
  };
  // Lines by their numbers, counted from the start of the container.
  struct Extent {
    std::int64_t begin = 0;
    std::int64_t end = 0;
    std::optional<Time> next;  // when the next line is due
    bool ended = false;
  };
  Extent ExtentAt(Time now) const;
  // REQUIRES: 0 <= number < ExtentAt(...).end
  Line LineAt(std::int64_t number) const;

  // Calls `wake` when the container ends, from the thread that ends it, for as long as the returned handle
  // lives.
  std::shared_ptr<void> OnEnd(std::function<void()> wake);

 private:
  std::int64_t LinesBefore(Time end) const;

  const PrintScript script_;
  const Time started_;
  std::vector<std::string_view> lines_;  // of one print
  mutable std::mutex mutex_;
  std::optional<Time> finished_;                             // guarded by mutex_
  std::vector<std::weak_ptr<std::function<void()>>> wakes_;  // guarded by mutex_
};

}  // namespace terrarium::api

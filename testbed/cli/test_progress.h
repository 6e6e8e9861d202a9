#pragma once

// The output of `terrarium test` while it runs: a line for each scenario in the order of the files, and on a
// terminal a status line with the progress. Thread-safe.

#include <chrono>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "testbed/scenario/run.h"

namespace terrarium::testbed {

class TestProgress {
 public:
  struct Ending {
    scenario::RunReport::Result result;
    std::chrono::microseconds took;
    api::Duration virtual_time;
    std::string details;  // of a failure
  };

  explicit TestProgress(std::vector<std::string> titles);

  void Began(std::size_t index);
  void Ended(std::size_t index, Ending ending);
  // The summary; its last line is "N passed, N failed".
  void Finish();

  int failed() const { return failed_; }

 private:
  void PrintLine(std::size_t index);
  void ShowStatus();
  void ClearStatus();

  const std::vector<std::string> titles_;
  const bool terminal_;
  const bool colours_;
  const std::chrono::steady_clock::time_point began_;
  std::mutex mutex_;
  std::vector<std::optional<Ending>> endings_;
  std::size_t printed_ = 0;
  std::string running_;  // the title of the scenario that began last
  std::vector<std::size_t> failures_;
  int passed_ = 0;
  int failed_ = 0;
  int not_run_ = 0;
};

}  // namespace terrarium::testbed

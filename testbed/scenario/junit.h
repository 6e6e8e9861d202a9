#pragma once

// The results as JUnit XML, for CI systems.

#include <chrono>
#include <string>
#include <vector>

namespace terrarium::testbed::scenario {

struct JUnitCase {
  std::string file;  // becomes the suite and the class name
  std::string name;
  std::chrono::microseconds took{};  // wall-clock time
  enum class Result { kPassed, kFailed, kSkipped };
  Result result = Result::kPassed;
  std::string message = {};  // of a failure: one line
  std::string details = {};  // of a failure: the full text
};

// A suite for each file, in the order of the cases.
std::string JUnitXml(const std::vector<JUnitCase>& cases);

}  // namespace terrarium::testbed::scenario

#pragma once

// What happened, in the XML that continuous integration reads.

#include <chrono>
#include <string>
#include <vector>

namespace terrarium::testbed::scenario {

struct JUnitCase {
  std::string file;  // becomes the suite and the class name
  std::string name;
  std::chrono::microseconds took{};  // in the world
  enum class Result { kPassed, kFailed, kSkipped };
  Result result = Result::kPassed;
  std::string message = {};  // of a failure: one line
  std::string details = {};  // of a failure: all of it
};

// A suite for each file, in the order of the cases.
std::string JUnitXml(const std::vector<JUnitCase>& cases);

}  // namespace terrarium::testbed::scenario

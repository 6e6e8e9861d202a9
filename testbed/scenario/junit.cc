#include "testbed/scenario/junit.h"

#include <cstdio>
#include <map>

namespace terrarium::testbed::scenario {
namespace {

// Text for XML, without the control characters that it cannot hold.
std::string Escaped(const std::string& text) {
  std::string out;
  for (char c : text) {
    switch (c) {
      case '&': out += "&amp;"; break;
      case '<': out += "&lt;"; break;
      case '>': out += "&gt;"; break;
      case '"': out += "&quot;"; break;
      case '\n': out += "&#10;"; break;
      case '\t': out += "&#9;"; break;
      default:
        if (static_cast<unsigned char>(c) >= 0x20) out += c;
    }
  }
  return out;
}

std::string Seconds(std::chrono::microseconds time) {
  char text[32];
  std::snprintf(text, sizeof text, "%.3f", std::chrono::duration<double>(time).count());
  return text;
}

struct Totals {
  int tests = 0, failures = 0, skipped = 0;
  std::chrono::microseconds took{};

  void Add(const JUnitCase& each) {
    ++tests;
    failures += each.result == JUnitCase::Result::kFailed ? 1 : 0;
    skipped += each.result == JUnitCase::Result::kSkipped ? 1 : 0;
    took += each.took;
  }
  std::string Attributes() const {
    return " tests=\"" + std::to_string(tests) + "\" failures=\"" + std::to_string(failures) +
           "\" errors=\"0\" skipped=\"" + std::to_string(skipped) + "\" time=\"" + Seconds(took) + "\"";
  }
};

std::string CaseXml(const JUnitCase& each) {
  std::string out = "    <testcase classname=\"" + Escaped(each.file) + "\" name=\"" + Escaped(each.name) +
                    "\" time=\"" + Seconds(each.took) + "\"";
  if (each.result == JUnitCase::Result::kPassed) return out + "/>\n";
  if (each.result == JUnitCase::Result::kSkipped) return out + "><skipped/></testcase>\n";
  return out + ">\n      <failure message=\"" + Escaped(each.message) + "\">" + Escaped(each.details) +
         "</failure>\n    </testcase>\n";
}

}  // namespace

std::string JUnitXml(const std::vector<JUnitCase>& cases) {
  Totals all;
  std::vector<std::string> files;  // in their order
  std::map<std::string, std::pair<Totals, std::string>> suites;
  for (const JUnitCase& each : cases) {
    all.Add(each);
    auto [suite, fresh] = suites.try_emplace(each.file);
    if (fresh) files.push_back(each.file);
    suite->second.first.Add(each);
    suite->second.second += CaseXml(each);
  }
  std::string out =
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites name=\"terrarium\"" + all.Attributes() + ">\n";
  for (const std::string& file : files) {
    const auto& [totals, text] = suites[file];
    out += "  <testsuite name=\"" + Escaped(file) + "\"" + totals.Attributes() + ">\n" + text +
           "  </testsuite>\n";
  }
  return out + "</testsuites>\n";
}

}  // namespace terrarium::testbed::scenario

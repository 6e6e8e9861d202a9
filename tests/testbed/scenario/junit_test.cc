#include "testbed/scenario/junit.h"

#include <gtest/gtest.h>

namespace terrarium::testbed::scenario {
namespace {

using namespace std::chrono_literals;

TEST(JUnit, ASuiteForEachFileWithItsTotals) {
  std::vector<JUnitCase> cases{
      {"a.yaml", "passes", 1500us},
      {"b.yaml", "skipped", 0us, JUnitCase::Result::kSkipped},
      {"a.yaml", "fails <&\">", 500us, JUnitCase::Result::kFailed, "1 < 2", "line 1\nline\x01 2\n"},
  };
  EXPECT_EQ(JUnitXml(cases), R"(<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="terrarium" tests="3" failures="1" errors="0" skipped="1" time="0.002">
  <testsuite name="a.yaml" tests="2" failures="1" errors="0" skipped="0" time="0.002">
    <testcase classname="a.yaml" name="passes" time="0.002"/>
    <testcase classname="a.yaml" name="fails &lt;&amp;&quot;&gt;" time="0.001">
      <failure message="1 &lt; 2">line 1&#10;line 2&#10;</failure>
    </testcase>
  </testsuite>
  <testsuite name="b.yaml" tests="1" failures="0" errors="0" skipped="1" time="0.000">
    <testcase classname="b.yaml" name="skipped" time="0.000"><skipped/></testcase>
  </testsuite>
</testsuites>
)");
}

}  // namespace
}  // namespace terrarium::testbed::scenario

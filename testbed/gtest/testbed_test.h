#pragma once

// A fixture with a plane in it:
//
//   class Rollout : public terrarium::testing::TestbedTest {
//     TestbedOptions Options() override { return {.seed = 7, .nodes = 2}; }
//   };
//   TEST_F(Rollout, Ends) {
//     bed().Must(bed().Apply(kManifests));
//     ...
//
// A test that fails shows the end of its plane's timeline, once, and the XML report has it as a property of the test. A
// broken invariant fails the test where it is noticed, with the records of why, and the test goes on.

#include <cstddef>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "testbed/gtest/matchers.h"
#include "testbed/testbed.h"

namespace terrarium::testing {

class TestbedTest : public ::testing::Test {
 public:
  ~TestbedTest() override;

 protected:
  // What bed() is made with. An on_violation that is set is left alone.
  virtual testbed::TestbedOptions Options() { return {}; }
  // Which part of the timeline a failure shows.
  virtual testbed::TimelineQuery ShownTimeline() { return {.before = 60}; }

  // Made when it is first asked for, and gone after the test.
  testbed::Testbed& bed();
  // Ends the plane of bed() and makes it anew with these: for tests that go over several seeds or gates.
  testbed::Testbed& Restart(testbed::TestbedOptions options);

  // A fixture that has its own calls this one.
  void TearDown() override;

 private:
  void Make(testbed::TestbedOptions options);
  // Shows the timeline if anything has failed since it was last shown.
  void ShowTimeline();

  std::unique_ptr<testbed::Testbed> bed_;
  std::uint64_t seed_ = 0;
  int shown_failures_ = 0;
};

}  // namespace terrarium::testing

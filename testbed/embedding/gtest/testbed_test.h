#pragma once

// A GoogleTest fixture that owns a control plane:
//
//   class Rollout : public terrarium::testing::TestbedTest {
//     TestbedOptions Options() override { return {.seed = 7, .nodes = 2}; }
//   };
//   TEST_F(Rollout, Ends) {
//     bed().Must(bed().Apply(kManifests));
//     ...
//
// A failed test prints the end of its control plane's timeline once and records it as a property in the XML
// report. A broken invariant adds a non-fatal failure at the point of detection, with the controllers'
// decision records.

#include <cstddef>
#include <memory>
#include <string>

#include <gtest/gtest.h>

#include "testbed/embedding/gtest/matchers.h"
#include "testbed/embedding/testbed.h"

namespace terrarium::testing {

class TestbedTest : public ::testing::Test {
 public:
  ~TestbedTest() override;

 protected:
  // The options of bed(). The fixture sets on_violation only if it is empty.
  virtual testbed::TestbedOptions Options() { return {}; }
  // The part of the timeline that a failed test prints.
  virtual testbed::TimelineQuery ShownTimeline() { return {.before = 60}; }

  // Created by the first call and destroyed after the test.
  testbed::Testbed& bed();
  // Destroys the control plane of bed() and creates another one with `options`: for tests over several seeds
  // or feature gates.
  testbed::Testbed& Restart(testbed::TestbedOptions options);

  // A fixture that overrides this must call it.
  void TearDown() override;

 private:
  void Make(testbed::TestbedOptions options);
  // Prints the timeline if the test has failed since the last call.
  void ShowTimeline();

  std::unique_ptr<testbed::Testbed> bed_;
  std::uint64_t seed_ = 0;
  int shown_failures_ = 0;
};

}  // namespace terrarium::testing

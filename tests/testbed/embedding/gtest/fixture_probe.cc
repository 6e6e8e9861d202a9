// Tests that mostly fail, on purpose: fixture_test.py runs them and checks their output.

#include <chrono>

#include <gtest/gtest.h>

#include "api/write_request.h"
#include "apiserver/in_process_client.h"
#include "controllers/runtime/why.h"
#include "testbed/embedding/gtest/testbed_test.h"
#include "testbed/invariants/monitor.h"

namespace terrarium::testing {
namespace {

using namespace std::chrono_literals;
using testbed::TestbedOptions;

class Probe : public TestbedTest {
 protected:
  TestbedOptions Options() override {
    return {.seed = 77, .controllers = "-*", .kubelet = false, .scheduler = false, .nodes = 0};
  }
  void Write(const std::string& value) {
    bed().Must(
        bed().Apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {k: '" + value + "'}}"));
    bed().clock().Advance(1s);
  }
};

TEST_F(Probe, Passes) { Write("quiet"); }

TEST_F(Probe, FailsTwice) {
  Write("first");
  EXPECT_EQ(1, 2) << "one";
  Write("second");
  EXPECT_EQ(1, 2) << "two";
}

TEST_F(Probe, FailsInTheFirstOfTwoClusters) {
  Write("older");
  EXPECT_EQ(1, 2) << "one";
  TestbedOptions options = Options();
  options.seed = 78;
  Restart(options);
  Write("newer");
}

TEST_F(Probe, FailsWithoutACluster) { EXPECT_EQ(1, 2); }

TEST_F(Probe, BreaksAnInvariantAndGoesOn) {
  Write("v");
  controllers::WhyRecord record;
  record.action = "scale";
  record.resource = "configmaps";
  record.object = {"default", "c"};
  record.rule = "because of the moon";
  bed().why().Record(record);
  testbed::ControlPlane& control_plane = bed().control_plane();
  auto client = bed().monitor().Watched(
      apiserver::MakeInProcessClient(control_plane.env(), control_plane.handler(), control_plane.store(), {}),
      "controller-manager");
  for (int i = 0; i < 2; ++i) {
    client->Send(api::RequestToPatch("configmaps", {"default", "c"}, {{"data", {{"k", "w"}}}}, ""),
                 [](api::Client::Written) {});
    bed().clock().Settle();
  }
  std::puts("and goes on");
}

}  // namespace
}  // namespace terrarium::testing

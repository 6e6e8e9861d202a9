#include "api/storage_v1/volume_script.h"

#include <chrono>

#include <gtest/gtest.h>

namespace terrarium::api {
namespace {

using namespace std::chrono_literals;

VolumeScript Script(const Json& parameters) { return ReadVolumeScript({{"parameters", parameters}}); }

std::string Why(const std::string& name, const std::string& value) {
  const auto errors = CheckVolumeScript({{"terrarium.dev/" + name, value}});
  return errors.empty() ? "" : errors[0].why;
}

TEST(VolumeScript, WithoutParametersTheDriverActsImmediately) {
  const VolumeScript script = Script({{"type", "ssd"}});
  EXPECT_TRUE(script.provision);
  EXPECT_EQ(script.provisioning.delay, 0s);
  EXPECT_FALSE(script.provisioning.Fails(0));
}

TEST(VolumeScript, EachOperationHasItsParameters) {
  const VolumeScript script = Script({{"terrarium.dev/provision-delay", "1m30s"},
                                      {"terrarium.dev/provision-error", "full"},
                                      {"terrarium.dev/provision-failures", "2"},
                                      {"terrarium.dev/delete-error", "attached"},
                                      {"terrarium.dev/topology", "zone"},
                                      {"terrarium.dev/resize-delay", "5s"}});
  EXPECT_EQ(script.provisioning.delay, 90s);
  EXPECT_TRUE(script.provisioning.Fails(1));
  EXPECT_FALSE(script.provisioning.Fails(2));
  EXPECT_TRUE(script.deletion.Fails(1000)) << "without a number it always fails";
  EXPECT_EQ(script.resizing.delay, 5s);
  EXPECT_EQ(script.topology, "zone");
  EXPECT_FALSE(Script({{"terrarium.dev/provision", "false"}}).provision);
}

TEST(VolumeScript, InvalidParametersAreExplained) {
  EXPECT_EQ(Why("provision-delay", "10s"), "");
  EXPECT_EQ(Why("provision-delay", "soon"), "time: invalid duration \"soon\"");
  EXPECT_EQ(Why("provision-delay", "-1s"), "must not be negative");
  EXPECT_EQ(Why("delete-failures", "0"), "must be a number from 1 to 1000");
  EXPECT_EQ(Why("delete-failures", "2x"), "must be a number from 1 to 1000");
  EXPECT_EQ(Why("provision", "no"), "must be \"true\" or \"false\"");
  EXPECT_EQ(Why("resize-error", ""), "must not be empty");
  EXPECT_EQ(Why("speed", "9"), "unknown parameter");
  EXPECT_TRUE(CheckVolumeScript({{"speed", "9"}}).empty()) << "a parameter of a real driver";
}

}  // namespace
}  // namespace terrarium::api

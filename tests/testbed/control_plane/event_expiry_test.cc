// How long Events live: an hour after they were last written, and up to half a minute more.

#include <filesystem>

#include <gtest/gtest.h>
#include <spdlog/sinks/null_sink.h>
#include <spdlog/spdlog.h>

#include "api/json_access.h"
#include "api/write_request.h"
#include "testbed/control_plane/control_plane.h"
#include "testbed/embedding/testbed.h"
#include "testbed/runtime/simulation.h"

namespace terrarium::testbed {
namespace {

using api::Json;
using namespace std::chrono_literals;

Json EventNamed(const std::string& name, const std::string& at) {
  return {{"metadata", {{"name", name}, {"namespace", "default"}}},
          {"involvedObject", {{"kind", "Pod"}, {"namespace", "default"}, {"name", "web"}}},
          {"reason", "Test"},
          {"lastTimestamp", at}};
}

class EventExpiryTest : public ::testing::Test {
 protected:
  void Create(const std::string& name) {
    bed.Must(bed.Create("events", "default", EventNamed(name, api::FormatTime(bed.Now()))));
  }
  bool Exists(const std::string& name) { return bed.Get("events", "default", name) != nullptr; }

  Testbed bed{{.controllers = "-*", .kubelet = false, .scheduler = false, .nodes = 0}};
};

TEST_F(EventExpiryTest, AnEventGoesAnHourAfterItWasWritten) {
  Create("a");
  bed.clock().Advance(1h);
  EXPECT_TRUE(Exists("a"));
  bed.clock().Advance(30s);
  EXPECT_FALSE(Exists("a"));
}

TEST_F(EventExpiryTest, AnUpdateStartsTheHourAgain) {
  Create("a");
  bed.clock().Advance(40min);
  bed.Must(bed.Patch("events", {"default", "a"}, {{"count", 2}}));
  bed.clock().Advance(50min);
  EXPECT_TRUE(Exists("a"));
  bed.clock().Advance(11min);
  EXPECT_FALSE(Exists("a"));
}

TEST_F(EventExpiryTest, WatchesSeeTheDeletion) {
  Create("a");
  storage::Store& store = bed.control_plane().store();
  auto watch = store.StartWatch({.resource = "events", .from_revision = store.CurrentRevision()});
  ASSERT_TRUE(watch.ok());
  bed.clock().Advance(2h);
  std::vector<storage::Event> events;
  (*watch)->Take(10, events);
  ASSERT_EQ(events.size(), 1u);
  EXPECT_EQ(events[0].type, storage::EventType::kDeleted);
  EXPECT_EQ(events[0].object->header().name, "a");
  EXPECT_EQ(events[0].revision(), store.CurrentRevision());
}

TEST_F(EventExpiryTest, TheClusterIsIdleAndHasNoTimerOnceAllAreGone) {
  EXPECT_EQ(bed.clock().AdvanceToNextTimer().why, RunOutcome::Why::kNoTimer);
  Create("a");
  EXPECT_EQ(bed.clock().RunUntilIdle(24h).why, RunOutcome::Why::kIdle);
  EXPECT_TRUE(Exists("a"));
  bed.clock().Advance(2h);
  EXPECT_EQ(bed.clock().AdvanceToNextTimer().why, RunOutcome::Why::kNoTimer);
}

TEST_F(EventExpiryTest, AThousandEventsNeedFewTimers) {
  for (int i = 0; i < 1'000; ++i) Create("e" + std::to_string(i));
  EXPECT_LE(bed.clock().Advance(2h).timers_fired, 3);
  EXPECT_EQ(bed.List("events").size(), 0u);
}

TEST_F(EventExpiryTest, OtherObjectsStay) {
  bed.Must(bed.Create("configmaps", "default", {{"metadata", {{"name", "a"}}}}));
  bed.clock().Advance(48h);
  EXPECT_NE(bed.Get("configmaps", "default", "a"), nullptr);
}

// Runs a server on `file` at `time`: creates the Events that are given and returns how many there are.
std::size_t EventsIn(const std::string& file, api::Time time, std::vector<Json> events) {
  spdlog::logger log("terrarium", std::make_shared<spdlog::sinks::null_sink_mt>());
  Simulation simulation(time, 1);
  ComponentOptions components;
  components.controllers = "-*";
  components.kubelet = components.scheduler = false;
  ControlPlaneOptions options;
  options.data_file = file;
  options.durability = storage::Durability::kOff;
  auto made = ControlPlane::Make(simulation.runtime(), log, options, components);
  EXPECT_TRUE(made.ok());
  for (Json& event : events)
    (*made)->handler().Write(api::RequestToCreate("events", "default", std::move(event)), {},
                             [](const api::Client::Written& written) { EXPECT_TRUE(written.ok()); });
  simulation.clock().Settle();
  (*made)->Shutdown();
  const std::size_t count = (*made)->store().Count("events");
  simulation.runtime().Shutdown();
  return count;
}

TEST(EventExpiryOfAFile, EventsThatHaveOutlivedTheirHourGoWhenTheServerStarts) {
  const std::string folder = ::testing::TempDir() + "/event-expiry";
  std::filesystem::create_directories(folder);
  const std::string file = folder + "/cluster.db";
  std::filesystem::remove(file);
  const api::Time start(std::chrono::seconds(1'767'225'600));
  const std::string future = api::FormatTime(start + 24h * 365);
  EXPECT_EQ(EventsIn(file, start, {EventNamed("old", api::FormatTime(start)), EventNamed("odd", future)}),
            2u);
  EXPECT_EQ(EventsIn(file, start + 30min, {EventNamed("new", api::FormatTime(start + 30min))}), 3u);
  EXPECT_EQ(EventsIn(file, start + 62min, {}), 2u) << "the one of the future counts from each start";
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace terrarium::testbed

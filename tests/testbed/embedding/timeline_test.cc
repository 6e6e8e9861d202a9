#include "testbed/embedding/timeline.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/duration.h"
#include "testbed/embedding/document_changes.h"
#include "testbed/embedding/testbed.h"

namespace terrarium::testbed {
namespace {

using namespace std::chrono_literals;
using api::Json;
using ::testing::AllOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::Field;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::vector<std::string> Changes(const char* before, const char* after) {
  std::vector<std::string> out;
  for (const FieldChange& change : ChangesBetween(Json::parse(before), Json::parse(after)))
    out.push_back(change.String());
  return out;
}

TEST(DocumentChanges, NameTheFieldWhatItWasAndWhatItIs) {
  EXPECT_THAT(Changes(R"({"status":{"replicas":3}})", R"({"status":{"replicas":4}})"),
              ElementsAre("status.replicas 3 -> 4"));
  EXPECT_THAT(
      Changes(R"({"metadata":{"labels":{"a":"1"}},"spec":{}})",
              R"({"metadata":{"labels":{"a.b/c":"2"}},"spec":{"x":true}})"),
      ElementsAre("spec.x none -> true", "metadata.labels.a 1 -> none", "metadata.labels[a.b/c] none -> 2"));
  EXPECT_THAT(Changes(R"({})", R"({"status":{"phase":"Pending","x":{"y":1}}})"),
              ElementsAre("status.phase none -> Pending", "status.x.y none -> 1"));
}

TEST(DocumentChanges, DistinguishItemsOfListsByTheirNames) {
  EXPECT_THAT(
      Changes(
          R"({"status":{"conditions":[{"type":"A","status":"True"},{"type":"B","status":"True"}]}})",
          R"({"status":{"conditions":[{"type":"B","status":"False","reason":"No","lastTransitionTime":"x"},
                          {"type":"C","status":"True","reason":"Yes"}]}})"),
      ElementsAre("status.conditions[A] True -> none", "status.conditions[B] True -> False (No)",
                  "status.conditions[C] none -> True (Yes)"));
  EXPECT_THAT(Changes(R"({"status":{"conditions":[{"type":"A","status":"True","message":"x"}]}})",
                      R"({"status":{"conditions":[{"type":"A","status":"True","message":"y"}]}})"),
              ElementsAre("status.conditions[A].message x -> y"));
  EXPECT_THAT(Changes(R"({"l":[1,2]})", R"({"l":[1,2,3]})"), ElementsAre("l [1,2] -> [1,2,3]"));
}

TEST(DocumentChanges, LeaveOutNoise) {
  EXPECT_THAT(
      Changes(
          R"({"metadata":{"resourceVersion":"1"},"status":{"conditions":[{"type":"A","lastHeartbeatTime":"1"}]}})",
          R"({"metadata":{"resourceVersion":"2"},"status":{"conditions":[{"type":"A","lastHeartbeatTime":"2"}]}})"),
      IsEmpty());
}

TEST(DocumentChanges, ADeletionComesFirst) {
  EXPECT_THAT(
      Changes(R"({"metadata":{},"spec":{"a":1}})",
              R"({"metadata":{"deletionTimestamp":"T","deletionGracePeriodSeconds":30},"spec":{"a":2}})"),
      ElementsAre("terminating, until T", "spec.a 1 -> 2"));
}

TEST(DocumentChanges, ASummaryCountsWhatItDoesNotShow) {
  std::vector<FieldChange> changes(7, {"a", 1, 2});
  EXPECT_EQ(Summary(changes), "a 1 -> 2, a 1 -> 2, a 1 -> 2, a 1 -> 2, a 1 -> 2, and 2 more");
  EXPECT_EQ(FieldChange({"a", nullptr, std::string(60, 'x')}).String(),
            "a none -> " + std::string(45, 'x') + "...");
}

constexpr const char* kWeb = R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: web}
spec:
  replicas: 2
  selector: {matchLabels: {app: web}}
  template:
    metadata: {labels: {app: web}}
    spec: {containers: [{name: c, image: i}]}
)";

TEST(Timeline, ListsEventsInOrderWithTheirOrigin) {
  Testbed bed({.nodes = 1});
  bed.clock().Advance(10s);
  bed.Must(bed.Apply(kWeb));
  bed.clock().RunUntilIdle(1min);
  bed.timeline().Note("test", "step", "scale to 3", {{"replicas", 3}});
  bed.Must(bed.Patch("deployments", {"default", "web"}, {{"spec", {{"replicas", 3}}}}));
  bed.clock().RunUntilIdle(1min);

  std::vector<TimelineEntry> entries = bed.timeline().Read({.from = bed.timeline().start() + 10s});
  SCOPED_TRACE(bed.timeline().TextOf(entries));
  using Entry = TimelineEntry;
  EXPECT_EQ(entries.front().who, "test");
  EXPECT_EQ(entries.front().what, "create");
  EXPECT_EQ(entries.front().resource, "deployments");
  EXPECT_EQ(entries.front().text, "replicas 2");
  EXPECT_EQ(entries.front().time, bed.timeline().start() + 10s);
  EXPECT_THAT(entries, Contains(AllOf(Field(&Entry::kind, Entry::Kind::kWrite),
                                      Field(&Entry::who, "controller-manager"),
                                      Field(&Entry::resource, "replicasets"), Field(&Entry::what, "create"),
                                      Field(&Entry::text, HasSubstr("of Deployment web")))));
  EXPECT_THAT(entries, Contains(AllOf(Field(&Entry::kind, Entry::Kind::kWrite), Field(&Entry::who, "kubelet"),
                                      Field(&Entry::resource, "pods"),
                                      Field(&Entry::text, HasSubstr("status.phase Pending -> Running")))));
  EXPECT_THAT(
      entries,
      Contains(AllOf(Field(&Entry::kind, Entry::Kind::kEvent), Field(&Entry::who, "deployment-controller"),
                     Field(&Entry::what, "ScalingReplicaSet"), Field(&Entry::resource, "Deployment"))));
  EXPECT_THAT(entries, Contains(AllOf(Field(&Entry::kind, Entry::Kind::kWhy),
                                      Field(&Entry::who, "replicaset-controller"),
                                      Field(&Entry::what, "why create"))));
  EXPECT_THAT(entries,
              Contains(AllOf(Field(&Entry::kind, Entry::Kind::kNote), Field(&Entry::text, "scale to 3"))));
  EXPECT_THAT(entries, Not(Contains(Field(&Entry::resource, "leases"))));
  for (std::size_t i = 1; i < entries.size(); ++i) ASSERT_LE(entries[i - 1].time, entries[i].time);

  auto note = std::find_if(entries.begin(), entries.end(),
                           [](const Entry& e) { return e.kind == Entry::Kind::kNote; });
  ASSERT_LT(note + 1, entries.end());
  EXPECT_EQ((note + 1)->text, "spec.replicas 2 -> 3");
  EXPECT_EQ((note + 1)->who, "test");

  // A decision comes before its writes.
  auto why =
      std::find_if(entries.begin(), entries.end(), [](const Entry& e) { return e.what == "why create"; });
  ASSERT_LT(why + 1, entries.end());
  EXPECT_EQ((why + 1)->what, "create");
  EXPECT_EQ((why + 1)->object, why->object);

  std::vector<Entry> some = bed.timeline().Read({.around = (note + 1)->revision, .before = 2, .after = 3});
  ASSERT_EQ(some.size(), 5u);
  EXPECT_EQ(some[0].text, "scale to 3");
  EXPECT_EQ(some[1].text, "spec.replicas 2 -> 3");
  EXPECT_EQ(bed.timeline().Read({.before = 4}).size(), 4u);
}

TEST(Timeline, ReadsWellAsTextAndAsJson) {
  Testbed bed({.controllers = "-*", .kubelet = false, .scheduler = false, .nodes = 0});
  api::Time from = bed.Now() + 90s;
  bed.clock().Advance(90s);
  bed.Must(bed.Apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: settings}, data: {a: '1'}}"));
  bed.Must(bed.Patch("configmaps", {"default", "settings"}, {{"data", {{"a", "2"}}}}));
  bed.timeline().Note("kubelet", "crash", "");
  std::vector<TimelineEntry> entries = bed.timeline().Read({.from = from});
  std::int64_t revision = ObjectView(bed.Get("configmaps", "default", "settings")).revision();
  std::string newer = std::to_string(revision), older = std::to_string(revision - 1);
  EXPECT_EQ(bed.timeline().TextOf(entries),
            "since 2026-01-01T00:00:00Z:\n"
            "SINCE  REVISION  WHO      WHAT    OBJECT                       DETAILS\n"
            "1m30s        " +
                older +
                "  test     create  configmaps default/settings\n"
                "1m30s        " +
                newer +
                "  test     update  configmaps default/settings  data.a 1 -> 2\n"
                "1m30s        " +
                newer + "  kubelet  crash\n");
  Json json = Timeline::ToJson(entries);
  EXPECT_EQ(json[1], Json({{"kind", "write"},
                           {"time", "2026-01-01T00:01:30.000000Z"},
                           {"revision", revision},
                           {"who", "test"},
                           {"what", "update"},
                           {"resource", "configmaps"},
                           {"namespace", "default"},
                           {"name", "settings"},
                           {"text", "data.a 1 -> 2"},
                           {"details", Json::array({{{"path", "data.a"}, {"from", "1"}, {"to", "2"}}})}}));
}

TEST(Timeline, ListsInterventionsInComponents) {
  Testbed bed({.nodes = 1});
  bed.Must(bed.Crash("kubelet"));
  bed.clock().Advance(5s);
  bed.Must(bed.Start("kubelet"));
  bed.Must(bed.SetGates("controller-manager", {{"PodDeletionCost", false}, {"LogarithmicScaleDown", false}}));
  EXPECT_FALSE(bed.Start("kubelet").ok()) << "what is refused has not happened";
  std::vector<std::string> notes;
  for (const TimelineEntry& entry : bed.timeline().Read())
    if (entry.kind == TimelineEntry::Kind::kNote)
      notes.push_back(api::FormatDuration(entry.time - bed.timeline().start()) + " " + entry.who + " " +
                      entry.what + " " + entry.text);
  EXPECT_THAT(
      notes,
      ElementsAre("0s kubelet crash ", "5s kubelet start ",
                  "5s controller-manager feature-gates LogarithmicScaleDown=false,PodDeletionCost=false"));
}

TEST(Timeline, ReadsAsFarBackAsTheStoreRemembers) {
  Testbed bed({.controllers = "-*", .kubelet = false, .scheduler = false, .nodes = 0});
  bed.Must(bed.Apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}"));
  std::int64_t revision = bed.control_plane().store().CurrentRevision();
  bed.Must(bed.Apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: b}}"));
  bed.control_plane().store().Compact(revision);
  std::vector<TimelineEntry> entries = bed.timeline().Read();
  ASSERT_EQ(entries.size(), 1u);
  EXPECT_EQ(entries[0].object.name, "b");
}

}  // namespace
}  // namespace terrarium::testbed

#include "controllers/runtime/event_recorder.h"

#include <gtest/gtest.h>

#include "api/base/errors.h"
#include "api/json_access.h"
#include "tests/controllers/runtime/fake_client.h"
#include "tests/controllers/runtime/fake_runtime.h"

namespace terrarium::controllers {
namespace {

using api::Json;
using api::ObjectPtr;
using api::WriteRequest;
using controllers_testing::FakeClient;
using controllers_testing::FakeRuntime;
using std::chrono::minutes;
using std::chrono::seconds;

// A lane that runs posted work immediately, so that a test sees the consequences of a record before the
// apiserver answers.
class InlineLane : public api::Executor {
 public:
  explicit InlineLane(api::Executor& timers) : timers_(timers) {}
  void Post(std::function<void()> work) override { work(); }
  api::TimerId PostTimer(api::TimerKind kind, api::Duration delay, std::function<void()> work) override {
    return timers_.PostTimer(kind, delay, std::move(work));
  }
  bool Cancel(api::TimerId id) override { return timers_.Cancel(id); }

 private:
  api::Executor& timers_;
};

api::Env WithLane(const api::Env& env, api::Executor& lane) {
  return {env.clock, lane, env.prng, env.gates, env.log};
}

class EventRecorderTest : public ::testing::Test {
 protected:
  static ObjectReference Pod(const std::string& name = "web") {
    return {.api_version = "v1",
            .kind = "Pod",
            .ns = "default",
            .name = name,
            .uid = "uid-" + name,
            .resource_version = "7"};
  }
  void Record(const std::string& message = "hello", const ObjectReference& about = Pod(),
              std::string_view type = kNormal, std::string_view reason = "Started") {
    recorder_.Record(source_, about, type, reason, message);
  }
  void Write(const std::string& message) {
    Record(message);
    runtime_.RunReady();
  }
  std::vector<Json> Events() {
    std::vector<Json> events;
    api::ObjectList list = *client_.List("events", std::nullopt);
    for (const ObjectPtr& object : list.items) events.push_back(object->Parse());
    return events;
  }
  // "message xCOUNT" of each, sorted.
  std::set<std::string> Messages() {
    std::set<std::string> messages;
    for (const Json& event : Events())
      messages.insert(event["message"].get<std::string>() + " x" + std::to_string(event["count"].get<int>()));
    return messages;
  }

  FakeRuntime runtime_;
  FakeClient client_{runtime_};
  EventRecorder::Source source_{.component = "kubelet", .host = "node-1"};
  InlineLane lane_{runtime_};
  EventRecorder recorder_{WithLane(runtime_.env(), lane_), client_};
};

TEST_F(EventRecorderTest, WritesOnItsOwnLaneWithTheTimeOfTheRecord) {
  EventRecorder recorder(runtime_.env(), client_);
  recorder.Record(source_, Pod(), kNormal, "Started", "hello");
  EXPECT_TRUE(client_.writes.empty());
  runtime_.Advance(std::chrono::seconds(0));
  ASSERT_EQ(Events().size(), 1u);
  EXPECT_EQ(Events()[0]["firstTimestamp"], api::FormatTime(FakeRuntime::kStart));
}

TEST_F(EventRecorderTest, WritesTheEventAsClientGoDoes) {
  ObjectReference about = Pod();
  about.field_path = "spec.containers{web}";
  Record("Container started", about);
  ASSERT_EQ(client_.writes.size(), 1u);
  const WriteRequest& write = client_.writes[0];
  EXPECT_EQ(write.verb, WriteRequest::Verb::kCreate);
  EXPECT_EQ(write.resource, "events");
  EXPECT_EQ(write.object, (api::ObjectName{"default", ""}));
  Json body = write.body;
  const std::string name = body["metadata"]["name"];
  body["metadata"].erase("name");
  EXPECT_EQ(body, Json::parse(R"({
    "metadata": {"namespace": "default"},
    "involvedObject": {"apiVersion": "v1", "kind": "Pod", "namespace": "default", "name": "web", "uid": "uid-web",
                       "resourceVersion": "7", "fieldPath": "spec.containers{web}"},
    "reason": "Started", "message": "Container started", "type": "Normal", "count": 1,
    "source": {"component": "kubelet", "host": "node-1"},
    "reportingComponent": "kubelet", "reportingInstance": "node-1",
    "firstTimestamp": "2026-01-01T00:00:00Z", "lastTimestamp": "2026-01-01T00:00:00Z"})"));
  // The object's name and the nanoseconds since 1970 in hexadecimal.
  ASSERT_EQ(name.substr(0, 4), "web.");
  std::int64_t nanoseconds = std::stoll(name.substr(4), nullptr, 16);
  EXPECT_EQ(nanoseconds / 1000, runtime_.Now().time_since_epoch().count());
}

TEST_F(EventRecorderTest, EventAboutAThingWithoutANamespaceIsInDefault) {
  source_ = {.component = "node-controller"};
  Record("gone", {.api_version = "v1", .kind = "Node", .ns = "", .name = "node-1", .uid = "node-1"},
         kWarning);
  const Json& body = client_.writes.at(0).body;
  EXPECT_EQ(client_.writes[0].object.ns, "default");
  EXPECT_EQ(body["metadata"]["namespace"], "default");
  EXPECT_FALSE(body["involvedObject"].contains("namespace"));
  EXPECT_FALSE(body["involvedObject"].contains("resourceVersion"));
  EXPECT_EQ(body["source"], (Json{{"component", "node-controller"}}));
  EXPECT_EQ(body["reportingInstance"], "");
  EXPECT_EQ(body["type"], "Warning");
}

TEST_F(EventRecorderTest, EventsOfOneInstantHaveDifferentNames) {
  for (const char* reason : {"Pulling", "Pulled", "Created", "Started"}) Record("x", Pod(), kNormal, reason);
  runtime_.RunReady();
  EXPECT_EQ(Events().size(), 4u);
}

TEST_F(EventRecorderTest, RecordersThatPickTheSameNameFindAnother) {
  EventRecorder others(runtime_.env(), client_);
  // Both count on from the same instant, so that their names collide sooner or later.
  for (int i = 0; i < 1100; ++i) {
    std::string reason = "R" + std::to_string(i % 20);
    ObjectReference about = Pod("p");
    about.uid = "uid-" + std::to_string(i / 20);
    recorder_.Record({.component = "a"}, about, kNormal, reason, "x");
    others.Record({.component = "b"}, about, kNormal, reason, "x");
  }
  runtime_.RunReady();
  EXPECT_EQ(Events().size(), 2200u);
  EXPECT_GT(client_.writes.size(), 2200u) << "no name was taken: this test shows nothing";
}

TEST_F(EventRecorderTest, NameThatWouldBeInvalidIsAUuid) {
  Record("x", Pod("system:node"));
  Record("x", Pod(std::string(250, 'a')));
  EXPECT_EQ(client_.writes[0].body["metadata"]["name"].get<std::string>().size(), 36u);
  EXPECT_EQ(client_.writes[1].body["metadata"]["name"].get<std::string>().size(), 36u);
}

TEST_F(EventRecorderTest, SameEventAgainIsCountedInTheFirst) {
  Write("hello");
  runtime_.Advance(seconds(90));
  Write("hello");
  ASSERT_EQ(client_.writes.size(), 2u);
  EXPECT_EQ(client_.writes[1].verb, WriteRequest::Verb::kPatch);
  EXPECT_EQ(client_.writes[1].patch, api::PatchKind::kStrategic);
  EXPECT_EQ(client_.writes[1].body,
            (Json{{"count", 2}, {"lastTimestamp", "2026-01-01T00:01:30Z"}, {"message", "hello"}}));
  ASSERT_EQ(Events().size(), 1u);
  EXPECT_EQ(Events()[0]["firstTimestamp"], "2026-01-01T00:00:00Z");
  EXPECT_EQ(Events()[0]["count"], 2);
}

TEST_F(EventRecorderTest, EventsDifferByTheFieldsOfClientGo) {
  Record();
  Record("other message");
  Record("hello", Pod(), kWarning);
  Record("hello", Pod(), kNormal, "Stopped");
  Record("hello", Pod("other"));
  ObjectReference about = Pod();
  about.uid = "another";
  Record("hello", about);
  about = Pod();
  about.field_path = "spec.containers{web}";
  Record("hello", about);
  source_.host = "node-2";
  Record();
  source_ = {.component = "scheduler", .host = "node-1"};
  Record();
  runtime_.RunReady();
  EXPECT_EQ(Events().size(), 9u);
  about = Pod();
  about.resource_version = "8";
  Record("hello", about);
  runtime_.RunReady();
  EXPECT_EQ(Events().size(), 9u) << "the revision does not";
}

TEST_F(EventRecorderTest, CountWaitsForTheEventItCounts) {
  client_.HoldWrites();
  for (int i = 0; i < 5; ++i) Record();
  runtime_.RunReady();
  EXPECT_EQ(client_.writes.size(), 1u);
  client_.ReleaseWrites();
  runtime_.RunReady();
  EXPECT_EQ(client_.writes.size(), 2u) << "one count for all that came meanwhile";
  EXPECT_EQ(Messages(), (std::set<std::string>{"hello x5"}));
  Write("hello");
  EXPECT_EQ(Messages(), (std::set<std::string>{"hello x6"}));
}

TEST_F(EventRecorderTest, CountOfADeletedEventCreatesItAgain) {
  Write("hello");
  client_.Remove("events", {"default", Events()[0]["metadata"]["name"]});
  runtime_.Advance(seconds(10));
  Write("hello");
  ASSERT_EQ(Events().size(), 1u);
  EXPECT_EQ(Events()[0]["count"], 2);
  EXPECT_EQ(Events()[0]["firstTimestamp"], "2026-01-01T00:00:00Z");
  EXPECT_EQ(Events()[0]["lastTimestamp"], "2026-01-01T00:00:10Z");
}

TEST_F(EventRecorderTest, TenDifferentMessagesInTenMinutesAreCombined) {
  for (int i = 1; i <= 12; ++i) Write("m" + std::to_string(i));
  EXPECT_EQ(Events().size(), 10u);
  EXPECT_TRUE(Messages().contains("m9 x1"));
  EXPECT_TRUE(Messages().contains("(combined from similar events): m12 x3"));
  for (const Json& event : Events())
    EXPECT_EQ(event["reportingComponent"], event["count"] == 3 ? "" : "kubelet") << "as client-go leaves it";

  Record("m13", Pod("other"));
  Record("m14", Pod(), kNormal, "Other");
  runtime_.RunReady();
  EXPECT_TRUE(Messages().contains("m13 x1"));
  EXPECT_TRUE(Messages().contains("m14 x1"));
  Write("m1");
  EXPECT_TRUE(Messages().contains("m1 x2")) << "one of the first nine";
}

TEST_F(EventRecorderTest, AfterTenQuietMinutesSimilarEventsAreRecordedAgain) {
  for (int i = 1; i <= 9; ++i) Write("m" + std::to_string(i));
  runtime_.Advance(minutes(10));
  Write("m10");
  EXPECT_TRUE(Messages().contains("(combined from similar events): m10 x1"));
  runtime_.Advance(minutes(10) + seconds(1));
  Write("m11");
  EXPECT_TRUE(Messages().contains("m11 x1"));
}

TEST_F(EventRecorderTest, EventsPerSourceAndObjectAreLimited) {
  for (int i = 0; i < 30; ++i) Write("hello");
  EXPECT_EQ(Messages(), (std::set<std::string>{"hello x25"}));
  Record("hello", Pod("other"));
  Record("hello", Pod(), kWarning);
  runtime_.RunReady();
  EXPECT_EQ(Events().size(), 3u) << "of others, and of another type";
  runtime_.Advance(minutes(5) - seconds(1));
  Write("hello");
  EXPECT_TRUE(Messages().contains("hello x25"));
  runtime_.Advance(seconds(1));
  Write("hello");
  EXPECT_TRUE(Messages().contains("hello x32")) << "one more every five minutes, which has the count";
}

TEST_F(EventRecorderTest, RememberedEventsAreThoseOfTheLastFourThousand) {
  for (int i = 0; i < 4097; ++i) Record("hello", Pod("p" + std::to_string(i)));
  runtime_.RunReady();
  Record("hello", Pod("p0"));
  Record("hello", Pod("p4096"));
  EXPECT_EQ(client_.writes[4097].verb, WriteRequest::Verb::kCreate) << "p0 has been forgotten";
  EXPECT_EQ(client_.writes[4098].verb, WriteRequest::Verb::kPatch);
}

TEST_F(EventRecorderTest, EventThatCannotBeWrittenIsLoggedAndForgotten) {
  client_.write_failures = {api::InternalError("broken"), api::TooManyRequests("busy", 1)};
  Write("one");
  Write("two");
  ASSERT_EQ(runtime_.log().size(), 2u);
  EXPECT_EQ(runtime_.log()[0],
            "warning: event Started about Pod default/web was not written: Internal error occurred: broken");
  EXPECT_EQ(client_.writes.size(), 2u);
  EXPECT_EQ(runtime_.timers(api::TimerKind::kWork) + runtime_.timers(api::TimerKind::kBackground), 0u);
  Write("one");
  EXPECT_EQ(Messages(), (std::set<std::string>{"one x2"})) << "the next one counts it";
}

TEST_F(EventRecorderTest, EventForWhichThereIsNoServerIsSentAgainTwelveTimesInAll) {
  for (int i = 0; i < 11; ++i) client_.write_failures.push_back(api::ServiceUnavailable("away"));
  Write("one");
  for (std::size_t tries = 1; tries < 12; ++tries) {
    EXPECT_EQ(client_.writes.size(), tries);
    runtime_.Advance(seconds(10));
  }
  EXPECT_EQ(Messages(), (std::set<std::string>{"one x1"}));
  EXPECT_TRUE(runtime_.log().empty());
  client_.write_failures.clear();
  for (int i = 0; i < 12; ++i) client_.write_failures.push_back(api::ServiceUnavailable("away"));
  Write("two");
  for (int i = 0; i < 20; ++i) runtime_.Advance(seconds(10));
  EXPECT_EQ(client_.writes.size(), 24u);
  EXPECT_EQ(runtime_.log().size(), 1u);
}

TEST_F(EventRecorderTest, EventInATerminatingNamespaceIsLoggedAtDebugLevel) {
  api::Status status = api::Forbidden({.group = "", .resource = "events"}, "web.1", "it is being terminated");
  status.details->causes.push_back({.reason = "NamespaceTerminating", .message = "", .field = ""});
  client_.write_failures = {status};
  Write("one");
  ASSERT_EQ(runtime_.log().size(), 1u);
  EXPECT_EQ(runtime_.log()[0].substr(0, 6), "debug:");
}

TEST_F(EventRecorderTest, EventsBeyondWhatTheApiserverKeepsUpWithAreDropped) {
  client_.HoldWrites();
  for (int i = 0; i < 10'010; ++i) Record("hello", Pod("p" + std::to_string(i)));
  EXPECT_EQ(client_.writes.size(), 10'000u);
  client_.ReleaseWrites();
  runtime_.RunReady();
  EXPECT_EQ(runtime_.log().size(), 2u);
  EXPECT_EQ(runtime_.log().back(), "warning: 10 events were dropped");
  Write("after");
  EXPECT_EQ(client_.writes.size(), 10'001u);
}

TEST(EventRecorder, AnswerAfterItsEndDoesNothing) {
  FakeRuntime runtime;
  FakeClient client(runtime);
  auto recorder = std::make_unique<EventRecorder>(runtime.env(), client);
  client.write_failures = {api::InternalError("broken")};
  ObjectReference about{.api_version = "v1", .kind = "Pod", .ns = "d", .name = "p", .uid = "u"};
  recorder->Record({.component = "a"}, about, kNormal, "R", "m");
  recorder.reset();
  runtime.RunReady();
  EXPECT_TRUE(runtime.log().empty());
}

TEST(EventRecorder, ReferencesNameTheObject) {
  ObjectPtr pod = controllers_testing::MakeObject(
      {{"metadata", {{"name", "web"}, {"namespace", "default"}, {"uid", "u1"}}}}, 42);
  ObjectReference reference = ReferenceToPod(*pod);
  EXPECT_EQ(reference.api_version, "v1");
  EXPECT_EQ(reference.kind, "Pod");
  EXPECT_EQ(reference.ns, "default");
  EXPECT_EQ(reference.name, "web");
  EXPECT_EQ(reference.uid, "u1");
  EXPECT_EQ(reference.resource_version, "42");
  EXPECT_EQ(reference.field_path, "");
  EXPECT_EQ(ReferenceTo(*pod, "apps/v1", "ReplicaSet").kind, "ReplicaSet");
}

}  // namespace
}  // namespace terrarium::controllers

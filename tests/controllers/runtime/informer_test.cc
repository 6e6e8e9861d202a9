#include "controllers/runtime/informer.h"

#include <gtest/gtest.h>

#include "api/base/errors.h"
#include "tests/controllers/runtime/fake_client.h"
#include "tests/controllers/runtime/fake_runtime.h"
#include "tests/controllers/runtime/informer_testing.h"

namespace terrarium::controllers {
namespace {

using api::Json;
using api::TimerKind;
using controllers_testing::FakeClient;
using controllers_testing::FakeRuntime;
using controllers_testing::Names;
using controllers_testing::NodeOf;
using controllers_testing::Pod;
using std::chrono::milliseconds;
using std::chrono::seconds;
using Events = std::vector<std::string>;

class InformerTest : public ::testing::Test {
 protected:
  // "+a@node", "~a@old>new", "-a@node".
  EventHandler Teller() {
    return {
        .added = [this](const ObjectPtr& o) { events_.push_back("+" + o->header().name + "@" + NodeOf(*o)); },
        .updated =
            [this](const ObjectPtr& old, const ObjectPtr& o) {
              events_.push_back("~" + o->header().name + "@" + NodeOf(*old) + ">" + NodeOf(*o));
            },
        .deleted =
            [this](const ObjectPtr& o) { events_.push_back("-" + o->header().name + "@" + NodeOf(*o)); }};
  }
  Events TakeEvents() { return std::exchange(events_, {}); }
  void Start() {
    informer_.Start();
    runtime_.RunReady();
  }
  // Makes the informer's watch stale, so that it has to list again.
  void LoseHistory() {
    client_.Compact();
    informer_.Disconnect();
  }

  FakeRuntime runtime_;
  FakeClient client_{runtime_};
  Events events_;
  Informer informer_{runtime_.env(), client_, "pods"};
};

TEST_F(InformerTest, FirstListIsAddedInTheOrderOfNamesAndThenItHasSynced) {
  client_.Put("pods", Pod("b"));
  client_.Put("pods", Pod("a", "", "zoo"));
  client_.Put("pods", Pod("a"));
  client_.Put("nodes", Pod("x"));
  EventHandler handler = Teller();
  handler.added = [&](const ObjectPtr& object) {
    EXPECT_FALSE(informer_.HasSynced());
    EXPECT_EQ(informer_.size(), 3u) << "the whole list is there before the first handler is called";
    events_.push_back(object->header().ns + "/" + object->header().name);
  };
  informer_.AddHandler(handler);
  int synced = 0;
  informer_.OnSynced([&] {
    ++synced;
    EXPECT_EQ(events_.size(), 3u);
  });
  EXPECT_FALSE(informer_.HasSynced());
  informer_.Start();
  EXPECT_TRUE(informer_.HasSynced());
  EXPECT_EQ(synced, 1);
  EXPECT_EQ(TakeEvents(), (Events{"default/a", "default/b", "zoo/a"}));
  EXPECT_EQ(informer_.Revision(), client_.revision());

  informer_.OnSynced([&] { ++synced; });
  EXPECT_EQ(synced, 2) << "immediately, since it has happened already";
  LoseHistory();
  runtime_.RunReady();
  EXPECT_EQ(synced, 2);
}

TEST_F(InformerTest, WatchBringsWhatHappensAfterTheList) {
  client_.Put("pods", Pod("a"));
  informer_.AddHandler(Teller());
  Start();
  TakeEvents();
  client_.Put("pods", Pod("b", "n1"));
  client_.Put("pods", Pod("a", "n2"));
  client_.Put("pods", Pod("a", "n3"));
  client_.Remove("pods", {"default", "a"});
  client_.Put("nodes", Pod("x"));
  EXPECT_EQ(informer_.size(), 1u) << "nothing happens before the lane has its turn";
  runtime_.RunReady();
  EXPECT_EQ(TakeEvents(), (Events{"+b@n1", "~a@>n2", "~a@n2>n3", "-a@n3"}));
  EXPECT_EQ(Names(informer_.List()), "default/b");
  EXPECT_EQ(client_.lists, 1);
}

TEST_F(InformerTest, DeletedGetsTheLastStateKnown) {
  client_.Put("pods", Pod("a", "n1"));
  std::int64_t revision = 0;
  informer_.AddHandler(
      {.added = {}, .updated = {}, .deleted = [&](const ObjectPtr& o) { revision = o->revision(); }});
  Start();
  client_.Remove("pods", {"default", "a"});
  runtime_.RunReady();
  EXPECT_EQ(revision, client_.revision()) << "the state in the watch event";

  ObjectPtr b = client_.Put("pods", Pod("b", "n1"));
  runtime_.RunReady();
  client_.Remove("pods", {"default", "b"});
  LoseHistory();
  runtime_.RunReady();
  EXPECT_EQ(revision, b->revision()) << "the deletion was not seen";
}

TEST_F(InformerTest, HandlerAddedLaterGetsEveryExistingObject) {
  client_.Put("pods", Pod("a"));
  client_.Put("pods", Pod("b"));
  Start();
  informer_.AddHandler(Teller());
  EXPECT_EQ(TakeEvents(), (Events{"+a@", "+b@"}));
  client_.Put("pods", Pod("c"));
  runtime_.RunReady();
  EXPECT_EQ(TakeEvents(), (Events{"+c@"}));
}

TEST_F(InformerTest, HandlerAddedByAHandlerGetsEachObjectOnce) {
  bool added = false;
  informer_.AddHandler({.added =
                            [&](const ObjectPtr&) {
                              if (!std::exchange(added, true)) informer_.AddHandler(Teller());
                            },
                        .updated = {},
                        .deleted = {}});
  Start();
  client_.Put("pods", Pod("a"));
  client_.Put("pods", Pod("b"));
  runtime_.RunReady();
  EXPECT_EQ(TakeEvents(), (Events{"+a@", "+b@"}));
}

TEST_F(InformerTest, HandlerAddedByAHandlerDuringAListGetsEachObjectOnce) {
  bool added = false;
  informer_.AddHandler({.added =
                            [&](const ObjectPtr&) {
                              if (!std::exchange(added, true)) informer_.AddHandler(Teller());
                            },
                        .updated = {},
                        .deleted = {}});
  client_.Put("pods", Pod("a"));
  client_.Put("pods", Pod("b"));
  Start();
  EXPECT_EQ(TakeEvents(), (Events{"+a@", "+b@"}));
}

TEST_F(InformerTest, HandlersAreCalledInTheOrderTheyWereAdded) {
  for (const char* who : {"first", "second"})
    informer_.AddHandler(
        {.added = [this, who](const ObjectPtr& o) { events_.push_back(who + (" " + o->header().name)); },
         .updated = {},
         .deleted = {}});
  Start();
  client_.Put("pods", Pod("a"));
  runtime_.RunReady();
  EXPECT_EQ(TakeEvents(), (Events{"first a", "second a"}));
}

TEST_F(InformerTest, EndedWatchIsReopenedAtTheDeliveredRevision) {
  informer_.AddHandler(Teller());
  Start();
  client_.Put("pods", Pod("a"));
  client_.Put("nodes", Pod("x"));
  runtime_.RunReady();
  const std::int64_t delivered = client_.revision();
  EXPECT_EQ(informer_.Revision(), delivered) << "further than the last event of its own resource";
  client_.EndWatches();
  client_.Put("pods", Pod("b"));
  runtime_.RunReady();
  EXPECT_EQ(TakeEvents(), (Events{"+a@", "+b@"}));
  ASSERT_EQ(client_.watches.size(), 2u);
  EXPECT_EQ(client_.watches.back(), delivered);
  EXPECT_EQ(client_.lists, 1);
}

TEST_F(InformerTest, AfterA410ItListsAndReportsTheDifference) {
  for (const char* name : {"changed", "gone", "same"}) client_.Put("pods", Pod(name, "n0"));
  informer_.AddHandler(Teller());
  Start();
  TakeEvents();
  client_.Put("pods", Pod("changed", "n1"));
  client_.Put("pods", Pod("changed", "n2"));
  client_.Remove("pods", {"default", "gone"});
  client_.Put("pods", Pod("new", "n1"));
  LoseHistory();
  runtime_.RunReady();
  EXPECT_EQ(TakeEvents(), (Events{"~changed@n0>n2", "+new@n1", "-gone@n0"}));
  EXPECT_EQ(client_.lists, 2);
  EXPECT_EQ(Names(informer_.List()), "default/changed default/new default/same");
  EXPECT_EQ(informer_.Revision(), client_.revision());

  client_.Put("pods", Pod("later"));
  runtime_.RunReady();
  EXPECT_EQ(TakeEvents(), (Events{"+later@"}));
}

TEST_F(InformerTest, ObjectReplacedByAnotherOfItsNameIsDeletedThenAdded) {
  client_.Put("pods", Pod("a", "n1"));
  informer_.AddHandler(Teller());
  Start();
  TakeEvents();
  client_.Remove("pods", {"default", "a"});
  client_.Put("pods", Pod("a", "n2"));
  LoseHistory();
  runtime_.RunReady();
  EXPECT_EQ(TakeEvents(), (Events{"-a@n1", "+a@n2"})) << "seen by a list";

  Json other = Pod("a", "n3");
  other["metadata"]["uid"] = "another";
  client_.Put("pods", other);
  runtime_.RunReady();
  EXPECT_EQ(TakeEvents(), (Events{"-a@n2", "+a@n3"})) << "seen by a watch";
}

TEST_F(InformerTest, ListThatIsRefusedIsTriedAgainWithBackoffInTheBackground) {
  for (int i = 0; i < 8; ++i) client_.list_failures.push_back(api::InternalError("not now"));
  client_.Put("pods", Pod("a"));
  Start();
  for (int wait_ms : {800, 1600, 3200, 6400, 12800, 25600, 30000, 30000}) {
    EXPECT_FALSE(informer_.HasSynced());
    EXPECT_EQ(runtime_.timers(TimerKind::kWork), 0u);
    ASSERT_EQ(runtime_.NextTimer(TimerKind::kBackground), milliseconds(wait_ms));
    runtime_.Advance(milliseconds(wait_ms));
  }
  EXPECT_TRUE(informer_.HasSynced());
  EXPECT_EQ(informer_.size(), 1u);

  client_.watch_failures.push_back(api::InternalError("not now"));
  informer_.Disconnect();
  runtime_.RunReady();
  EXPECT_EQ(runtime_.NextTimer(TimerKind::kBackground), milliseconds(800)) << "success resets the backoff";
}

TEST_F(InformerTest, AServerThatIsAwayIsWaitedFor) {
  client_.list_failures = {api::ServiceUnavailable("away"), api::ServiceUnavailable("away")};
  Start();
  for (int wait_ms : {800, 1600}) {
    EXPECT_FALSE(informer_.HasSynced());
    ASSERT_EQ(runtime_.NextTimer(TimerKind::kWork), milliseconds(wait_ms))
        << "the cluster is not idle before";
    runtime_.Advance(milliseconds(wait_ms));
  }
  EXPECT_TRUE(informer_.HasSynced());
}

TEST_F(InformerTest, WatchThatFailsIsTriedAgainWithoutAList) {
  informer_.AddHandler(Teller());
  Start();
  client_.watch_failures = {api::ServiceUnavailable("not now"), api::ServiceUnavailable("not now")};
  informer_.Disconnect();
  client_.Put("pods", Pod("a"));
  runtime_.RunReady();
  EXPECT_EQ(TakeEvents(), Events{});
  runtime_.Advance(milliseconds(799));
  EXPECT_EQ(client_.watches.size(), 2u);
  runtime_.Advance(milliseconds(1 + 1600));
  EXPECT_EQ(TakeEvents(), (Events{"+a@"}));
  EXPECT_EQ(client_.lists, 1);
}

TEST_F(InformerTest, WatchesThatEndWithoutEventsAreReopenedWithBackoff) {
  Start();
  client_.EndWatches();
  runtime_.RunReady();
  EXPECT_EQ(runtime_.NextTimer(TimerKind::kWork), milliseconds(800));
  runtime_.Advance(milliseconds(800));
  client_.EndWatches();
  runtime_.RunReady();
  EXPECT_EQ(runtime_.NextTimer(TimerKind::kWork), milliseconds(1600));
  runtime_.Advance(milliseconds(1600));

  runtime_.Advance(seconds(1));
  client_.EndWatches();
  runtime_.RunReady();
  EXPECT_EQ(runtime_.NextTimer(TimerKind::kWork), std::nullopt)
      << "it has lived, and is reopened immediately";
  EXPECT_EQ(client_.watches.size(), 4u);
}

TEST_F(InformerTest, ListThatExpiresImmediatelyIsRepeatedWithBackoff) {
  for (int i = 0; i < 3; ++i) client_.watch_failures.push_back(api::Expired("too old"));
  Start();
  EXPECT_EQ(client_.lists, 1);
  runtime_.Advance(milliseconds(800));
  EXPECT_EQ(client_.lists, 2);
  runtime_.Advance(seconds(30));
  EXPECT_EQ(client_.lists, 4);
  client_.Put("pods", Pod("a"));
  runtime_.RunReady();
  EXPECT_EQ(informer_.size(), 1u);
}

TEST_F(InformerTest, ManyEventsLeaveRoomForOtherWork) {
  informer_.AddHandler(Teller());
  Start();
  for (int i = 0; i < 600; ++i) client_.Put("pods", Pod("p" + std::to_string(1000 + i)));
  std::vector<std::size_t> seen;
  std::function<void()> other_work = [&] {
    seen.push_back(informer_.size());
    if (seen.size() < 4) runtime_.Post(other_work);
  };
  runtime_.Post(other_work);
  runtime_.RunReady();
  EXPECT_EQ(seen, (std::vector<std::size_t>{256, 512, 600, 600}));
}

TEST_F(InformerTest, PausedViewReceivesNoEvents) {
  client_.Put("pods", Pod("a", "n1"));
  informer_.AddHandler(Teller());
  Start();
  TakeEvents();
  informer_.Pause();
  const std::int64_t revision = informer_.Revision();
  client_.Put("pods", Pod("a", "n2"));
  client_.Put("pods", Pod("b"));
  runtime_.Advance(seconds(60));
  EXPECT_EQ(TakeEvents(), Events{});
  EXPECT_EQ(NodeOf(*informer_.Get({"default", "a"})), "n1");
  EXPECT_EQ(informer_.Revision(), revision);
  informer_.Resume();
  runtime_.RunReady();
  EXPECT_EQ(TakeEvents(), (Events{"~a@n1>n2", "+b@"}));
  EXPECT_EQ(client_.watches.size(), 1u) << "the watch has waited";
}

TEST_F(InformerTest, PausedBeforeItStartedItListsWhenItIsResumed) {
  informer_.Pause();
  Start();
  EXPECT_EQ(client_.lists, 0);
  EXPECT_FALSE(informer_.HasSynced());
  informer_.Resume();
  runtime_.RunReady();
  EXPECT_TRUE(informer_.HasSynced());
}

TEST_F(InformerTest, DisconnectedWhilePausedItReconnectsOnResume) {
  informer_.AddHandler(Teller());
  Start();
  informer_.Pause();
  client_.Put("pods", Pod("a"));
  informer_.Disconnect();
  runtime_.RunReady();
  EXPECT_EQ(client_.watches.size(), 1u);
  informer_.Resume();
  runtime_.RunReady();
  EXPECT_EQ(TakeEvents(), (Events{"+a@"}));
}

TEST_F(InformerTest, HandlerMayPauseInTheMiddleOfABatch) {
  informer_.AddHandler(Teller());
  informer_.AddHandler({.added =
                            [&](const ObjectPtr& o) {
                              if (o->header().name == "b") informer_.Pause();
                            },
                        .updated = {},
                        .deleted = {}});
  Start();
  for (const char* name : {"a", "b", "c"}) client_.Put("pods", Pod(name));
  runtime_.RunReady();
  EXPECT_EQ(TakeEvents(), (Events{"+a@", "+b@"}));
  EXPECT_EQ(informer_.Revision(), client_.revision() - 1);
  informer_.Resume();
  runtime_.RunReady();
  EXPECT_EQ(TakeEvents(), (Events{"+c@"}));
  EXPECT_EQ(informer_.Revision(), client_.revision());
}

TEST_F(InformerTest, DisconnectDuringABatchNeitherLosesNorRepeatsEvents) {
  int second_calls = 0;
  informer_.AddHandler({.added =
                            [&](const ObjectPtr& o) {
                              if (o->header().name == "b") informer_.Disconnect();
                            },
                        .updated = {},
                        .deleted = {}});
  informer_.AddHandler(Teller());
  informer_.AddHandler({.added = [&](const ObjectPtr&) { ++second_calls; }, .updated = {}, .deleted = {}});
  Start();
  for (const char* name : {"a", "b", "c"}) client_.Put("pods", Pod(name));
  runtime_.RunReady();
  EXPECT_EQ(TakeEvents(), (Events{"+a@", "+b@", "+c@"}));
  EXPECT_EQ(second_calls, 3);
  EXPECT_EQ(client_.watches.size(), 2u);
  EXPECT_EQ(client_.lists, 1);
}

TEST_F(InformerTest, DisconnectOpensTheNextWatchFromTheRevisionOfTheView) {
  Start();
  client_.Put("pods", Pod("a"));
  runtime_.RunReady();
  informer_.Disconnect();
  runtime_.RunReady();
  EXPECT_EQ(client_.watches.back(), informer_.Revision());
  client_.Put("pods", Pod("b"));
  runtime_.RunReady();
  EXPECT_EQ(informer_.size(), 2u);
  EXPECT_EQ(client_.lists, 1);
}

TEST_F(InformerTest, WhatAHandlerWritesIsSeenToo) {
  informer_.AddHandler({.added =
                            [&](const ObjectPtr& o) {
                              if (o->header().name == "a") client_.Put("pods", Pod("b"));
                            },
                        .updated = {},
                        .deleted = {}});
  informer_.AddHandler(Teller());
  client_.Put("pods", Pod("a"));
  Start();
  EXPECT_EQ(TakeEvents(), (Events{"+a@", "+b@"}));
}

TEST(Informer, AfterDestructionNoHandlerIsCalled) {
  FakeRuntime runtime;
  FakeClient client(runtime);
  int calls = 0;
  auto informer = std::make_unique<Informer>(runtime.env(), client, "pods");
  informer->AddHandler({.added = [&](const ObjectPtr&) { ++calls; }, .updated = {}, .deleted = {}});
  informer->Start();
  client.Put("pods", Pod("a"));
  informer->Disconnect();
  informer.reset();
  runtime.Advance(seconds(60));
  EXPECT_EQ(calls, 0);

  client.list_failures.push_back(api::ServiceUnavailable("not now"));
  informer = std::make_unique<Informer>(runtime.env(), client, "pods");
  informer->Start();
  informer.reset();
  EXPECT_EQ(runtime.timers(TimerKind::kBackground), 0u);
}

TEST(Informer, DestroyedByAHandlerItCallsNoOtherHandler) {
  FakeRuntime runtime;
  FakeClient client(runtime);
  int calls = 0;
  auto informer = std::make_unique<Informer>(runtime.env(), client, "pods");
  informer->AddHandler({.added = [&](const ObjectPtr&) { informer.reset(); }, .updated = {}, .deleted = {}});
  informer->AddHandler({.added = [&](const ObjectPtr&) { ++calls; }, .updated = {}, .deleted = {}});
  informer->Start();
  client.Put("pods", Pod("a"));
  client.Put("pods", Pod("b"));
  runtime.RunReady();
  EXPECT_EQ(informer, nullptr);
  EXPECT_EQ(calls, 0);
}

}  // namespace
}  // namespace terrarium::controllers

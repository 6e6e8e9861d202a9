// The controller runtime against a real apiserver, on its own lane.

#include <gtest/gtest.h>

#include "api/json_access.h"
#include "apiserver/in_process_client.h"
#include "controllers/runtime/event_recorder.h"
#include "controllers/runtime/informer.h"
#include "controllers/runtime/owner_references.h"
#include "testbed/embedding/testbed.h"

namespace terrarium::controllers {
namespace {

using api::Json;
using testbed::Testbed;
using Events = std::vector<std::string>;

class RuntimeOnClusterTest : public ::testing::Test {
 protected:
  RuntimeOnClusterTest()
      : env_{bed_.control_plane().runtime(), bed_.control_plane().runtime().Lane("test"),
             bed_.control_plane().env().prng, bed_.control_plane().env().gates,
             bed_.control_plane().env().log},
        client_(apiserver::MakeInProcessClient(env_, bed_.control_plane().handler(),
                                               bed_.control_plane().store(), {})) {}

  static Json Pod(const std::string& name, const std::string& app = "web") {
    Json pod = Json::parse(R"({"spec": {"containers": [{"name": "c", "image": "i"}]}})");
    pod["metadata"] = {{"name", name}, {"labels", {{"app", app}}}};
    return pod;
  }
  api::ObjectPtr CreatePod(const std::string& name, const std::string& app = "web") {
    return Testbed::Must(bed_.Create("pods", "default", Pod(name, app)));
  }
  void DeletePod(const std::string& name) {
    Testbed::Must(bed_.Delete("pods", {"default", name}, {.grace_period_seconds = 0}));
  }
  void OnLane(std::function<void()> work) {
    env_.executor.Post(std::move(work));
    bed_.clock().Settle();
  }

  Testbed bed_{{.controllers = "-*", .kubelet = false, .scheduler = false, .nodes = 0}};
  api::Env env_;
  std::unique_ptr<api::Client> client_;
};

class InformerOnClusterTest : public RuntimeOnClusterTest {
 protected:
  InformerOnClusterTest() {
    informer_.AddHandler(
        {.added = [this](const ObjectPtr& o) { events_.push_back("+" + o->header().name); },
         .updated = [this](const ObjectPtr&,
                           const ObjectPtr& o) { events_.push_back("~" + o->header().name); },
         .deleted = [this](const ObjectPtr& o) { events_.push_back("-" + o->header().name); }});
  }
  Events TakeEvents() { return std::exchange(events_, {}); }

  Events events_;
  Informer informer_{env_, *client_, "pods"};
};

TEST_F(InformerOnClusterTest, FollowsTheApiserver) {
  CreatePod("a");
  OnLane([&] { informer_.Start(); });
  EXPECT_EQ(TakeEvents(), (Events{"+a"}));
  CreatePod("b");
  Testbed::Must(bed_.Patch("pods", {"default", "a"}, {{"metadata", {{"labels", {{"x", "y"}}}}}}));
  DeletePod("b");
  bed_.clock().Settle();
  EXPECT_EQ(TakeEvents(), (Events{"+b", "~a", "~b", "-b"})) << "b is marked, then gone";
  EXPECT_EQ(informer_.Get({"default", "a"})->revision(), bed_.Get("pods", "default", "a")->revision());
}

TEST_F(InformerOnClusterTest, TakesUpAfterADisconnect) {
  OnLane([&] { informer_.Start(); });
  OnLane([&] { informer_.Pause(); });
  CreatePod("a");
  OnLane([&] { informer_.Disconnect(); });
  CreatePod("b");
  EXPECT_EQ(TakeEvents(), Events{});
  OnLane([&] { informer_.Resume(); });
  EXPECT_EQ(TakeEvents(), (Events{"+a", "+b"}));
}

TEST_F(InformerOnClusterTest, ListsAgainWhenItsRevisionHasBeenCompacted) {
  for (const char* name : {"a", "b"}) CreatePod(name);
  OnLane([&] { informer_.Start(); });
  OnLane([&] { informer_.Pause(); });
  TakeEvents();
  DeletePod("a");
  CreatePod("a");
  DeletePod("b");
  CreatePod("c");
  bed_.control_plane().store().Compact(bed_.control_plane().store().CurrentRevision());
  OnLane([&] {
    informer_.Disconnect();
    informer_.Resume();
  });
  EXPECT_EQ(TakeEvents(), (Events{"-a", "+a", "+c", "-b"}));
}

TEST_F(InformerOnClusterTest, KeepsUpWithMoreThanABatch) {
  OnLane([&] { informer_.Start(); });
  for (int i = 0; i < 600; ++i) CreatePod("p" + std::to_string(i));
  bed_.clock().Settle();
  EXPECT_EQ(informer_.size(), 600u);
}

TEST_F(RuntimeOnClusterTest, EventsAreAcceptedAndCounted) {
  EventRecorder recorder(env_, *client_);
  api::ObjectPtr pod = CreatePod("web");
  ObjectReference about = ReferenceToPod(*pod);
  about.field_path = "spec.containers{c}";
  OnLane([&] {
    for (int i = 0; i < 3; ++i)
      recorder.Record({.component = "kubelet", .host = "n"}, about, kNormal, "Started", "s");
    recorder.Record({.component = "kubelet", .host = "n"}, about, kWarning, "Failed", "f");
  });
  bed_.clock().Advance(std::chrono::seconds(90));
  OnLane([&] { recorder.Record({.component = "kubelet", .host = "n"}, about, kNormal, "Started", "s"); });

  std::map<std::string, Json> events;
  for (const api::ObjectPtr& event : bed_.List("events", "default")) {
    Json document = event->Parse();
    if (document["involvedObject"]["name"] == "web") events[document["reason"]] = document;
  }
  ASSERT_EQ(events.size(), 2u);
  EXPECT_EQ(events["Failed"]["count"], 1);
  const Json& started = events["Started"];
  EXPECT_EQ(started["count"], 4);
  EXPECT_EQ(started["firstTimestamp"], "2026-01-01T00:00:00Z");
  EXPECT_EQ(started["lastTimestamp"], "2026-01-01T00:01:30Z");
  EXPECT_EQ(started["involvedObject"]["uid"], pod->header().uid);
  EXPECT_EQ(started["reportingComponent"], "kubelet");
  EXPECT_EQ(started["reportingInstance"], "n");
}

class ClaimOnClusterTest : public RuntimeOnClusterTest {
 protected:
  using Claimed = api::Result<std::vector<api::ObjectPtr>>;
  static api::Task<void> Store(api::Task<Claimed> claiming, std::optional<Claimed>* claimed) {
    Claimed done = co_await std::move(claiming);
    claimed->emplace(std::move(done));
  }
  Claimed Claim(const api::ObjectPtr& owner, std::vector<api::ObjectPtr> candidates) {
    Claimant claimant{.owner = owner,
                      .api_version = "apps/v1",
                      .kind = "ReplicaSet",
                      .owner_resource = "replicasets",
                      .selector = *api::LabelSelector::Parse("app=web")};
    std::optional<Claimed> claimed;
    api::TaskScope scope;
    OnLane([&] { scope.Spawn(Store(ClaimObjects(*client_, claimant, "pods", candidates), &claimed)); });
    return *claimed;
  }
  Json References(const std::string& pod) {
    return bed_.Get("pods", "default", pod)->Parse()["metadata"].value("ownerReferences", Json::array());
  }
  api::ObjectPtr CreateOwner() {
    Json set = {
        {"metadata", {{"name", "rs"}}},
        {"spec",
         {{"replicas", 0}, {"selector", {{"matchLabels", {{"app", "web"}}}}}, {"template", Pod("")}}}};
    set["spec"]["template"]["metadata"].erase("name");
    return Testbed::Must(bed_.Create("replicasets", "default", set));
  }
};

TEST_F(ClaimOnClusterTest, AdoptsAndReleases) {
  api::ObjectPtr owner = CreateOwner();
  Claimed adopted = Claim(owner, {CreatePod("a")});
  ASSERT_TRUE(adopted) << adopted.status().message;
  ASSERT_EQ(References("a"), Json::array({ControllerReference(*owner, "apps/v1", "ReplicaSet")}));

  Testbed::Must(bed_.Patch("pods", {"default", "a"}, {{"metadata", {{"labels", {{"app", "db"}}}}}}));
  Claimed released = Claim(owner, {bed_.Get("pods", "default", "a")});
  ASSERT_TRUE(released) << released.status().message;
  EXPECT_TRUE(released->empty());
  EXPECT_EQ(References("a"), Json::array());
}

TEST_F(ClaimOnClusterTest, PodThatWasReplacedMeanwhileIsNotAdopted) {
  api::ObjectPtr owner = CreateOwner();
  api::ObjectPtr old = CreatePod("a");
  DeletePod("a");
  CreatePod("a");
  EXPECT_FALSE(Claim(owner, {old}));
  EXPECT_EQ(References("a"), Json::array());
}

}  // namespace
}  // namespace terrarium::controllers

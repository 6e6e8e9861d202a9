// Changes between the collector's read of an object and its write, and stale views.

#include <gtest/gtest.h>

#include "api/base/errors.h"
#include "api/json_access.h"
#include "controllers/garbage_collector/garbage_collector.h"
#include "tests/controllers/runtime/fake_client.h"
#include "tests/controllers/runtime/fake_runtime.h"

namespace terrarium::controllers {
namespace {

using api::Json;
using api::ObjectPtr;
using controllers_testing::FakeClient;
using controllers_testing::FakeRuntime;
using namespace std::chrono_literals;

class GarbageCollectorRaces : public testing::Test {
 protected:
  GarbageCollectorRaces() {
    ControllerContext context{runtime_.env(), client_, informers_, recorder_, metrics_, why_};
    collector_ = MakeGarbageCollector(context, resources_);
    informers_.OnSynced([this] { collector_->Start(); });
    informers_.Start();
    runtime_.RunReady();
  }

  ObjectPtr ReplicaSet(const std::string& name) {
    return client_.Put("replicasets", {{"metadata", {{"name", name}, {"namespace", "default"}}}});
  }
  Json Pod(const std::vector<ObjectPtr>& owners, const std::string& phase = "Pending") {
    Json references = Json::array();
    for (const ObjectPtr& owner : owners)
      references.push_back({{"apiVersion", "apps/v1"},
                            {"kind", "ReplicaSet"},
                            {"name", owner->header().name},
                            {"uid", owner->header().uid}});
    return {{"metadata", {{"name", "web"}, {"namespace", "default"}, {"ownerReferences", references}}},
            {"status", {{"phase", phase}}}};
  }
  bool PodExists() { return client_.Find("pods", {"default", "web"}) != nullptr; }
  static api::Status Changed() { return api::ModifiedConflict({"", "pods"}, "web"); }

  FakeRuntime runtime_;
  FakeClient client_{runtime_};
  InformerSet informers_{runtime_.env(), client_};
  EventRecorder recorder_{runtime_.env(), client_};
  Metrics metrics_;
  WhyLog why_;
  ServedResources resources_{{{"pods", "", "v1", "Pod"},
                              {"replicasets", "apps", "v1", "ReplicaSet"},
                              {"events", "", "v1", "Event"}}};
  std::unique_ptr<Controller> collector_;
};

TEST_F(GarbageCollectorRaces, ADeleteNamesTheObjectAndTheStateItWasDecidedOn) {
  ObjectPtr owner = ReplicaSet("rs");
  ObjectPtr pod = client_.Put("pods", Pod({owner}));
  runtime_.RunReady();
  client_.Remove("replicasets", {"default", "rs"});
  runtime_.RunReady();
  ASSERT_EQ(client_.writes.size(), 1u);
  EXPECT_EQ(client_.writes[0].body,
            Json({{"preconditions",
                   {{"uid", pod->header().uid}, {"resourceVersion", std::to_string(pod->revision())}}},
                  {"propagationPolicy", "Background"}}));
  EXPECT_FALSE(PodExists());
}

TEST_F(GarbageCollectorRaces, AChangeOfSomethingElseDoesNotSaveAnObject) {
  ObjectPtr owner = ReplicaSet("rs");
  client_.Put("pods", Pod({owner}));
  runtime_.RunReady();
  client_.HoldWrites();
  client_.Remove("replicasets", {"default", "rs"});
  runtime_.RunReady();
  client_.Put("pods", Pod({owner}, "Running"));
  client_.write_failures.push_back(Changed());
  client_.ReleaseWrites();
  runtime_.RunReady();
  ASSERT_EQ(client_.writes.size(), 2u);
  EXPECT_EQ(api::Find(client_.writes[1].body, "preconditions", "resourceVersion"), nullptr);
  EXPECT_FALSE(PodExists());
}

TEST_F(GarbageCollectorRaces, AnObjectThatIsAdoptedMeanwhileStays) {
  ObjectPtr owner = ReplicaSet("rs");
  ObjectPtr adopter = ReplicaSet("adopter");
  client_.Put("pods", Pod({owner}));
  runtime_.RunReady();
  client_.HoldWrites();
  client_.Remove("replicasets", {"default", "rs"});
  runtime_.RunReady();
  client_.Put("pods", Pod({adopter}));
  client_.write_failures.push_back(Changed());
  client_.ReleaseWrites();
  runtime_.RunReady();
  runtime_.Advance(1min);
  EXPECT_EQ(client_.writes.size(), 1u);
  EXPECT_TRUE(PodExists());
}

TEST_F(GarbageCollectorRaces, AnOwnerMissingFromTheViewIsRequested) {
  informers_.For("replicasets").Pause();
  ObjectPtr owner = ReplicaSet("rs");
  client_.Put("pods", Pod({owner}));
  runtime_.RunReady();
  runtime_.Advance(1min);
  EXPECT_TRUE(PodExists());
  // The paused view misses the deletion. Without a request for the owner the pod would stay forever.
  client_.Remove("replicasets", {"default", "rs"});
  runtime_.Advance(10min);
  EXPECT_FALSE(PodExists());
}

TEST_F(GarbageCollectorRaces, AnOwnerInTheViewIsNotRequestedAgain) {
  informers_.For("replicasets").Pause();
  client_.Put("pods", Pod({ReplicaSet("rs")}));
  runtime_.RunReady();
  informers_.For("replicasets").Resume();
  runtime_.Advance(1min);
  int gets = client_.gets;
  runtime_.Advance(1h);
  EXPECT_EQ(client_.gets, gets);
  EXPECT_TRUE(PodExists());
}

TEST_F(GarbageCollectorRaces, ADeleteThatFailsIsTriedAgain) {
  ObjectPtr owner = ReplicaSet("rs");
  client_.Put("pods", Pod({owner}));
  runtime_.RunReady();
  client_.write_failures.push_back(api::InternalError("no room"));
  client_.Remove("replicasets", {"default", "rs"});
  runtime_.RunReady();
  EXPECT_TRUE(PodExists());
  runtime_.Advance(1s);
  EXPECT_FALSE(PodExists());
}

TEST_F(GarbageCollectorRaces, NothingIsReadOrWrittenForObjectsWithoutOwners) {
  for (int i = 0; i < 1000; ++i) {
    Json pod = Pod({});
    pod["metadata"]["name"] = "p" + std::to_string(i);
    client_.Put("pods", pod);
    client_.Remove("pods", {"default", "p" + std::to_string(i)});
  }
  runtime_.RunReady();
  EXPECT_EQ(client_.gets, 0);
  EXPECT_TRUE(client_.writes.empty());
}

TEST_F(GarbageCollectorRaces, AfterItsEndEventsDoNothing) {
  ObjectPtr owner = ReplicaSet("rs");
  client_.Put("pods", Pod({owner}));
  runtime_.RunReady();
  collector_.reset();
  client_.Remove("replicasets", {"default", "rs"});
  runtime_.RunReady();
  EXPECT_TRUE(PodExists());
}

}  // namespace
}  // namespace terrarium::controllers

// Races between the apiserver's reservation and the controller's view, and between the controller's sync and
// its write.

#include <gtest/gtest.h>

#include "api/base/errors.h"
#include "api/json_access.h"
#include "controllers/resource_quota/resource_quota_controller.h"
#include "tests/controllers/runtime/fake_client.h"
#include "tests/controllers/runtime/fake_runtime.h"

namespace terrarium::controllers {
namespace {

using api::Json;
using controllers_testing::FakeClient;
using controllers_testing::FakeRuntime;
using namespace std::chrono_literals;

class QuotaRaces : public testing::Test {
 protected:
  QuotaRaces() {
    PutPod("a");
    PutPod("b");
    PutQuota("3", "3", "2");
    Start();
  }

  void Start() {
    ControllerContext context{runtime_.env(), client_, informers_, recorder_, metrics_, why_};
    controller_ = MakeResourceQuotaController(context, resources_);
    informers_.OnSynced([this] { controller_->Start(); });
    informers_.Start();
    runtime_.RunReady();
  }
  void PutPod(const std::string& name) {
    client_.Put("pods",
                {{"metadata", {{"name", name}, {"namespace", "ns"}}}, {"status", {{"phase", "Running"}}}});
  }
  void PutQuota(const char* spec, const char* hard, const char* used) {
    client_.Put("resourcequotas", {{"metadata", {{"name", "q"}, {"namespace", "ns"}}},
                                   {"spec", {{"hard", {{"pods", spec}}}}},
                                   {"status", {{"hard", {{"pods", hard}}}, {"used", {{"pods", used}}}}}});
  }
  std::string Used() {
    return std::string(
        api::StringAt(client_.Find("resourcequotas", {"ns", "q"})->Parse(), "status", "used", "pods"));
  }

  FakeRuntime runtime_;
  FakeClient client_{runtime_};
  InformerSet informers_{runtime_.env(), client_};
  EventRecorder recorder_{runtime_.env(), client_};
  Metrics metrics_;
  WhyLog why_;
  ServedResources resources_{
      {{"pods", "", "v1", "Pod"}, {"nodes", "", "v1", "Node", false}, {"events", "", "v1", "Event"}}};
  std::unique_ptr<Controller> controller_;
};

TEST_F(QuotaRaces, ACorrectStatusIsNotWritten) { EXPECT_TRUE(client_.writes.empty()); }

TEST_F(QuotaRaces, OnlyWhatCanBeCountedIsWatched) {
  EXPECT_EQ(informers_.all().size(), 2u);  // pods and the quotas themselves
}

// 1. The apiserver reserves pod c: used 3. 2. The controller sees the reservation, but not the pod yet. A
// recount would give 2, and the next creation would exceed the quota.
TEST_F(QuotaRaces, AReservationForAPodInFlightIsKept) {
  PutQuota("3", "3", "3");
  runtime_.RunReady();
  EXPECT_TRUE(client_.writes.empty());
  PutPod("c");
  runtime_.RunReady();
  EXPECT_TRUE(client_.writes.empty());
  EXPECT_EQ(Used(), "3");
}

// The same while another pod is deleted, which makes the controller write.
TEST_F(QuotaRaces, OnlyDeletedPodsAreReleasedWhileAPodIsInFlight) {
  PutQuota("3", "3", "3");
  client_.Remove("pods", {"ns", "b"});
  runtime_.RunReady();
  EXPECT_EQ(Used(), "2");
  PutPod("c");
  runtime_.RunReady();
  EXPECT_EQ(Used(), "2");
  EXPECT_EQ(client_.writes.size(), 1u);
}

TEST_F(QuotaRaces, AReservationBetweenTheSyncAndTheWriteIsKept) {
  client_.HoldWrites();
  client_.Remove("pods", {"ns", "b"});
  runtime_.RunReady();
  PutQuota("3", "3", "3");
  client_.ReleaseWrites();  // a conflict: it was computed from used 2
  runtime_.RunReady();
  runtime_.Advance(1s);
  EXPECT_EQ(Used(), "2");
}

TEST_F(QuotaRaces, AWriteThatFailsIsTriedAgainWithAllThatWentMeanwhile) {
  client_.write_failures.push_back(api::InternalError("no disk"));
  client_.HoldWrites();
  client_.Remove("pods", {"ns", "a"});
  runtime_.RunReady();
  client_.Remove("pods", {"ns", "b"});
  runtime_.RunReady();
  client_.ReleaseWrites();
  runtime_.RunReady();
  runtime_.Advance(1s);
  EXPECT_EQ(Used(), "0");
}

TEST_F(QuotaRaces, LimitsThatTheViewHasNotSeenAreLeftToTheirEvent) {
  informers_.For("resourcequotas").Pause();
  PutQuota("5", "3", "2");
  client_.Remove("pods", {"ns", "b"});
  runtime_.RunReady();
  EXPECT_TRUE(client_.writes.empty());
  informers_.For("resourcequotas").Resume();
  runtime_.RunReady();
  EXPECT_EQ(Used(), "1");
  EXPECT_EQ(api::StringAt(client_.Find("resourcequotas", {"ns", "q"})->Parse(), "status", "hard", "pods"),
            "5");
}

// Deletions while the controller was stopped: it recounts when it starts.
TEST_F(QuotaRaces, ANewControllerCountsWhatThereIs) {
  controller_ = nullptr;
  client_.Remove("pods", {"ns", "a"});
  runtime_.RunReady();
  EXPECT_EQ(Used(), "2");
  ControllerContext context{runtime_.env(), client_, informers_, recorder_, metrics_, why_};
  controller_ = MakeResourceQuotaController(context, resources_);
  controller_->Start();
  runtime_.RunReady();
  EXPECT_EQ(Used(), "1");
}

}  // namespace
}  // namespace terrarium::controllers

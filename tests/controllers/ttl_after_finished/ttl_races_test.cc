// Changes between the controller's sync of a Job and its deletion, and stale views.

#include <gtest/gtest.h>

#include "api/base/errors.h"
#include "api/json_access.h"
#include "controllers/ttl_after_finished/ttl_after_finished_controller.h"
#include "tests/controllers/runtime/fake_client.h"
#include "tests/controllers/runtime/fake_runtime.h"

namespace terrarium::controllers {
namespace {

using api::Json;
using api::ObjectPtr;
using controllers_testing::FakeClient;
using controllers_testing::FakeRuntime;
using namespace std::chrono_literals;

class TtlRaces : public testing::Test {
 protected:
  TtlRaces() { StartController(); }

  void StartController() {
    ControllerContext context{runtime_.env(), client_, informers_, recorder_, metrics_, why_};
    controller_ = MakeTtlAfterFinishedController(context);
    informers_.OnSynced([this] { controller_->Start(); });
    informers_.Start();
    runtime_.RunReady();
  }

  Json FinishedJob(int ttl, const char* uid = "u1") {
    Json complete = {
        {"type", "Complete"}, {"status", "True"}, {"lastTransitionTime", api::FormatTime(runtime_.Now())}};
    return {{"metadata", {{"name", "pi"}, {"namespace", "default"}, {"uid", uid}}},
            {"spec", {{"ttlSecondsAfterFinished", ttl}}},
            {"status", {{"conditions", Json::array({complete})}}}};
  }
  void Put(const Json& job) {
    client_.Put("jobs", job);
    runtime_.RunReady();
  }
  bool JobExists() { return client_.Find("jobs", {"default", "pi"}) != nullptr; }

  FakeRuntime runtime_;
  FakeClient client_{runtime_};
  InformerSet informers_{runtime_.env(), client_};
  EventRecorder recorder_{runtime_.env(), client_};
  Metrics metrics_;
  WhyLog why_;
  std::unique_ptr<Controller> controller_;
};

TEST_F(TtlRaces, TheDeletionIsInTheForegroundAndNamesTheUid) {
  Put(FinishedJob(10));
  runtime_.Advance(10s);
  ASSERT_EQ(client_.writes.size(), 1u);
  EXPECT_EQ(client_.writes[0].verb, api::WriteRequest::Verb::kDelete);
  EXPECT_EQ(client_.writes[0].body,
            Json({{"preconditions", {{"uid", "u1"}}}, {"propagationPolicy", "Foreground"}}));
}

TEST_F(TtlRaces, AChangeThatTheViewHasNotSeenIsObeyed) {
  Put(FinishedJob(10));
  informers_.For("jobs").Pause();
  client_.Put("jobs", FinishedJob(30));
  runtime_.Advance(29s);
  EXPECT_TRUE(JobExists());
  runtime_.Advance(1s);
  EXPECT_FALSE(JobExists());
}

TEST_F(TtlRaces, AJobThatIsRunAgainUnderItsNameUnseenIsNotDeleted) {
  Put(FinishedJob(10));
  informers_.For("jobs").Pause();
  client_.Remove("jobs", {"default", "pi"});
  client_.Put("jobs", {{"metadata", {{"name", "pi"}, {"namespace", "default"}, {"uid", "u2"}}},
                       {"spec", {{"ttlSecondsAfterFinished", 10}}}});
  runtime_.Advance(1h);
  EXPECT_TRUE(JobExists());
  EXPECT_TRUE(client_.writes.empty());
}

TEST_F(TtlRaces, AJobReplacedWhileItsDeletionIsUnderWayIsNotDeleted) {
  Put(FinishedJob(10));
  client_.HoldWrites();
  runtime_.Advance(10s);
  client_.Remove("jobs", {"default", "pi"});
  client_.Put("jobs", FinishedJob(100, "u2"));
  client_.ReleaseWrites();
  runtime_.RunReady();
  runtime_.Advance(99s);
  EXPECT_TRUE(JobExists());
  runtime_.Advance(2s);
  EXPECT_FALSE(JobExists());
}

TEST_F(TtlRaces, ADeletionThatFailsIsTriedAgain) {
  Put(FinishedJob(10));
  client_.write_failures.push_back(api::InternalError("no"));
  runtime_.Advance(10s);
  EXPECT_TRUE(JobExists());
  runtime_.Advance(1s);
  EXPECT_FALSE(JobExists());
  EXPECT_EQ(client_.writes.size(), 2u);
}

TEST_F(TtlRaces, AJobThatIsGoneAlreadyIsNotAFailure) {
  Put(FinishedJob(10));
  client_.HoldWrites();
  runtime_.Advance(10s);
  client_.Remove("jobs", {"default", "pi"});
  client_.ReleaseWrites();
  runtime_.RunReady();
  runtime_.Advance(1h);
  EXPECT_EQ(client_.writes.size(), 1u);
  EXPECT_EQ(runtime_.timers(api::TimerKind::kWork), 0u);
}

TEST_F(TtlRaces, AControllerThatStartsAgainTakesUpTheTimersAndDeletesWhatIsOver) {
  Put(FinishedJob(10));
  controller_.reset();
  EXPECT_EQ(runtime_.timers(api::TimerKind::kWork), 0u);
  runtime_.Advance(1h);
  EXPECT_TRUE(JobExists());
  StartController();
  runtime_.Advance(0s);
  EXPECT_FALSE(JobExists());
}

TEST_F(TtlRaces, LateDeletionsShowInTheMetric) {
  Put(FinishedJob(10));
  client_.HoldWrites();
  runtime_.Advance(13s);
  client_.ReleaseWrites();
  runtime_.RunReady();
  const std::string text = metrics_.Text();
  EXPECT_NE(text.find("ttl_after_finished_controller_job_deletion_duration_seconds_sum 3"), std::string::npos)
      << text;
  EXPECT_NE(text.find("ttl_after_finished_controller_job_deletion_duration_seconds_count 1"),
            std::string::npos);
}

}  // namespace
}  // namespace terrarium::controllers

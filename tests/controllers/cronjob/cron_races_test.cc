// Crashes between two writes, stale views, foreign Jobs and failing requests, against a fake apiserver.

#include <gtest/gtest.h>

#include "api/base/errors.h"
#include "api/json_access.h"
#include "controllers/cronjob/cron_job_controller.h"
#include "tests/controllers/runtime/fake_client.h"
#include "tests/controllers/runtime/fake_runtime.h"

namespace terrarium::controllers {
namespace {

using api::Json;
using api::ObjectPtr;
using controllers_testing::FakeClient;
using controllers_testing::FakeRuntime;
using Verb = api::WriteRequest::Verb;
using namespace std::chrono_literals;

constexpr const char* kFirst = "c-29453761";  // 2026-01-01T00:01:00Z
constexpr const char* kSecond = "c-29453762";

class CronRaces : public testing::Test {
 protected:
  CronRaces() { StartController(); }

  void StartController() {
    ControllerContext context{runtime_.env(), client_, informers_, recorder_, metrics_, why_};
    controller_ = MakeCronJobController(context);
    informers_.OnSynced([this] { controller_->Start(); });
    informers_.Start();
    runtime_.RunReady();
  }

  // Runs every minute.
  void PutCronJob(const Json& spec = Json::object(), const Json& status = Json::object()) {
    Json cron_job = {{"metadata",
                      {{"name", "c"},
                       {"namespace", "default"},
                       {"uid", "cu"},
                       {"creationTimestamp", api::FormatTime(FakeRuntime::kStart)}}},
                     {"spec", {{"schedule", "* * * * *"}, {"jobTemplate", {{"spec", Json::object()}}}}},
                     {"status", status}};
    cron_job["spec"].update(spec);
    client_.Put("cronjobs", cron_job);
    runtime_.RunReady();
  }
  Json Job(const char* name, const char* controller_uid, const char* condition = nullptr) {
    Json job = {{"metadata",
                 {{"name", name},
                  {"namespace", "default"},
                  {"uid", std::string(name) + "-uid"},
                  {"ownerReferences",
                   {{{"apiVersion", "batch/v1"},
                     {"kind", "CronJob"},
                     {"name", "c"},
                     {"uid", controller_uid},
                     {"controller", true}}}}}},
                {"status", Json::object()}};
    if (condition != nullptr)
      job["status"]["conditions"] = Json::array({{{"type", condition}, {"status", "True"}}});
    return job;
  }
  // Lets the queue's gauges come to rest, so that only the timers of runs are left.
  void Rest() { runtime_.Advance(1s); }
  Json Status() { return client_.Find("cronjobs", {"default", "c"})->Parse()["status"]; }
  std::vector<std::string> Active() {
    std::vector<std::string> names;
    const Json status = Status();
    for (const Json& job : api::ListAt(status, "active")) names.emplace_back(api::StringAt(job, "name"));
    return names;
  }
  bool Exists(const char* job) { return client_.Find("jobs", {"default", job}) != nullptr; }
  int Sent(Verb verb, std::string_view resource) {
    int count = 0;
    for (const api::WriteRequest& write : client_.writes)
      if (write.verb == verb && write.resource == resource) ++count;
    return count;
  }
  // "reason: message" of the events so far.
  std::string Events() {
    runtime_.RunReady();
    std::string text;
    for (const api::WriteRequest& write : client_.writes) {
      if (write.resource != "events" || write.verb != Verb::kCreate) continue;
      text += std::string(api::StringAt(write.body, "reason")) + ": " +
              std::string(api::StringAt(write.body, "message")) + "\n";
    }
    return text;
  }
  bool HasEvent(const std::string& text) { return Events().find(text) != std::string::npos; }

  FakeRuntime runtime_;
  FakeClient client_{runtime_};
  InformerSet informers_{runtime_.env(), client_};
  EventRecorder recorder_{runtime_.env(), client_};
  Metrics metrics_;
  WhyLog why_;
  std::unique_ptr<Controller> controller_;
};

TEST_F(CronRaces, TheNextRunIsABackgroundTimer) {
  PutCronJob();
  Rest();
  EXPECT_EQ(runtime_.timers(api::TimerKind::kWork), 0u);
  EXPECT_EQ(runtime_.NextTimer(api::TimerKind::kBackground), 59'100ms);
  runtime_.Advance(59'100ms);
  EXPECT_TRUE(Exists(kFirst));
  EXPECT_EQ(Active(), std::vector<std::string>{kFirst});
  EXPECT_EQ(Status()["lastScheduleTime"], "2026-01-01T00:01:00Z");
  EXPECT_EQ(runtime_.timers(api::TimerKind::kWork), 0u);
}

TEST_F(CronRaces, AControllerThatCrashedBeforeItsStatusWriteTakesTheJobUp) {
  PutCronJob({{"concurrencyPolicy", "Forbid"}});
  // The Job is created; nothing else is written.
  client_.write_failures.assign(100, api::InternalError("no"));
  client_.write_failures.front() = std::nullopt;
  runtime_.Advance(60'100ms);
  controller_.reset();
  client_.write_failures.clear();
  ASSERT_TRUE(Exists(kFirst));
  EXPECT_TRUE(Active().empty());
  StartController();
  EXPECT_EQ(Active(), std::vector<std::string>{kFirst});
  EXPECT_EQ(Status()["lastScheduleTime"], "2026-01-01T00:01:00Z");
  EXPECT_TRUE(HasEvent(
      std::string("UnexpectedJob: Saw a job that the controller did not create or forgot: ") + kFirst));
}

TEST_F(CronRaces, AStaleViewStartsNoRunTwice) {
  PutCronJob();
  informers_.For("cronjobs").Pause();
  runtime_.Advance(70s);
  informers_.For("jobs").Disconnect();
  client_.Put("jobs", Job("other", "cu"));
  runtime_.Advance(10s);
  EXPECT_EQ(Active(), std::vector<std::string>{kFirst});
  EXPECT_EQ(Sent(Verb::kCreate, "jobs"), 1);
  informers_.For("cronjobs").Resume();
  runtime_.Advance(45s);
  EXPECT_EQ(Sent(Verb::kCreate, "jobs"), 2);
  EXPECT_EQ(Active(), (std::vector<std::string>{kFirst, kSecond}));
}

TEST_F(CronRaces, AJobOfAnotherOwnerUnderTheNameIsLeftAloneAndTheNextRunStarts) {
  Json foreign = Job(kFirst, "someone-else");
  foreign["metadata"]["ownerReferences"][0]["name"] = "d";
  client_.Put("jobs", foreign);
  PutCronJob();
  runtime_.Advance(61s);
  EXPECT_TRUE(Active().empty());
  runtime_.Advance(60s);
  EXPECT_EQ(Active(), std::vector<std::string>{kSecond});
}

TEST_F(CronRaces, ACreationThatFailsIsReportedAndTriedAgain) {
  PutCronJob();
  client_.write_failures.push_back(api::InternalError("no"));
  runtime_.Advance(60'100ms);
  EXPECT_FALSE(Exists(kFirst));
  EXPECT_TRUE(HasEvent("FailedCreate: Error creating job: Internal error occurred: no"));
  EXPECT_EQ(runtime_.timers(api::TimerKind::kWork), 1u);
  runtime_.Advance(1s);
  EXPECT_TRUE(Exists(kFirst));
}

TEST_F(CronRaces, ARefusalByATerminatingNamespaceIsNotReported) {
  PutCronJob();
  api::Status status = api::Forbidden({"batch", "jobs"}, kFirst, "namespace default is being terminated");
  status.details->causes.push_back({"NamespaceTerminating", "", "metadata.namespace"});
  client_.write_failures.push_back(status);
  runtime_.Advance(60'100ms);
  EXPECT_EQ(Events(), "");
}

TEST_F(CronRaces, AnActiveJobThatIsGoneIsForgottenAndOneOutOfViewIsNot) {
  const auto reference = [](const char* name) {
    return Json{{"name", name}, {"namespace", "default"}, {"uid", std::string(name) + "-uid"}};
  };
  informers_.For("jobs").Pause();
  client_.Put("jobs", Job("unseen", "cu"));
  PutCronJob(Json::object(), {{"active", {reference("gone"), reference("unseen")}}});
  EXPECT_EQ(Active(), std::vector<std::string>{"unseen"});
  EXPECT_EQ(Events(), "MissingJob: Active job went missing: gone\n");
}

TEST_F(CronRaces, ADeletionThatFailsIsReportedAndTheRestOfTheSyncGoesOn) {
  client_.Put("jobs", Job("old", "cu", "Complete"));
  client_.write_failures.push_back(api::InternalError("no"));
  PutCronJob({{"successfulJobsHistoryLimit", 0}});
  EXPECT_EQ(Events(), "FailedDelete: Deleted job: Internal error occurred: no\n");
  Rest();
  EXPECT_EQ(runtime_.NextTimer(api::TimerKind::kBackground), 59'100ms);
  runtime_.Advance(60s);
  EXPECT_FALSE(Exists("old"));
  EXPECT_TRUE(Exists(kFirst));
}

TEST_F(CronRaces, AJobIsDeletedInTheBackgroundByUid) {
  client_.Put("jobs", Job("old", "cu", "Failed"));
  PutCronJob({{"failedJobsHistoryLimit", 0}});
  ASSERT_EQ(Sent(Verb::kDelete, "jobs"), 1);
  EXPECT_EQ(client_.writes[0].body,
            Json({{"preconditions", {{"uid", "old-uid"}}}, {"propagationPolicy", "Background"}}));
  // The status is unchanged, so it is not written.
  EXPECT_EQ(Sent(Verb::kUpdate, "cronjobs"), 0);
}

TEST_F(CronRaces, ANewScheduleMovesTheNextSyncAndOtherChangesAreSyncedNow) {
  PutCronJob({{"schedule", "0 * * * *"}});
  Rest();
  EXPECT_EQ(runtime_.NextTimer(api::TimerKind::kBackground), 1h - 900ms);
  runtime_.Advance(10min + 29s);
  // The runs of the new schedule until now are not made up for before the next sync.
  PutCronJob({{"schedule", "*/5 * * * *"}});
  EXPECT_EQ(Sent(Verb::kCreate, "jobs"), 0);
  EXPECT_EQ(runtime_.NextTimer(api::TimerKind::kBackground), 4min + 30s + 100ms);
  PutCronJob({{"schedule", "*/5 * * * *"}, {"failedJobsHistoryLimit", 3}});
  EXPECT_EQ(Sent(Verb::kCreate, "jobs"), 1);
  EXPECT_EQ(Status()["lastScheduleTime"], "2026-01-01T00:10:00Z");
}

TEST_F(CronRaces, AScheduleThatCannotBeReadIsReportedAndNotRetried) {
  PutCronJob({{"schedule", "obvious error schedule"}});
  EXPECT_EQ(
      Events(),
      "UnparseableSchedule: unparseable schedule: \"obvious error schedule\" : expected exactly 5 fields, "
      "found 3: [obvious error schedule]\n");
  PutCronJob({{"schedule", "worse"}});
  EXPECT_TRUE(HasEvent("UnParseableCronJobSchedule: unparseable schedule for cronjob: worse"));
  PutCronJob({{"schedule", "* * * * *"}, {"timeZone", "Nowhere"}});
  runtime_.Advance(2min);
  EXPECT_TRUE(HasEvent("UnknownTimeZone: invalid timeZone: \"Nowhere\": unknown time zone Nowhere"));
  EXPECT_EQ(Sent(Verb::kCreate, "jobs"), 0);
}

TEST_F(CronRaces, AScheduleThatIsNeverDueIsReportedOnce) {
  PutCronJob({{"schedule", "59 23 31 2 *"}});
  EXPECT_EQ(Events(),
            "InvalidSchedule: invalid schedule: 59 23 31 2 * : time difference between two schedules is less "
            "than 1 second\n");
  Rest();
  EXPECT_EQ(runtime_.timers(api::TimerKind::kBackground) + runtime_.timers(api::TimerKind::kWork), 0u);
}

TEST_F(CronRaces, AZoneInTheScheduleIsObeyedWithAWarning) {
  PutCronJob({{"schedule", "TZ=Asia/Tokyo 1 9 * * *"}});
  EXPECT_TRUE(HasEvent(
      "UnsupportedSchedule: CRON_TZ or TZ used in schedule \"TZ=Asia/Tokyo 1 9 * * *\" is not officially "
      "supported, see https://kubernetes.io/docs/concepts/workloads/controllers/cron-jobs/ for more "
      "details"));
  runtime_.Advance(61s);
  EXPECT_TRUE(Exists(kFirst));
}

TEST_F(CronRaces, ACronJobThatIsBeingDeletedStartsNothing) {
  PutCronJob();
  Json cron_job = client_.Find("cronjobs", {"default", "c"})->Parse();
  cron_job["metadata"]["deletionTimestamp"] = api::FormatTime(runtime_.Now());
  cron_job["metadata"]["finalizers"] = {"foregroundDeletion"};
  client_.Put("cronjobs", cron_job);
  runtime_.Advance(5min);
  EXPECT_EQ(Sent(Verb::kCreate, "jobs"), 0);
}

TEST_F(CronRaces, TheTimerOfADeletedCronJobIsCancelled) {
  PutCronJob();
  client_.Remove("cronjobs", {"default", "c"});
  Rest();
  EXPECT_EQ(runtime_.timers(api::TimerKind::kBackground), 0u);
}

TEST_F(CronRaces, ACreationThatTookLongShowsInTheMetric) {
  PutCronJob();
  controller_.reset();
  runtime_.Advance(90s);
  StartController();
  EXPECT_TRUE(Exists(kFirst));
  EXPECT_NE(metrics_.Text().find("cronjob_controller_job_creation_skew_duration_seconds_count 1"),
            std::string::npos)
      << metrics_.Text();
}

}  // namespace
}  // namespace terrarium::controllers

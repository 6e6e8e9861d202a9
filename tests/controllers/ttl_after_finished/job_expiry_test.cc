#include "controllers/ttl_after_finished/internal/job_expiry.h"

#include <gtest/gtest.h>

namespace terrarium::controllers::ttl_after_finished {
namespace {

using api::Json;
using std::chrono::seconds;

const api::Time kFinished{seconds(1'767'225'600)};

Json FinishedJob(const char* type, const char* status = "True") {
  Json earlier = {{"type", "Suspended"},
                  {"status", "True"},
                  {"lastTransitionTime", api::FormatTime(kFinished - seconds(9))}};
  Json condition = {{"type", type}, {"status", status}, {"lastTransitionTime", api::FormatTime(kFinished)}};
  return {{"spec", {{"ttlSecondsAfterFinished", 100}}}, {"status", {{"conditions", {earlier, condition}}}}};
}

TEST(JobExpiry, IsTheTimeToLiveAfterTheJobCompletedOrFailed) {
  EXPECT_EQ(ExpiryOf(FinishedJob("Complete")), kFinished + seconds(100));
  EXPECT_EQ(ExpiryOf(FinishedJob("Failed")), kFinished + seconds(100));
  Json immediate = FinishedJob("Complete");
  immediate["spec"]["ttlSecondsAfterFinished"] = 0;
  EXPECT_EQ(ExpiryOf(immediate), kFinished);
}

TEST(JobExpiry, AJobThatHasNotFinishedHasNone) {
  EXPECT_EQ(ExpiryOf(FinishedJob("Complete", "False")), std::nullopt);
  EXPECT_EQ(ExpiryOf(FinishedJob("SuccessCriteriaMet")), std::nullopt);
  EXPECT_EQ(ExpiryOf(FinishedJob("FailureTarget")), std::nullopt);
  EXPECT_EQ(ExpiryOf({{"spec", {{"ttlSecondsAfterFinished", 100}}}}), std::nullopt);
}

TEST(JobExpiry, AJobWithoutTimeToLiveIsKept) {
  Json job = FinishedJob("Complete");
  job["spec"].erase("ttlSecondsAfterFinished");
  EXPECT_EQ(ExpiryOf(job), std::nullopt);
}

TEST(JobExpiry, AJobThatIsBeingDeletedIsLeftAlone) {
  Json job = FinishedJob("Complete");
  job["metadata"]["deletionTimestamp"] = api::FormatTime(kFinished);
  EXPECT_EQ(ExpiryOf(job), std::nullopt);
}

TEST(JobExpiry, WithoutTheTimeOfTheConditionThereIsNone) {
  Json job = FinishedJob("Complete");
  job["status"]["conditions"][1].erase("lastTransitionTime");
  EXPECT_EQ(ExpiryOf(job), std::nullopt);
}

}  // namespace
}  // namespace terrarium::controllers::ttl_after_finished

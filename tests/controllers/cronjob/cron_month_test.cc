// 30 days of a run every five minutes. The Jobs need no pods, so that the time goes into the controllers.

#include <gtest/gtest.h>

#include "testbed/embedding/testbed.h"

namespace terrarium::controllers {
namespace {

using api::Json;
using testbed::Testbed;
using namespace std::chrono_literals;

TEST(CronJobMonth, EveryRunOfAMonthHappens) {
  Testbed bed({.controllers = "cronjob-controller,job-controller,garbage-collector-controller",
               .kubelet = false,
               .scheduler = false,
               .nodes = 0});
  Json pod = {{"spec", {{"restartPolicy", "Never"}, {"containers", {{{"name", "c"}, {"image", "i"}}}}}}};
  Json job = {{"completions", 0}, {"template", pod}};
  Testbed::Must(bed.Create("cronjobs", "default",
                           {{"metadata", {{"name", "c"}}},
                            {"spec", {{"schedule", "*/5 * * * *"}, {"jobTemplate", {{"spec", job}}}}}}));
  bed.clock().Advance(30 * 24h + 1min);
  const Json status = bed.Get("cronjobs", "default", "c")->Parse()["status"];
  EXPECT_EQ(status["lastScheduleTime"], "2026-01-31T00:00:00Z");
  EXPECT_EQ(status["lastSuccessfulTime"], "2026-01-31T00:00:00Z");
  EXPECT_FALSE(status.contains("active"));
  EXPECT_EQ(bed.List("jobs", "default").size(), 3u);
  apiserver::Request request;
  request.method = "GET";
  request.path = "/metrics";
  const apiserver::Response metrics = bed.Serve(std::move(request));
  EXPECT_NE(metrics.body.find("cronjob_controller_job_creation_skew_duration_seconds_count 8640"),
            std::string::npos);
}

}  // namespace
}  // namespace terrarium::controllers

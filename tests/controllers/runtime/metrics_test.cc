#include "controllers/runtime/metrics.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace terrarium::controllers {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

TEST(Metrics, AllSeriesOfAQueueAppearTogetherUnderTheirKubernetesNames) {
  Metrics metrics;
  EXPECT_THAT(metrics.Text(), Not(HasSubstr("name=\"disruption\"")));
  metrics.QueueAdded("disruption");
  const std::string text = metrics.Text();
  for (const char* line : {
           "# HELP workqueue_depth [BETA] Current depth of workqueue\n# TYPE workqueue_depth gauge\n"
           "workqueue_depth{name=\"disruption\"} 0\n",
           "# HELP workqueue_adds_total [BETA] Total number of adds handled by workqueue\n"
           "# TYPE workqueue_adds_total counter\nworkqueue_adds_total{name=\"disruption\"} 1\n",
           "# HELP workqueue_queue_duration_seconds [BETA] How long in seconds an item stays in workqueue "
           "before being "
           "requested.\n# TYPE workqueue_queue_duration_seconds histogram\n",
           "# HELP workqueue_work_duration_seconds [BETA] How long in seconds processing an item from "
           "workqueue "
           "takes.\n# TYPE workqueue_work_duration_seconds histogram\n",
           "# HELP workqueue_unfinished_work_seconds [BETA] How many seconds of work has done that is in "
           "progress and "
           "hasn't been observed by work_duration. Large values indicate stuck threads. One can deduce the "
           "number of "
           "stuck threads by observing the rate at which this increases.\n",
           "# HELP workqueue_longest_running_processor_seconds [BETA] How many seconds has the longest "
           "running "
           "processor for workqueue been running.\n",
           "# HELP workqueue_retries_total [BETA] Total number of retries handled by workqueue\n"
           "# TYPE workqueue_retries_total counter\nworkqueue_retries_total{name=\"disruption\"} 0\n",
       })
    EXPECT_THAT(text, HasSubstr(line));
}

TEST(Metrics, BucketsAreThoseOfKubernetes) {
  Metrics metrics;
  metrics.QueueWaited("q", std::chrono::milliseconds(50));
  const std::string text = metrics.Text();
  const std::string bucket = "workqueue_queue_duration_seconds_bucket{name=\"q\",le=";
  int buckets = 0;
  for (std::size_t at = text.find(bucket); at != std::string::npos; at = text.find(bucket, at + 1)) ++buckets;
  EXPECT_EQ(buckets, 11);
  for (const char* rest : {"\"1e-08\"} 0\n", "\"9.999999999999999e-06\"} 0\n", "\"0.01\"} 0\n",
                           "\"0.1\"} 1\n", "\"1\"} 1\n", "\"10\"} 1\n", "\"+Inf\"} 1\n"})
    EXPECT_THAT(text, HasSubstr(bucket + rest));
}

TEST(Metrics, QueuesDoNotMix) {
  Metrics metrics;
  metrics.QueueDepth("a", 3);
  metrics.QueueDepth("b", 4);
  metrics.QueueRetried("b");
  EXPECT_THAT(metrics.Text(), HasSubstr("workqueue_depth{name=\"a\"} 3\n"));
  EXPECT_THAT(metrics.Text(), HasSubstr("workqueue_depth{name=\"b\"} 4\n"));
  EXPECT_THAT(metrics.Text(), HasSubstr("workqueue_retries_total{name=\"a\"} 0\n"));
}

}  // namespace
}  // namespace terrarium::controllers

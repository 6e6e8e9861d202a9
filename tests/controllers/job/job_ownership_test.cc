// Adoption, release, and the pods of a deleted Job.

#include <gtest/gtest.h>

#include "tests/controllers/job/job_cluster.h"

namespace terrarium::controllers::job {
namespace {

using namespace std::chrono_literals;
using api::ObjectPtr;
using testing::JobCluster;
using testing::Json;
using Strings = std::vector<std::string>;

const Json kLabels = {{"app", "batch"}, {"job-name", "j"}};

// A Job with a user-defined selector, which can match other pods.
Json ManualSelector(Json more = Json::object()) {
  Json spec = {{"manualSelector", true},
               {"selector", {{"matchLabels", {{"app", "batch"}}}}},
               {"template", {{"metadata", {{"labels", kLabels}}}}}};
  spec.update(more);
  return spec;
}

ObjectPtr AddPod(JobCluster& cluster, const std::string& name, const Json& labels = kLabels) {
  return cluster.bed().Must(cluster.bed().Create(
      "pods", "default",
      {{"metadata", {{"name", name}, {"labels", labels}}},
       {"spec", {{"restartPolicy", "Never"}, {"containers", {{{"name", "c"}, {"image", "nginx:1"}}}}}}}));
}

Json Metadata(JobCluster& cluster, const std::string& pod) {
  return (*cluster.bed().Get("pods", "default", pod)->Document())["metadata"];
}

TEST(JobOwnership, OrphansThatItSelectsAreAdoptedAndTracked) {
  JobCluster cluster;
  AddPod(cluster, "before");
  cluster.AddJob(ManualSelector({{"completions", 3}, {"parallelism", 2}}));
  cluster.Pass(2s);
  ASSERT_EQ(cluster.ActivePods().size(), 2u) << "the orphan counts";
  Json adopted = Metadata(cluster, "before");
  EXPECT_EQ(adopted["finalizers"], Json::array({"batch.kubernetes.io/job-tracking"}));
  EXPECT_EQ(adopted["ownerReferences"][0]["name"], "j");
  AddPod(cluster, "later");
  cluster.Pass(2s);
  EXPECT_EQ(cluster.Counts(), "active 2 ready 2 terminating 0") << "one of three is too many";
  if (cluster.bed().Get("pods", "default", "before") != nullptr) cluster.EndPod("before", 0);
  cluster.Idle();
  EXPECT_EQ(cluster.Counts(), "active 2 ready 2 terminating 0 succeeded 1")
      << "an adopted pod counts like any other";
}

TEST(JobOwnership, PodsOfOthersAndPodsBeingDeletedAreNotAdopted) {
  JobCluster cluster;
  cluster.bed().Must(
      cluster.bed().Create("replicasets", "default",
                           {{"metadata", {{"name", "rs"}}},
                            {"spec",
                             {{"replicas", 1},
                              {"selector", {{"matchLabels", {{"app", "batch"}, {"tier", "web"}}}}},
                              {"template",
                               {{"metadata", {{"labels", {{"app", "batch"}, {"tier", "web"}}}}},
                                {"spec", {{"containers", {{{"name", "c"}, {"image", "nginx:1"}}}}}}}}}}}));
  cluster.Idle();
  cluster.bed().Must(cluster.bed().Create(
      "pods", "default",
      {{"metadata",
        {{"name", "going"}, {"labels", kLabels}, {"annotations", {{"terrarium.dev/hold", "terminating"}}}}},
       {"spec", {{"containers", {{{"name", "c"}, {"image", "nginx:1"}}}}}}}));
  cluster.Idle();
  cluster.DeletePod("going");
  cluster.AddJob(ManualSelector());
  cluster.Idle();
  EXPECT_FALSE(Metadata(cluster, "going").contains("ownerReferences"));
  EXPECT_EQ(cluster.Counts(), "active 1 ready 1 terminating 0");
}

TEST(JobOwnership, APodThatItDoesNotSelectAnyMoreIsReleasedWithItsFinalizerAndReplaced) {
  JobCluster cluster;
  cluster.AddJob(ManualSelector());
  cluster.Idle();
  const std::string pod = cluster.ActivePods().at(0);
  cluster.bed().Must(
      cluster.bed().Patch("pods", {"default", pod}, {{"metadata", {{"labels", {{"app", "mine"}}}}}}));
  cluster.Idle();
  Json released = Metadata(cluster, pod);
  EXPECT_FALSE(released.contains("ownerReferences"));
  EXPECT_FALSE(released.contains("finalizers"));
  EXPECT_EQ(cluster.Counts(), "active 1 ready 1 terminating 0");
  EXPECT_EQ(cluster.ActivePods().size(), 2u) << "the released one still has the label that this test selects";
  // The Job selects it again: one too many, and the more advanced one stays.
  cluster.bed().Must(
      cluster.bed().Patch("pods", {"default", pod}, {{"metadata", {{"labels", {{"app", "batch"}}}}}}));
  cluster.Idle();
  EXPECT_EQ(cluster.ActivePods(), Strings{pod});
}

TEST(JobOwnership, AFinishedPodIsReleasedToo) {
  JobCluster cluster;
  cluster.AddJob(ManualSelector({{"completions", 2}}));
  cluster.Idle();
  const std::string pod = cluster.ActivePods().at(0);
  cluster.EndPod(pod, 0);
  cluster.Idle();
  cluster.bed().Must(
      cluster.bed().Patch("pods", {"default", pod}, {{"metadata", {{"labels", {{"app", "mine"}}}}}}));
  cluster.Idle();
  EXPECT_FALSE(Metadata(cluster, pod).contains("ownerReferences"));
  EXPECT_EQ(cluster.Counts(), "active 1 ready 1 terminating 0 succeeded 1")
      << "what is counted stays counted";
}

TEST(JobOwnership, DeletedInTheBackgroundItTakesItsPodsWithIt) {
  JobCluster cluster;
  cluster.AddJob({{"completions", 3}, {"parallelism", 3}}, {{"stop-after", "20s"}});
  cluster.Pass(5s);
  cluster.EndPod(cluster.ActivePods()[0], 0);
  cluster.bed().Must(cluster.bed().Delete("jobs", {"default", "j"}, {.propagation_policy = "Background"}));
  cluster.Idle();
  EXPECT_EQ(cluster.Job(), nullptr);
  EXPECT_TRUE(cluster.Pods().empty());
}

TEST(JobOwnership, DeletedInTheForegroundItWaitsForItsPods) {
  JobCluster cluster;
  cluster.AddJob({{"completions", 2}, {"parallelism", 2}}, {{"stop-after", "20s"}});
  cluster.Pass(5s);
  cluster.bed().Must(cluster.bed().Delete("jobs", {"default", "j"}, {.propagation_policy = "Foreground"}));
  cluster.Pass(10s);
  EXPECT_NE(cluster.Job(), nullptr);
  EXPECT_EQ(cluster.FinalizersLeft(), 0);
  EXPECT_EQ(cluster.ActivePods().size(), 0u) << "none is replaced";
  cluster.Idle();
  EXPECT_EQ(cluster.Job(), nullptr);
  EXPECT_TRUE(cluster.Pods().empty());
}

TEST(JobOwnership, OrphanedPodsGoOnWithoutFinalizer) {
  JobCluster cluster;
  cluster.AddJob({{"completions", 2}, {"parallelism", 2}});
  cluster.Pass(5s);
  cluster.bed().Must(cluster.bed().Delete("jobs", {"default", "j"}, {.propagation_policy = "Orphan"}));
  cluster.Idle();
  EXPECT_EQ(cluster.Job(), nullptr);
  EXPECT_EQ(cluster.ActivePods().size(), 2u);
  EXPECT_EQ(cluster.FinalizersLeft(), 0);
  EXPECT_FALSE(Metadata(cluster, cluster.ActivePods()[0]).contains("ownerReferences"));
}

TEST(JobOwnership, AJobThatGoesWhileNoControllerRunsLeavesNoFinalizersBehind) {
  JobCluster cluster;
  cluster.AddJob({{"completions", 2}, {"parallelism", 2}});
  cluster.AddJob({}, {{"run-for", "1m"}}, "ending");
  cluster.Pass(5s);
  cluster.StopController();
  cluster.bed().Must(cluster.bed().Delete("jobs", {"default", "j"}, {.propagation_policy = "Background"}));
  cluster.bed().Must(cluster.bed().Delete("jobs", {"default", "ending"}, {.propagation_policy = "Orphan"}));
  cluster.Pass(2min);
  EXPECT_EQ(cluster.FinalizersLeft(), 3);
  cluster.StartController();
  cluster.Idle();
  EXPECT_EQ(cluster.FinalizersLeft(), 0);
  EXPECT_TRUE(cluster.Pods().empty());
  EXPECT_EQ(cluster.Pods("ending").size(), 1u);
}

TEST(JobOwnership, AJobCreatedAgainUnderTheSameNameBeginsAtZero) {
  JobCluster cluster;
  cluster.AddJob({{"completions", 2}, {"parallelism", 2}}, {{"stop-after", "20s"}});
  cluster.Pass(5s);
  cluster.EndPod(cluster.ActivePods()[0], 1);
  cluster.Pass(5s);
  cluster.bed().Must(cluster.bed().Delete("jobs", {"default", "j"}, {.propagation_policy = "Background"}));
  cluster.AddJob({{"completions", 1}});
  cluster.Idle();
  EXPECT_EQ(cluster.Counts(), "active 1 ready 1 terminating 0");
  EXPECT_EQ(cluster.Pods().size(), 1u);
}

TEST(JobOwnership, ANamespaceThatGoesTakesJobAndPodsWithIt) {
  JobCluster cluster;
  cluster.bed().Must(cluster.bed().Create("namespaces", "", {{"metadata", {{"name", "team"}}}}));
  Json job = {
      {"metadata", {{"name", "j"}}},
      {"spec",
       {{"parallelism", 3},
        {"completions", 5},
        {"template",
         {{"spec",
           {{"restartPolicy", "Never"}, {"containers", {{{"name", "c"}, {"image", "nginx:1"}}}}}}}}}}};
  cluster.bed().Must(cluster.bed().Create("jobs", "team", job));
  cluster.Idle();
  cluster.bed().Must(cluster.bed().Delete("namespaces", {"", "team"}));
  cluster.Idle();
  EXPECT_EQ(cluster.bed().Get("namespaces", "", "team"), nullptr);
  EXPECT_TRUE(cluster.bed().List("pods", "team").empty());
}

}  // namespace
}  // namespace terrarium::controllers::job

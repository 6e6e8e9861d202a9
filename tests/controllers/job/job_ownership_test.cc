// Whose pods are whose: adoption, release, and what becomes of the pods when their Job goes.

#include <gtest/gtest.h>

#include "tests/controllers/job/job_plane.h"

namespace terrarium::controllers::job {
namespace {

using namespace std::chrono_literals;
using api::ObjectPtr;
using testing::JobPlane;
using testing::Json;
using Strings = std::vector<std::string>;

const Json kLabels = {{"app", "batch"}, {"job-name", "j"}};

// A Job with a selector of the user's own, under which other pods can fall.
Json ManualSelector(Json more = Json::object()) {
  Json spec = {{"manualSelector", true},
               {"selector", {{"matchLabels", {{"app", "batch"}}}}},
               {"template", {{"metadata", {{"labels", kLabels}}}}}};
  spec.update(more);
  return spec;
}

ObjectPtr AddPod(JobPlane& plane, const std::string& name, const Json& labels = kLabels) {
  return plane.bed().Must(plane.bed().Create(
      "pods", "default",
      {{"metadata", {{"name", name}, {"labels", labels}}},
       {"spec", {{"restartPolicy", "Never"}, {"containers", {{{"name", "c"}, {"image", "nginx:1"}}}}}}}));
}

Json Metadata(JobPlane& plane, const std::string& pod) {
  return (*plane.bed().Get("pods", "default", pod)->Document())["metadata"];
}

TEST(JobOwnership, OrphansThatItSelectsAreAdoptedAndTracked) {
  JobPlane plane;
  AddPod(plane, "before");
  plane.AddJob(ManualSelector({{"completions", 3}, {"parallelism", 2}}));
  plane.Pass(2s);
  ASSERT_EQ(plane.ActivePods().size(), 2u) << "the orphan counts";
  Json adopted = Metadata(plane, "before");
  EXPECT_EQ(adopted["finalizers"], Json::array({"batch.kubernetes.io/job-tracking"}));
  EXPECT_EQ(adopted["ownerReferences"][0]["name"], "j");
  AddPod(plane, "later");
  plane.Pass(2s);
  EXPECT_EQ(plane.Counts(), "active 2 ready 2 terminating 0") << "one of three is too many";
  if (plane.bed().Get("pods", "default", "before") != nullptr) plane.EndPod("before", 0);
  plane.Idle();
  EXPECT_EQ(plane.Counts(), "active 2 ready 2 terminating 0 succeeded 1") << "an adopted pod counts like any other";
}

TEST(JobOwnership, PodsOfOthersAndPodsBeingDeletedAreNotAdopted) {
  JobPlane plane;
  plane.bed().Must(plane.bed().Create(
      "replicasets", "default",
      {{"metadata", {{"name", "rs"}}},
       {"spec",
        {{"replicas", 1},
         {"selector", {{"matchLabels", {{"app", "batch"}, {"tier", "web"}}}}},
         {"template",
          {{"metadata", {{"labels", {{"app", "batch"}, {"tier", "web"}}}}},
           {"spec", {{"containers", {{{"name", "c"}, {"image", "nginx:1"}}}}}}}}}}}));
  plane.Idle();
  plane.bed().Must(plane.bed().Create("pods", "default",
                                      {{"metadata",
                                        {{"name", "going"},
                                         {"labels", kLabels},
                                         {"annotations", {{"terrarium.dev/hold", "terminating"}}}}},
                                       {"spec", {{"containers", {{{"name", "c"}, {"image", "nginx:1"}}}}}}}));
  plane.Idle();
  plane.DeletePod("going");
  plane.AddJob(ManualSelector());
  plane.Idle();
  EXPECT_FALSE(Metadata(plane, "going").contains("ownerReferences"));
  EXPECT_EQ(plane.Counts(), "active 1 ready 1 terminating 0");
}

TEST(JobOwnership, APodThatItDoesNotSelectAnyMoreIsReleasedWithItsFinalizerAndReplaced) {
  JobPlane plane;
  plane.AddJob(ManualSelector());
  plane.Idle();
  const std::string pod = plane.ActivePods().at(0);
  plane.bed().Must(plane.bed().Patch("pods", {"default", pod}, {{"metadata", {{"labels", {{"app", "mine"}}}}}}));
  plane.Idle();
  Json released = Metadata(plane, pod);
  EXPECT_FALSE(released.contains("ownerReferences"));
  EXPECT_FALSE(released.contains("finalizers"));
  EXPECT_EQ(plane.Counts(), "active 1 ready 1 terminating 0");
  EXPECT_EQ(plane.ActivePods().size(), 2u) << "the released one still has the label by which this test looks";
  // It comes back: one too many, and the one that has come furthest stays.
  plane.bed().Must(plane.bed().Patch("pods", {"default", pod}, {{"metadata", {{"labels", {{"app", "batch"}}}}}}));
  plane.Idle();
  EXPECT_EQ(plane.ActivePods(), Strings{pod});
}

TEST(JobOwnership, AFinishedPodIsReleasedToo) {
  JobPlane plane;
  plane.AddJob(ManualSelector({{"completions", 2}}));
  plane.Idle();
  const std::string pod = plane.ActivePods().at(0);
  plane.EndPod(pod, 0);
  plane.Idle();
  plane.bed().Must(plane.bed().Patch("pods", {"default", pod}, {{"metadata", {{"labels", {{"app", "mine"}}}}}}));
  plane.Idle();
  EXPECT_FALSE(Metadata(plane, pod).contains("ownerReferences"));
  EXPECT_EQ(plane.Counts(), "active 1 ready 1 terminating 0 succeeded 1") << "what is counted stays counted";
}

TEST(JobOwnership, DeletedInTheBackgroundItTakesItsPodsWithIt) {
  JobPlane plane;
  plane.AddJob({{"completions", 3}, {"parallelism", 3}}, {{"stop-after", "20s"}});
  plane.Pass(5s);
  plane.EndPod(plane.ActivePods()[0], 0);
  plane.bed().Must(plane.bed().Delete("jobs", {"default", "j"}, {.propagation_policy = "Background"}));
  plane.Idle();
  EXPECT_EQ(plane.Job(), nullptr);
  EXPECT_TRUE(plane.Pods().empty());
}

TEST(JobOwnership, DeletedInTheForegroundItWaitsForItsPods) {
  JobPlane plane;
  plane.AddJob({{"completions", 2}, {"parallelism", 2}}, {{"stop-after", "20s"}});
  plane.Pass(5s);
  plane.bed().Must(plane.bed().Delete("jobs", {"default", "j"}, {.propagation_policy = "Foreground"}));
  plane.Pass(10s);
  EXPECT_NE(plane.Job(), nullptr);
  EXPECT_EQ(plane.FinalizersLeft(), 0);
  EXPECT_EQ(plane.ActivePods().size(), 0u) << "none is replaced";
  plane.Idle();
  EXPECT_EQ(plane.Job(), nullptr);
  EXPECT_TRUE(plane.Pods().empty());
}

TEST(JobOwnership, OrphanedPodsGoOnWithoutFinalizer) {
  JobPlane plane;
  plane.AddJob({{"completions", 2}, {"parallelism", 2}});
  plane.Pass(5s);
  plane.bed().Must(plane.bed().Delete("jobs", {"default", "j"}, {.propagation_policy = "Orphan"}));
  plane.Idle();
  EXPECT_EQ(plane.Job(), nullptr);
  EXPECT_EQ(plane.ActivePods().size(), 2u);
  EXPECT_EQ(plane.FinalizersLeft(), 0);
  EXPECT_FALSE(Metadata(plane, plane.ActivePods()[0]).contains("ownerReferences"));
}

TEST(JobOwnership, AJobThatGoesWhileNoControllerRunsLeavesNoFinalizersBehind) {
  JobPlane plane;
  plane.AddJob({{"completions", 2}, {"parallelism", 2}});
  plane.AddJob({}, {{"run-for", "1m"}}, "ending");
  plane.Pass(5s);
  plane.StopController();
  plane.bed().Must(plane.bed().Delete("jobs", {"default", "j"}, {.propagation_policy = "Background"}));
  plane.bed().Must(plane.bed().Delete("jobs", {"default", "ending"}, {.propagation_policy = "Orphan"}));
  plane.Pass(2min);
  EXPECT_EQ(plane.FinalizersLeft(), 3);
  plane.StartController();
  plane.Idle();
  EXPECT_EQ(plane.FinalizersLeft(), 0);
  EXPECT_TRUE(plane.Pods().empty());
  EXPECT_EQ(plane.Pods("ending").size(), 1u);
}

TEST(JobOwnership, AJobMadeAnewUnderTheSameNameBeginsAtZero) {
  JobPlane plane;
  plane.AddJob({{"completions", 2}, {"parallelism", 2}}, {{"stop-after", "20s"}});
  plane.Pass(5s);
  plane.EndPod(plane.ActivePods()[0], 1);
  plane.Pass(5s);
  plane.bed().Must(plane.bed().Delete("jobs", {"default", "j"}, {.propagation_policy = "Background"}));
  plane.AddJob({{"completions", 1}});
  plane.Idle();
  EXPECT_EQ(plane.Counts(), "active 1 ready 1 terminating 0");
  EXPECT_EQ(plane.Pods().size(), 1u);
}

TEST(JobOwnership, ANamespaceThatGoesTakesJobAndPodsWithIt) {
  JobPlane plane;
  plane.bed().Must(plane.bed().Create("namespaces", "", {{"metadata", {{"name", "team"}}}}));
  Json job = {{"metadata", {{"name", "j"}}},
              {"spec",
               {{"parallelism", 3},
                {"completions", 5},
                {"template",
                 {{"spec", {{"restartPolicy", "Never"}, {"containers", {{{"name", "c"}, {"image", "nginx:1"}}}}}}}}}}};
  plane.bed().Must(plane.bed().Create("jobs", "team", job));
  plane.Idle();
  plane.bed().Must(plane.bed().Delete("namespaces", {"", "team"}));
  plane.Idle();
  EXPECT_EQ(plane.bed().Get("namespaces", "", "team"), nullptr);
  EXPECT_TRUE(plane.bed().List("pods", "team").empty());
}

}  // namespace
}  // namespace terrarium::controllers::job

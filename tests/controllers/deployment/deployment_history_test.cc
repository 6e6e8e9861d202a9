// Revisions, rollbacks, the history limit, and ReplicaSets that change owners.

#include <gtest/gtest.h>

#include "api/json_access.h"
#include "controllers/deployment/internal/annotations.h"
#include "controllers/deployment/internal/pod_template.h"
#include "controllers/runtime/owner_references.h"
#include "tests/controllers/deployment/deployment_testing.h"

namespace terrarium::controllers::deployment {
namespace {

using api::Json;
using api::StringAt;
using namespace std::chrono_literals;

std::string NameOf(const Json& set) { return std::string(StringAt(set, "metadata", "name")); }
std::string ImageOf(const Json& object) {
  return object["spec"]["template"]["spec"]["containers"][0]["image"].get<std::string>();
}

class DeploymentHistory : public testing::Test {
 protected:
  // Rolls out images 1 to `last`.
  void RollOut(int last, const Json& spec = Json::object()) {
    cluster_.Create(2, spec);
    cluster_.RunToTheEnd();
    for (int i = 2; i <= last; ++i) {
      cluster_.SetImage("web:" + std::to_string(i));
      cluster_.RunToTheEnd();
    }
  }
  void AskForRollback(const std::string& revision) {
    cluster_.Patch({{"metadata", {{"annotations", {{std::string(kRollbackTo), revision}}}}}});
    cluster_.RunToTheEnd();
  }
  std::string Revisions() {
    std::string text;
    for (const Json& set : cluster_.Sets())
      text += cluster_.Annotation(set, kRevision) + "=" + ImageOf(set) + " ";
    return text;
  }
  Json Orphan(const std::string& name, const Json& labels) {
    return {{"metadata", {{"name", name}, {"labels", labels}}},
            {"spec",
             {{"replicas", 1},
              {"selector", {{"matchLabels", labels}}},
              {"template",
               {{"metadata", {{"labels", labels}}},
                {"spec", {{"containers", {{{"name", "c"}, {"image", "web:0"}}}}}}}}}}};
  }
  std::shared_ptr<const OwnerReference> ControllerOfSet(const std::string& name) {
    return cluster_.bed().Get("replicasets", "default", name)->header().controller;
  }
  WebCluster cluster_;
};

TEST_F(DeploymentHistory, EveryTemplateIsARevision) {
  RollOut(3);
  EXPECT_EQ(Revisions(), "1=web:1 2=web:2 3=web:3 ");
  cluster_.SetImage("web:1");
  cluster_.RunToTheEnd();
  EXPECT_EQ(Revisions(), "2=web:2 3=web:3 4=web:1 ");
  EXPECT_EQ(cluster_.Annotation(cluster_.Document(), kRevision), "4");
  EXPECT_EQ(cluster_.Annotation(cluster_.Sets()[2], kRevisionHistory), "1");
  cluster_.SetImage("web:2");
  cluster_.RunToTheEnd();
  cluster_.SetImage("web:1");
  cluster_.RunToTheEnd();
  EXPECT_EQ(cluster_.Annotation(cluster_.Sets()[2], kRevisionHistory), "1,4");
}

TEST_F(DeploymentHistory, ChangesOutsideTheTemplateMakeNoRevision) {
  RollOut(1);
  cluster_.PatchSpec({{"minReadySeconds", 1}, {"revisionHistoryLimit", 3}});
  cluster_.Patch({{"metadata", {{"annotations", {{"team", "a"}}}, {"labels", {{"x", "y"}}}}}});
  cluster_.RunToTheEnd();
  EXPECT_EQ(Revisions(), "1=web:1 ");
  EXPECT_EQ(cluster_.Annotation(cluster_.Sets()[0], "team"), "a") << "annotations follow";
}

TEST_F(DeploymentHistory, TheOldestSetsAreForgotten) {
  RollOut(5, {{"revisionHistoryLimit", 2}});
  EXPECT_EQ(Revisions(), "3=web:3 4=web:4 5=web:5 ");
  cluster_.PatchSpec({{"revisionHistoryLimit", 0}});
  cluster_.RunToTheEnd();
  EXPECT_EQ(Revisions(), "5=web:5 ");
  cluster_.SetImage("web:6");
  cluster_.RunToTheEnd();
  EXPECT_EQ(Revisions(), "6=web:6 ") << "revisions go on where they were";
}

TEST_F(DeploymentHistory, TheHighestLimitForgetsNothing) {
  RollOut(4, {{"revisionHistoryLimit", 2147483647}});
  EXPECT_EQ(cluster_.Sets().size(), 4u);
}

TEST_F(DeploymentHistory, ARollbackByAnnotationGoesToItsRevision) {
  cluster_.Create(2);
  cluster_.Patch({{"metadata", {{"annotations", {{"cause", "first"}}}}}});
  cluster_.RunToTheEnd();
  cluster_.SetImage("web:2");
  cluster_.Patch({{"metadata", {{"annotations", {{"cause", "second"}}}}}});
  cluster_.RunToTheEnd();
  cluster_.SetImage("web:3");
  cluster_.RunToTheEnd();
  AskForRollback("1");
  EXPECT_EQ(ImageOf(cluster_.Document()), "web:1");
  EXPECT_EQ(Revisions(), "2=web:2 3=web:3 4=web:1 ");
  EXPECT_EQ(cluster_.Annotation(cluster_.Document(), kRollbackTo), "");
  EXPECT_EQ(cluster_.Annotation(cluster_.Document(), "cause"), "first");
  EXPECT_EQ(cluster_.Annotation(cluster_.Sets()[2], "cause"), "first");
  EXPECT_EQ(cluster_.Annotation(cluster_.Sets()[0], "cause"), "second");
  EXPECT_EQ(StringAt(cluster_.Document(), "spec", "template", "metadata", "labels", kTemplateHashLabel), "");
  EXPECT_EQ(cluster_.Events("DeploymentRollback"),
            std::multiset<std::string>({"Rolled back deployment \"web\" to revision 1"}));
  EXPECT_TRUE(cluster_.Complete());
}

TEST_F(DeploymentHistory, ARollbackToNoRevisionInParticularGoesToTheLast) {
  RollOut(3);
  AskForRollback("0");
  EXPECT_EQ(ImageOf(cluster_.Document()), "web:2");
  EXPECT_EQ(cluster_.Events("DeploymentRollback").count("Rolled back deployment \"web\" to revision 2"), 1u);
}

TEST_F(DeploymentHistory, AnImpossibleRollbackIsReportedAndDropped) {
  RollOut(1);
  AskForRollback("0");
  EXPECT_EQ(cluster_.Events("DeploymentRollbackRevisionNotFound"),
            std::multiset<std::string>({"Unable to find last revision."}));
  EXPECT_EQ(cluster_.Annotation(cluster_.Document(), kRollbackTo), "");
  AskForRollback("7");
  EXPECT_EQ(cluster_.Events("DeploymentRollbackRevisionNotFound"),
            std::multiset<std::string>(
                {"Unable to find last revision.", "Unable to find the revision to rollback to."}));
  AskForRollback("1");
  EXPECT_EQ(cluster_.Events("DeploymentRollbackTemplateUnchanged"),
            std::multiset<std::string>(
                {"The rollback revision contains the same template as current deployment \"web\""}));
  AskForRollback("nonsense");
  EXPECT_EQ(cluster_.Annotation(cluster_.Document(), kRollbackTo), "nonsense") << "it asks for nothing";
  EXPECT_EQ(Revisions(), "1=web:1 ");
}

// TestDeploymentHashCollision of Kubernetes.
TEST_F(DeploymentHistory, ATemplateWhoseHashIsTakenGetsAnother) {
  RollOut(1);
  const Json set = cluster_.Sets()[0];
  // The ReplicaSet of this name now has another template, so the Deployment needs a new one.
  cluster_.bed().Must(
      cluster_.bed().Patch("replicasets", {"default", NameOf(set)},
                           {{"spec", {{"template", {{"spec", {{"schedulerName", "other"}}}}}}}}));
  cluster_.RunToTheEnd();
  EXPECT_EQ(cluster_.Counter("collisionCount"), 1);
  ASSERT_EQ(cluster_.Sets().size(), 2u);
  EXPECT_NE(NameOf(cluster_.Sets()[1]), NameOf(set));
  EXPECT_EQ(cluster_.Sizes(), "0 2");
  EXPECT_TRUE(cluster_.Complete());
}

// TestGeneralReplicaSetAdoption of Kubernetes.
TEST_F(DeploymentHistory, SetsThatWereOrphanedAreAdoptedAgain) {
  RollOut(2);
  cluster_.bed().Must(
      cluster_.bed().Delete("deployments", {"default", "web"}, {.propagation_policy = "Orphan"}));
  cluster_.RunToTheEnd();
  ASSERT_EQ(cluster_.Sets().size(), 2u);
  EXPECT_FALSE(ControllerOfSet(NameOf(cluster_.Sets()[1])));
  const std::int64_t pods = cluster_.LivePods();
  cluster_.Create(2, {{"template", {{"spec", {{"containers", {{{"name", "c"}, {"image", "web:2"}}}}}}}}});
  cluster_.peak().Restart();
  cluster_.RunToTheEnd();
  EXPECT_EQ(cluster_.Sets().size(), 2u) << "nothing new is made";
  EXPECT_EQ(cluster_.Sizes(), "0 2");
  EXPECT_EQ(cluster_.peak().Most(), pods) << "no pod was replaced";
  EXPECT_EQ(ControllerOfSet(NameOf(cluster_.Sets()[1]))->name, "web");
  EXPECT_EQ(cluster_.Annotation(cluster_.Document(), kRevision), "2");
  EXPECT_TRUE(cluster_.Complete());
}

TEST_F(DeploymentHistory, AnAdoptedSetOfAnotherTemplateIsRolledOver) {
  cluster_.bed().Must(
      cluster_.bed().Create("replicasets", "default", Orphan("stray", {{"app", "web"}, {"x", "y"}})));
  cluster_.RunToTheEnd();
  EXPECT_EQ(cluster_.LivePods(), 1);
  cluster_.Create(2);
  cluster_.RunToTheEnd();
  EXPECT_EQ(ControllerOfSet("stray")->name, "web");
  EXPECT_EQ(cluster_.bed().Get("replicasets", "default", "stray")->Parse()["spec"]["replicas"], 0);
  EXPECT_EQ(cluster_.LivePods(), 2);
}

// TestReplicaSetOrphaningAndAdoptionWhenLabelsChange of Kubernetes.
TEST_F(DeploymentHistory, ASetThatIsNotSelectedAnyMoreIsReleasedAndAdoptedAgain) {
  RollOut(1);
  const std::string name = NameOf(cluster_.Sets()[0]);
  auto relabel = [&](const char* app) {
    cluster_.bed().Must(
        cluster_.bed().Patch("replicasets", {"default", name}, {{"metadata", {{"labels", {{"app", app}}}}}}));
    cluster_.RunToTheEnd();
  };
  relabel("other");
  EXPECT_FALSE(ControllerOfSet(name));
  EXPECT_EQ(cluster_.bed().List("replicasets", "default").size(), 2u) << "another one has taken its place";
  EXPECT_TRUE(cluster_.Complete());
  relabel("web");
  EXPECT_EQ(ControllerOfSet(name)->name, "web");
  EXPECT_EQ(cluster_.Counter("replicas"), 2);
}

// TestOverlappingDeployments of Kubernetes: each Deployment changes only the ReplicaSets it controls.
TEST_F(DeploymentHistory, OverlappingDeploymentsLeaveEachOtherAlone) {
  RollOut(1);
  Json other = cluster_.Document();
  other["metadata"] = {{"name", "other"}};
  other.erase("status");
  other["spec"]["replicas"] = 1;
  cluster_.bed().Must(cluster_.bed().Create("deployments", "default", other));
  cluster_.RunToTheEnd();
  ASSERT_EQ(cluster_.bed().List("replicasets", "default").size(), 2u);
  EXPECT_EQ(cluster_.LivePods(), 3);
  EXPECT_EQ(cluster_.Counter("replicas"), 2);
  cluster_.ScaleTo(4);
  cluster_.RunToTheEnd();
  EXPECT_EQ(cluster_.LivePods(), 5);
}

}  // namespace
}  // namespace terrarium::controllers::deployment

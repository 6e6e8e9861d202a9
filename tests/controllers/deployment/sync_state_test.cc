#include "controllers/deployment/internal/sync_state.h"

#include <gtest/gtest.h>

#include "api/json_access.h"
#include "controllers/deployment/internal/annotations.h"
#include "controllers/deployment/internal/pod_template.h"
#include "tests/controllers/runtime/fake_client.h"

namespace terrarium::controllers::deployment {
namespace {

using api::Json;
using api::StringAt;
using controllers_testing::MakeObject;
using namespace std::chrono_literals;

Json Template(const std::string& image) {
  return {{"metadata", {{"labels", {{"app", "web"}}}}},
          {"spec", {{"containers", {{{"name", "c"}, {"image", image}}}}}}};
}

Json Deployment() {
  return {
      {"metadata", {{"name", "web"}, {"namespace", "default"}, {"uid", "u"}, {"generation", 3}}},
      {"spec",
       {{"replicas", 10},
        {"selector", {{"matchLabels", {{"app", "web"}}}}},
        {"template", Template("web:2")},
        {"strategy",
         {{"type", "RollingUpdate"}, {"rollingUpdate", {{"maxSurge", "25%"}, {"maxUnavailable", "25%"}}}}}}}};
}

FactsPtr Set(const std::string& name, const std::string& image, const char* created, const char* revision) {
  Json pod_template = Template(image);
  pod_template["metadata"]["labels"]["pod-template-hash"] = name;
  Json annotations = {{std::string(kRevision), revision}};
  Json document = {
      {"metadata",
       {{"name", name}, {"uid", name}, {"creationTimestamp", created}, {"annotations", annotations}}},
      {"spec", {{"replicas", 2}, {"template", pod_template}}}};
  return std::make_shared<const ReplicaSetFacts>(FactsOf(MakeObject(document)));
}

SyncStatePtr StateOf(const Json& deployment, std::vector<FactsPtr> sets, const char* gates = "") {
  auto set = api::FeatureGates().With(gates);
  EXPECT_TRUE(set.ok());
  std::uint64_t digest = TemplateDigest(api::ObjectAt(deployment, "spec", "template"));
  return MakeSyncState(MakeObject(deployment), std::move(sets), digest, *set);
}

constexpr const char* kBothGates =
    "DeploymentPodReplacementPolicy=true,DeploymentReplicaSetTerminatingReplicas=true";

TEST(SyncState, SizesAreThoseOfTheSpec) {
  SyncStatePtr sync = StateOf(Deployment(), {});
  EXPECT_EQ(sync->size.replicas, 10);
  EXPECT_EQ(sync->size.max_surge, 3);
  EXPECT_EQ(sync->size.max_unavailable, 2);
  EXPECT_TRUE(sync->size.rolling);
  Json few = Deployment();
  few["spec"]["replicas"] = 1;
  few["spec"]["strategy"]["rollingUpdate"] = {{"maxSurge", 0}, {"maxUnavailable", 5}};
  EXPECT_EQ(StateOf(few, {})->size.max_unavailable, 1) << "no more than there are";
  few["spec"]["strategy"] = {{"type", "Recreate"}};
  EXPECT_EQ(StateOf(few, {})->size.PodsMax(), 1);
  EXPECT_FALSE(StateOf(few, {})->size.rolling);
}

// KEP-3973 and KEP-5882: the policy needs both gates. Otherwise it is ignored.
TEST(SyncState, ThePolicyNeedsBothGates) {
  Json deployment = Deployment();
  deployment["spec"]["podReplacementPolicy"] = "TerminationComplete";
  EXPECT_TRUE(StateOf(deployment, {}, kBothGates)->size.waits_for_termination);
  for (const char* gates :
       {"DeploymentPodReplacementPolicy=false",
        "DeploymentPodReplacementPolicy=false,DeploymentReplicaSetTerminatingReplicas=false"}) {
    SyncStatePtr sync = StateOf(deployment, {}, gates);
    EXPECT_FALSE(sync->size.waits_for_termination) << gates;
    EXPECT_EQ(sync->policy, ReplacementPolicy::kMixed) << gates;
  }
  deployment["spec"]["podReplacementPolicy"] = "TerminationStarted";
  EXPECT_EQ(StateOf(deployment, {}, kBothGates)->policy, ReplacementPolicy::kTerminationStarted);
  deployment["spec"].erase("podReplacementPolicy");
  EXPECT_EQ(StateOf(deployment, {}, kBothGates)->policy, ReplacementPolicy::kMixed);
}

// TestFindNewReplicaSet and TestFindOldReplicaSets of Kubernetes.
TEST(SyncState, TheNewSetIsTheOldestOneOfTheTemplate) {
  SyncStatePtr sync = StateOf(Deployment(), {Set("c", "web:2", "2026-01-01T00:00:03Z", "3"),
                                             Set("b", "web:2", "2026-01-01T00:00:02Z", "2"),
                                             Set("a", "web:1", "2026-01-01T00:00:01Z", "1")});
  ASSERT_NE(sync->new_set(), nullptr);
  EXPECT_EQ(sync->new_set()->name(), "b");
  EXPECT_EQ(sync->sizes[0].name, "a");
  EXPECT_EQ(sync->NextRevision(), 4) << "one more than those of all others";
  EXPECT_EQ(StateOf(Deployment(), {Set("a", "web:1", "2026-01-01T00:00:01Z", "1")})->new_set(), nullptr);
}

TEST(SyncState, ADigestIsNotTakenForTheTemplate) {
  auto impostor = std::make_shared<ReplicaSetFacts>(*Set("a", "web:1", "2026-01-01T00:00:01Z", "1"));
  impostor->template_digest = TemplateDigest(Template("web:2"));
  EXPECT_EQ(StateOf(Deployment(), {impostor})->new_set(), nullptr);
}

TEST(SyncState, TheHighestNumberMeansNever) {
  Json deployment = Deployment();
  EXPECT_EQ(StateOf(deployment, {})->progress_deadline(), std::nullopt);
  EXPECT_EQ(StateOf(deployment, {})->history_limit(), std::nullopt);
  deployment["spec"]["progressDeadlineSeconds"] = 2147483647;
  deployment["spec"]["revisionHistoryLimit"] = 2147483647;
  EXPECT_EQ(StateOf(deployment, {})->progress_deadline(), std::nullopt);
  EXPECT_EQ(StateOf(deployment, {})->history_limit(), std::nullopt);
  deployment["spec"]["progressDeadlineSeconds"] = 600;
  deployment["spec"]["revisionHistoryLimit"] = 0;
  EXPECT_EQ(StateOf(deployment, {})->progress_deadline(), api::Duration(600s));
  EXPECT_EQ(StateOf(deployment, {})->history_limit(), 0);
}

TEST(SyncState, ANewReplicaSetIsMadeFromTheTemplate) {
  Json deployment = Deployment();
  deployment["metadata"]["annotations"] = {{"team", "a"}, {std::string(kReplicasBeforeScale), "3"}};
  deployment["spec"]["minReadySeconds"] = 5;
  SyncStatePtr sync = StateOf(deployment, {Set("a", "web:1", "2026-01-01T00:00:01Z", "7")});
  const Json set = NewReplicaSet(*sync, 4);
  const std::string hash = TemplateHash(Template("web:2"), std::nullopt);
  EXPECT_EQ(StringAt(set, "metadata", "name"), "web-" + hash);
  EXPECT_EQ(set["metadata"]["labels"], (Json{{"app", "web"}, {"pod-template-hash", hash}}));
  EXPECT_EQ(set["spec"]["selector"]["matchLabels"], set["metadata"]["labels"]);
  EXPECT_EQ(set["spec"]["template"]["metadata"]["labels"], set["metadata"]["labels"]);
  EXPECT_EQ(set["metadata"]["annotations"], (Json{{"team", "a"},
                                                  {std::string(kRevision), "8"},
                                                  {std::string(kDesiredReplicas), "10"},
                                                  {std::string(kMaxReplicas), "13"}}));
  EXPECT_EQ(set["metadata"]["ownerReferences"][0]["uid"], "u");
  EXPECT_EQ(set["spec"]["replicas"], 4);
  EXPECT_EQ(set["spec"]["minReadySeconds"], 5);
}

TEST(SyncState, TheReplicaSetOfTheTemplateGetsMissingFields) {
  Json deployment = Deployment();
  SyncStatePtr sync = StateOf(deployment, {Set("b", "web:2", "2026-01-01T00:00:02Z", "1")});
  EXPECT_TRUE(NewSetPatch(*sync).is_null());
  deployment["spec"]["minReadySeconds"] = 5;
  deployment["metadata"]["annotations"] = {{"team", "a"}};
  sync = StateOf(deployment, {Set("b", "web:2", "2026-01-01T00:00:02Z", "1")});
  EXPECT_EQ(NewSetPatch(*sync),
            (Json{{"metadata", {{"annotations", {{"team", "a"}}}}}, {"spec", {{"minReadySeconds", 5}}}}));
}

TEST(SyncState, RoomIsReportedAsTheRuleCountsIt) {
  Json deployment = Deployment();
  deployment["spec"]["podReplacementPolicy"] = "TerminationComplete";
  auto going = std::make_shared<ReplicaSetFacts>(*Set("a", "web:1", "2026-01-01T00:00:01Z", "1"));
  going->size.status_replicas = 10;
  going->size.terminating = 2;
  EXPECT_EQ(StateOf(deployment, {going})->RoomText(), "room for 11: 2 of 13 pods");
  EXPECT_EQ(StateOf(deployment, {going}, kBothGates)->RoomText(),
            "room for 1: 12 of 13 pods, 2 of them terminating");
  going->size.status_current = false;
  EXPECT_EQ(StateOf(deployment, {going}, kBothGates)->RoomText(),
            "room for 0: 12 of 13 pods, 2 of them terminating");
}

}  // namespace
}  // namespace terrarium::controllers::deployment

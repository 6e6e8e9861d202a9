#include "controllers/deployment/internal/replica_set_facts.h"

#include <gtest/gtest.h>

#include "controllers/deployment/internal/rollout.h"
#include "tests/controllers/runtime/fake_client.h"

namespace terrarium::controllers::deployment {
namespace {

using api::Json;
using controllers_testing::MakeObject;

Json ReplicaSet(const std::string& name, const Json& annotations = Json::object()) {
  return {{"metadata",
           {{"name", name},
            {"namespace", "default"},
            {"uid", name + "-uid"},
            {"generation", 2},
            {"creationTimestamp", "2026-01-01T00:00:00Z"},
            {"annotations", annotations}}},
          {"spec", {{"replicas", 3}, {"template", {{"spec", {{"containers", Json::array()}}}}}}}};
}

TEST(ReplicaSetFacts, AreReadFromTheDocument) {
  Json document = ReplicaSet("a", {{"deployment.kubernetes.io/revision", "4"},
                                   {"deployment.kubernetes.io/desired-replicas", "10"},
                                   {"deployment.kubernetes.io/max-replicas", "12"},
                                   {"deployment.kubernetes.io/replicaset-replicas-before-scale", "2"}});
  document["spec"]["minReadySeconds"] = 7;
  document["status"] = {
      {"replicas", 5},           {"readyReplicas", 4},
      {"availableReplicas", 3},  {"terminatingReplicas", 1},
      {"observedGeneration", 2}, {"conditions", {{{"type", "ReplicaFailure"}, {"status", "True"}}}}};
  ReplicaSetFacts facts = FactsOf(MakeObject(document));
  EXPECT_EQ(facts.size.name, "a");
  EXPECT_EQ(facts.size.replicas, 3);
  EXPECT_EQ(facts.size.status_replicas, 5);
  EXPECT_EQ(facts.ready, 4);
  EXPECT_EQ(facts.size.available, 3);
  EXPECT_EQ(facts.size.terminating, 1);
  EXPECT_EQ(facts.terminating, 1);
  EXPECT_EQ(facts.size.Pods(), 6);
  EXPECT_EQ(facts.size.desired, 10);
  EXPECT_EQ(facts.size.max, 12);
  EXPECT_EQ(facts.size.before_scale, 2);
  EXPECT_EQ(facts.revision, 4);
  EXPECT_EQ(facts.min_ready_seconds, 7);
  EXPECT_TRUE(facts.observed);
  EXPECT_TRUE(facts.size.status_current);
  EXPECT_EQ(facts.failure["status"], "True");
}

TEST(ReplicaSetFacts, OfAReplicaSetWithoutAStatus) {
  ReplicaSetFacts facts = FactsOf(MakeObject(ReplicaSet("a")));
  EXPECT_EQ(facts.size.status_replicas, 0);
  EXPECT_EQ(facts.terminating, std::nullopt);
  EXPECT_EQ(facts.size.desired, std::nullopt);
  EXPECT_EQ(facts.revision, 0);
  EXPECT_FALSE(facts.observed);
  EXPECT_FALSE(facts.size.status_current);
  EXPECT_TRUE(facts.failure.is_null());
}

TEST(FactsCache, ReadsEachStateOnce) {
  FactsCache cache;
  api::ObjectPtr first = MakeObject(ReplicaSet("a"), 7);
  FactsPtr facts = cache.Of(first);
  EXPECT_EQ(cache.Of(first), facts);
  api::ObjectPtr second = MakeObject(ReplicaSet("a"), 8);
  EXPECT_NE(cache.Of(second), facts);
  cache.Forget("a-uid");
  EXPECT_NE(cache.Of(first), facts);
}

// The view may have the scaled ReplicaSet before the deletion of its pods: live pods beyond spec.replicas are
// about to be deleted.
TEST(CountedIn, HasTheTerminatingPodsThatAReplicaSetDoesNotReport) {
  ReplicaSetFacts facts;
  facts.size.replicas = 3;
  facts.size.status_replicas = 4;
  auto terminating = [&](std::int64_t live, std::int64_t going) {
    return CountedIn(facts, {.live = live, .terminating = going})->size.terminating;
  };
  EXPECT_EQ(terminating(4, 0), 0);
  EXPECT_EQ(terminating(2, 2), 2) << "not all are there yet";
  EXPECT_EQ(terminating(5, 2), 3);
  EXPECT_EQ(CountedIn(facts, {.live = 0, .terminating = 1})->terminating, std::nullopt)
      << "nothing is reported";
}

class OutdatedTest : public testing::Test {
 protected:
  // An old ReplicaSet without pods and with a current status.
  std::shared_ptr<ReplicaSetFacts> Add(const std::string& name, std::optional<std::int64_t> revision) {
    Json document = ReplicaSet(name);
    auto set = std::make_shared<ReplicaSetFacts>();
    set->object = MakeObject(document);
    set->size.name = name;
    set->revision = revision;
    sets_.push_back(set);
    return set;
  }
  std::vector<std::string> Names(std::int64_t limit, bool keep_terminating = true,
                                 std::size_t new_index = kNotThereYet) {
    std::vector<std::string> names;
    for (const FactsPtr& set : Outdated(sets_, new_index, limit, keep_terminating))
      names.push_back(set->name());
    return names;
  }
  std::vector<FactsPtr> sets_;
};

using Names_ = std::vector<std::string>;

// TestDeploymentController_cleanupDeployment and _cleanupDeploymentOrder of Kubernetes.
TEST_F(OutdatedTest, TheOldestRevisionsGoFirst) {
  Add("a", 3);
  Add("b", 1);
  Add("c", 2);
  Add("new", 4);
  EXPECT_EQ(Names(2, true, 3), Names_({"b"}));
  EXPECT_EQ(Names(0, true, 3), Names_({"b", "c", "a"}));
  EXPECT_EQ(Names(3, true, 3), Names_());
  EXPECT_EQ(Names(100, true, 3), Names_());
}

TEST_F(OutdatedTest, WithoutRevisionsAgeAndNameDecide) {
  Add("b", std::nullopt)->size.created = api::Time(std::chrono::seconds(1));
  Add("c", 0)->size.created = api::Time(std::chrono::seconds(2));
  Add("a", 0)->size.created = api::Time(std::chrono::seconds(2));
  EXPECT_EQ(Names(1), Names_({"b", "a"}));
}

TEST_F(OutdatedTest, SetsWithPodsStayAndAreNotReplacedByYoungerOnes) {
  Add("a", 1)->size.replicas = 1;
  Add("b", 2)->size.status_replicas = 1;
  Add("c", 3)->size.status_current = false;
  Add("d", 4);
  Add("e", 5);
  EXPECT_EQ(Names(2), Names_());
  EXPECT_EQ(Names(1), Names_({"d"}));
}

// A ReplicaSet with terminating replicas is not cleaned up as history under TerminationComplete.
TEST_F(OutdatedTest, SetsWithTerminatingPodsStayWhenAskedTo) {
  Add("a", 1)->size.terminating = 1;
  Add("b", 2);
  EXPECT_EQ(Names(0, true), Names_({"b"}));
  EXPECT_EQ(Names(0, false), Names_({"a", "b"}));
}

TEST_F(OutdatedTest, ASetThatIsBeingDeletedDoesNotCount) {
  auto going = Add("a", 1);
  Json document = ReplicaSet("a");
  document["metadata"]["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  going->object = MakeObject(document);
  Add("b", 2);
  EXPECT_EQ(Names(1), Names_());
  EXPECT_EQ(Names(0), Names_({"b"}));
}

}  // namespace
}  // namespace terrarium::controllers::deployment

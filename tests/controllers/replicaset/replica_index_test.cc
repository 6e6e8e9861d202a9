#include "controllers/replicaset/internal/replica_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/controllers/runtime/fake_client.h"

namespace terrarium::controllers::replicaset {
namespace {

using api::Json;
using controllers_testing::MakeObject;
using testing::ElementsAre;
using testing::IsEmpty;
using namespace std::chrono_literals;

const ObjectName kWeb{"default", "web"};

OwnerRules Rules(const std::string& uid = "u1", const std::string& selector = "app=web") {
  return {.uid = uid,
          .selector = *api::LabelSelector::Parse(selector),
          .template_labels = *api::LabelSelector::Parse(selector + ",tier=front"),
          .min_ready = {},
          .controller_uid = ""};
}

struct PodShape {
  std::string name = "p";
  std::string app = "web";
  std::string owner_uid = "u1";  // empty: an orphan
  std::string owner_kind = "ReplicaSet";
  std::string owner_name = "web";
  bool deleting = false;
  std::string phase = "Running";
  std::string uid = "";  // empty: the same as its name
  bool ready = false;
  bool tier = true;
  std::string node = "";
};

ObjectPtr Pod(const PodShape& shape) {
  Json metadata = {{"name", shape.name}, {"namespace", "default"}, {"labels", {{"app", shape.app}}}};
  metadata["uid"] = shape.uid.empty() ? "uid-" + shape.name : shape.uid;
  if (shape.tier) metadata["labels"]["tier"] = "front";
  if (!shape.owner_uid.empty())
    metadata["ownerReferences"] = {{{"kind", shape.owner_kind},
                                    {"name", shape.owner_name},
                                    {"uid", shape.owner_uid},
                                    {"controller", true}}};
  if (shape.deleting) metadata["deletionTimestamp"] = "2026-01-01T00:00:00Z";
  Json status = {{"phase", shape.phase}};
  if (shape.ready)
    status["conditions"] = {
        {{"type", "Ready"}, {"status", "True"}, {"lastTransitionTime", "2026-01-01T00:00:00Z"}}};
  Json document = {{"metadata", metadata}, {"spec", {{"nodeName", shape.node}}}, {"status", status}};
  return MakeObject(document);
}

// "owner relation change" of each effect.
std::vector<std::string> Text(const std::vector<ReplicaIndex::Effect>& effects) {
  const char* const relations[] = {"controls", "controlled", "may-adopt"};
  const char* const changes[] = {"none", "terminating", "any"};
  std::vector<std::string> text;
  for (const auto& effect : effects)
    text.push_back(effect.owner.name + " " + relations[static_cast<int>(effect.relation)] + " " +
                   changes[static_cast<int>(effect.change)]);
  return text;
}

class ReplicaIndexTest : public testing::Test {
 protected:
  std::string Counts(const ObjectName& owner = kWeb) {
    PodGroup* group = index_.Find(owner);
    if (group == nullptr) return "unknown";
    return std::to_string(group->counts.live()) + " live " + std::to_string(group->counts.labelled()) +
           " labelled " + std::to_string(group->counts.ready()) + " ready " +
           std::to_string(group->counts.terminating()) + " terminating";
  }
  ReplicaIndex index_{"ReplicaSet"};
};

TEST_F(ReplicaIndexTest, CountsThePodsOfAnOwner) {
  index_.SetOwner(kWeb, Rules());
  EXPECT_THAT(Text(index_.PutPod(Pod({.name = "a"}))), ElementsAre("web controls any"));
  EXPECT_THAT(Text(index_.PutPod(Pod({.name = "a"}))), ElementsAre("web controls none"))
      << "nothing that counts";
  EXPECT_THAT(Text(index_.PutPod(Pod({.name = "a", .ready = true}))), ElementsAre("web controls any"));
  EXPECT_THAT(Text(index_.PutPod(Pod({.name = "b", .tier = false}))), ElementsAre("web controls any"));
  EXPECT_EQ(Counts(), "2 live 1 labelled 1 ready 0 terminating");
  EXPECT_THAT(Text(index_.PutPod(Pod({.name = "a", .deleting = true, .ready = true}))),
              ElementsAre("web controls any"));
  EXPECT_EQ(Counts(), "1 live 0 labelled 0 ready 1 terminating");
  EXPECT_THAT(Text(index_.PutPod(Pod({.name = "a", .deleting = true}))), ElementsAre("web controls none"));
  EXPECT_THAT(Text(index_.PutPod(Pod({.name = "a", .deleting = true, .phase = "Succeeded"}))),
              ElementsAre("web controls terminating"));
  EXPECT_THAT(Text(index_.RemovePod(*Pod({.name = "a"}))), ElementsAre("web controlled none"));
  EXPECT_THAT(Text(index_.RemovePod(*Pod({.name = "b"}))), ElementsAre("web controlled any"));
  EXPECT_EQ(Counts(), "0 live 0 labelled 0 ready 0 terminating");
}

TEST_F(ReplicaIndexTest, TheEndOfATerminatingPodIsOnlyThat) {
  index_.SetOwner(kWeb, Rules());
  index_.PutPod(Pod({.deleting = true}));
  EXPECT_THAT(Text(index_.RemovePod(*Pod({}))), ElementsAre("web controlled terminating"));
}

TEST_F(ReplicaIndexTest, PodsMayComeBeforeTheirOwner) {
  EXPECT_THAT(index_.PutPod(Pod({.name = "a"})), IsEmpty());
  EXPECT_THAT(index_.PutPod(Pod({.name = "b", .deleting = true})), IsEmpty());
  EXPECT_EQ(Counts(), "unknown");
  index_.SetOwner(kWeb, Rules());
  EXPECT_EQ(Counts(), "1 live 1 labelled 0 ready 1 terminating");
}

TEST_F(ReplicaIndexTest, AnOwnerOfTheSameNameIsAnotherOne) {
  index_.SetOwner(kWeb, Rules("u1"));
  index_.PutPod(Pod({.name = "a"}));
  index_.RemoveOwner(kWeb);
  EXPECT_THAT(Text(index_.PutPod(Pod({.name = "a", .ready = true}))), IsEmpty());
  index_.SetOwner(kWeb, Rules("u2"));
  EXPECT_EQ(Counts(), "0 live 0 labelled 0 ready 0 terminating");
  index_.PutPod(Pod({.name = "b", .owner_uid = "u2"}));
  EXPECT_EQ(Counts(), "1 live 1 labelled 0 ready 0 terminating");
  index_.RemovePod(*Pod({.name = "a"}));
  EXPECT_EQ(Counts(), "1 live 1 labelled 0 ready 0 terminating");
}

TEST_F(ReplicaIndexTest, PodsOfOtherKindsAreIgnored) {
  index_.SetOwner(kWeb, Rules());
  EXPECT_THAT(index_.PutPod(Pod({.owner_kind = "Job"})), IsEmpty());
  EXPECT_THAT(index_.RemovePod(*Pod({.owner_kind = "Job"})), IsEmpty());
  EXPECT_TRUE(index_.Find(kWeb)->adoptable.empty());
  EXPECT_THAT(index_.PutPod(Pod({.owner_name = "other"})), IsEmpty()) << "its uid, under another's name";
}

TEST_F(ReplicaIndexTest, AnActiveOrphanConcernsEveryOwnerThatSelectsIt) {
  index_.SetOwner(kWeb, Rules());
  index_.SetOwner({"default", "all"}, Rules("u2", "app"));
  index_.SetOwner({"elsewhere", "web"}, Rules("u3"));
  EXPECT_THAT(Text(index_.PutPod(Pod({.owner_uid = ""}))),
              ElementsAre("all may-adopt any", "web may-adopt any"));
  EXPECT_THAT(index_.Find(kWeb)->adoptable, ElementsAre("p"));
  EXPECT_THAT(index_.PutPod(Pod({.owner_uid = "", .ready = true})), IsEmpty());

  EXPECT_THAT(Text(index_.PutPod(Pod({.app = "db", .owner_uid = ""}))),
              ElementsAre("all may-adopt any", "web may-adopt any", "all may-adopt any"));
  EXPECT_THAT(index_.Find(kWeb)->adoptable, IsEmpty());
  EXPECT_THAT(index_.Find({"default", "all"})->adoptable, ElementsAre("p"));

  EXPECT_THAT(Text(index_.PutPod(Pod({.app = "db", .owner_uid = "", .phase = "Failed"}))),
              ElementsAre("all may-adopt any"));
  EXPECT_THAT(index_.Find({"default", "all"})->adoptable, IsEmpty());
  EXPECT_THAT(index_.PutPod(Pod({.name = "q", .owner_uid = "", .deleting = true})), IsEmpty());
}

TEST_F(ReplicaIndexTest, ANewOwnerFindsTheOrphansThereAre) {
  index_.PutPod(Pod({.name = "a", .owner_uid = ""}));
  index_.PutPod(Pod({.name = "b", .app = "db", .owner_uid = ""}));
  index_.SetOwner(kWeb, Rules());
  EXPECT_THAT(index_.Find(kWeb)->adoptable, ElementsAre("a"));
  index_.SetOwner(kWeb, Rules("u1", "app=db"));
  EXPECT_THAT(index_.Find(kWeb)->adoptable, ElementsAre("b"));
}

TEST_F(ReplicaIndexTest, AdoptionIsOneEventForBothSides) {
  index_.SetOwner(kWeb, Rules());
  index_.PutPod(Pod({.owner_uid = ""}));
  EXPECT_THAT(Text(index_.PutPod(Pod({}))), ElementsAre("web may-adopt any", "web controls any"));
  EXPECT_THAT(index_.Find(kWeb)->adoptable, IsEmpty());
  EXPECT_EQ(Counts(), "1 live 1 labelled 0 ready 0 terminating");
  EXPECT_THAT(Text(index_.PutPod(Pod({.owner_uid = ""}))),
              ElementsAre("web controlled any", "web may-adopt any"));
  EXPECT_EQ(Counts(), "0 live 0 labelled 0 ready 0 terminating");
}

TEST_F(ReplicaIndexTest, APodThatIsNotSelectedAnyMoreIsAStray) {
  index_.SetOwner(kWeb, Rules());
  index_.PutPod(Pod({}));
  EXPECT_THAT(Text(index_.PutPod(Pod({.app = "db"}))), ElementsAre("web controls any"));
  EXPECT_THAT(index_.Find(kWeb)->strays, ElementsAre("p"));
  EXPECT_EQ(Counts(), "0 live 0 labelled 0 ready 0 terminating");
  EXPECT_THAT(Text(index_.PutPod(Pod({.app = "db", .deleting = true}))), ElementsAre("web controls any"));
  EXPECT_THAT(index_.Find(kWeb)->strays, IsEmpty()) << "it goes anyway";
  EXPECT_EQ(Counts(), "0 live 0 labelled 0 ready 0 terminating")
      << "and does not count as a terminating replica";
}

TEST_F(ReplicaIndexTest, OtherRulesAreAnotherCount) {
  index_.SetOwner(kWeb, Rules());
  index_.PutPod(Pod({.ready = true}));
  OwnerRules rules = Rules();
  rules.min_ready = 10s;
  index_.SetOwner(kWeb, rules);
  EXPECT_EQ(Counts(), "1 live 1 labelled 1 ready 0 terminating");
  EXPECT_EQ(index_.Find(kWeb)->counts.AvailableAt(controllers_testing::FakeRuntime::kStart), 0);
}

TEST_F(ReplicaIndexTest, APodThatReplacedOneOfItsNameIsNotRemovedWithIt) {
  index_.SetOwner(kWeb, Rules());
  index_.PutPod(Pod({.uid = "new"}));
  EXPECT_THAT(index_.RemovePod(*Pod({.uid = "old"})), IsEmpty());
  EXPECT_EQ(Counts(), "1 live 1 labelled 0 ready 0 terminating");
}

// An adoption is added when it is written. Events that the informer had queued before it change nothing.
TEST_F(ReplicaIndexTest, AnOlderStateOfAPodIsIgnored) {
  index_.SetOwner(kWeb, Rules());
  index_.PutPod(Pod({})->AtRevision(7));
  EXPECT_THAT(index_.PutPod(Pod({.owner_uid = ""})->AtRevision(6)), IsEmpty());
  EXPECT_EQ(Counts(), "1 live 1 labelled 0 ready 0 terminating");
  EXPECT_THAT(index_.Find(kWeb)->adoptable, IsEmpty());
  EXPECT_THAT(Text(index_.PutPod(Pod({.owner_uid = ""})->AtRevision(8))),
              ElementsAre("web controlled any", "web may-adopt any"));
}

TEST_F(ReplicaIndexTest, LivePodsOfOwnersWithTheSameControllerAreCountedByNode) {
  const ObjectName next{"default", "next"};
  OwnerRules rules = Rules("u1");
  rules.controller_uid = "deployment";
  OwnerRules next_rules = Rules("u2");
  next_rules.controller_uid = "deployment";
  index_.SetOwner(kWeb, rules);
  index_.PutPod(Pod({.name = "a", .node = "n1"}));
  index_.PutPod(Pod({.name = "b", .deleting = true, .node = "n1"}));
  index_.PutPod(Pod({.name = "c"}));
  index_.PutPod(Pod({.name = "d", .owner_uid = "u2", .owner_name = "next", .node = "n1"}));
  // Nodes are numbered in the order in which they appear.
  EXPECT_THAT(index_.LivePodsByNode(kWeb), ElementsAre(1, 1)) << "n1, and none";
  index_.SetOwner(next, next_rules);
  EXPECT_THAT(index_.LivePodsByNode(kWeb), ElementsAre(2, 1));
  index_.PutPod(Pod({.name = "c", .node = "n2"}));
  EXPECT_THAT(index_.LivePodsByNode(next), ElementsAre(2, 0, 1));
  index_.RemovePod(*Pod({.name = "a"}));
  EXPECT_THAT(index_.LivePodsByNode(next), ElementsAre(1, 0, 1));
  next_rules.controller_uid = "";
  index_.SetOwner(next, next_rules);
  EXPECT_THAT(index_.LivePodsByNode(next), ElementsAre(0, 0, 0)) << "without a controller";
  EXPECT_THAT(index_.LivePodsByNode(kWeb), ElementsAre(0, 0, 1));
}

// Whatever the order of events, the running counts equal a recount.
TEST_F(ReplicaIndexTest, RunningCountsEqualARecount) {
  api::Prng prng(7);
  struct Known {
    PodShape shape;
    ObjectPtr object;
    PodFacts facts;
  };
  std::map<std::string, Known> pods;
  auto flip = [&](std::uint64_t one_in) { return prng.Below(one_in) == 0; };
  for (int step = 0; step < 5000; ++step) {
    if (flip(50)) {
      if (flip(2)) index_.RemoveOwner(kWeb);
      index_.SetOwner(kWeb, Rules("u1", flip(2) ? "app=web" : "app in (db,web)"));
    }
    std::string name = "p" + std::to_string(prng.Below(15));
    if (flip(5)) {
      if (pods.erase(name) > 0) index_.RemovePod(*Pod({.name = name}));
    } else {
      PodShape shape{.name = name,
                     .app = flip(4) ? "db" : "web",
                     .owner_uid = flip(4) ? "" : "u1",
                     .owner_kind = flip(6) ? "Job" : "ReplicaSet",
                     .deleting = flip(3),
                     .phase = flip(4) ? "Failed" : "Running",
                     .ready = flip(2),
                     .tier = flip(2)};
      ObjectPtr object = Pod(shape);
      pods[name] = {shape, object, FactsOf(*object, *object->Document())};
      index_.PutPod(object);
    }
    PodGroup* group = index_.Find(kWeb);
    if (group == nullptr) continue;
    PodCounts recount;
    std::set<std::string> strays, adoptable;
    for (const auto& [name_of, pod] : pods) {
      bool selected = group->rules->selector.Matches(pod.object->header());
      if (pod.shape.owner_uid.empty() && selected && pod.facts.active) adoptable.insert(name_of);
      if (pod.shape.owner_uid.empty() || pod.shape.owner_kind != "ReplicaSet") continue;
      recount.Add(ShareOf(pod.facts, selected, group->rules->template_labels.Matches(pod.object->header())));
      if (pod.facts.active && !selected) strays.insert(name_of);
    }
    ASSERT_EQ(group->counts.live(), recount.live()) << step;
    ASSERT_EQ(group->counts.labelled(), recount.labelled()) << step;
    ASSERT_EQ(group->counts.ready(), recount.ready()) << step;
    ASSERT_EQ(group->counts.terminating(), recount.terminating()) << step;
    ASSERT_EQ(group->strays, strays) << step;
    ASSERT_EQ(group->adoptable, adoptable) << step;
  }
}

}  // namespace
}  // namespace terrarium::controllers::replicaset

#include "controllers/disruption/internal/budget_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace terrarium::controllers::disruption {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

api::LabelSelector Selector(const std::string& text) {
  auto selector = api::LabelSelector::Parse(text);
  CHECK(selector.ok());
  return *selector;
}

api::ObjectHeader PodWith(std::vector<std::pair<std::string, std::string>> labels,
                          const std::string& ns = "default") {
  api::ObjectHeader header;
  header.ns = ns;
  header.name = "pod";
  header.labels = std::move(labels);
  return header;
}

std::shared_ptr<const OwnerReference> Controller(const std::string& uid) {
  return std::make_shared<const OwnerReference>(
      OwnerReference{"apps/v1", "ReplicaSet", "rs-" + uid, uid, true, true});
}

TEST(BudgetIndex, APodFindsTheBudgetsThatSelectIt) {
  BudgetIndex index;
  index.SetBudget({"default", "web"}, Selector("app=web"));
  index.SetBudget({"default", "web-but-canary"}, Selector("app=web,track!=canary"));
  index.SetBudget({"default", "tiers"}, Selector("tier in (front,back)"));
  index.SetBudget({"default", "everything"}, api::LabelSelector());
  index.SetBudget({"default", "nothing"}, api::LabelSelector::Nothing());
  index.SetBudget({"other", "web"}, Selector("app=web"));
  auto names = [&](const api::ObjectHeader& pod) {
    std::vector<std::string> out;
    for (const ObjectName& name : index.Matching(pod)) out.push_back(name.String());
    return out;
  };
  EXPECT_THAT(names(PodWith({{"app", "web"}})),
              ElementsAre("default/everything", "default/web", "default/web-but-canary"));
  EXPECT_THAT(names(PodWith({{"app", "web"}, {"track", "canary"}})),
              ElementsAre("default/everything", "default/web"));
  EXPECT_THAT(names(PodWith({{"tier", "back"}})), ElementsAre("default/everything", "default/tiers"));
  EXPECT_THAT(names(PodWith({{"app", "web"}}, "other")), ElementsAre("other/web"));
  EXPECT_THAT(names(PodWith({{"app", "web"}}, "third")), IsEmpty());
}

TEST(BudgetIndex, ABudgetThatIsReplacedOrRemovedLeavesNothingBehind) {
  BudgetIndex index;
  index.SetBudget({"default", "b"}, Selector("app=web"));
  index.PodsOf({"default", "b"})->Put({.name = "p", .ready = true, .deleting = false, .controller = {}});
  index.SetBudget({"default", "b"}, Selector("app=db"));
  EXPECT_EQ(index.PodsOf({"default", "b"})->size(), 0);
  EXPECT_THAT(index.Matching(PodWith({{"app", "web"}})), IsEmpty());
  index.RemoveBudget({"default", "b"});
  EXPECT_EQ(index.PodsOf({"default", "b"}), nullptr);
  EXPECT_TRUE(index.empty());
}

TEST(SelectedPods, CountsFollowThePods) {
  SelectedPods pods;
  pods.Put({.name = "a", .ready = true, .deleting = false, .controller = Controller("rs1")});
  pods.Put({.name = "b", .ready = false, .deleting = false, .controller = Controller("rs1")});
  pods.Put({.name = "c", .ready = true, .deleting = true, .controller = Controller("rs2")});
  pods.Put({.name = "d", .ready = true, .deleting = false, .controller = {}});
  EXPECT_EQ(pods.size(), 4);
  EXPECT_EQ(pods.healthy(), 2);
  EXPECT_EQ(pods.controllers().size(), 2u);
  EXPECT_THAT(pods.unmanaged(), ElementsAre("d"));

  pods.Put({.name = "b", .ready = true, .deleting = false, .controller = Controller("rs1")});
  EXPECT_EQ(pods.size(), 4);
  EXPECT_EQ(pods.healthy(), 3);
  pods.Put({.name = "d", .ready = true, .deleting = false, .controller = Controller("rs3")});
  EXPECT_THAT(pods.unmanaged(), IsEmpty());
  pods.Remove("a");
  EXPECT_EQ(pods.controllers().at("rs1").pods.size(), 1u);
  pods.Remove("b");
  pods.Remove("b");
  EXPECT_FALSE(pods.controllers().contains("rs1"));
  EXPECT_EQ(pods.healthy(), 1);
  EXPECT_EQ(pods.size(), 2);
}

}  // namespace
}  // namespace terrarium::controllers::disruption

#include "controllers/daemonset/internal/daemon_index.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/json_access.h"
#include "tests/controllers/runtime/fake_client.h"
#include "tests/controllers/runtime/fake_runtime.h"

namespace terrarium::controllers::daemonset {
namespace {

using api::Json;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class DaemonIndexTest : public ::testing::Test {
 protected:
  using Relation = DaemonIndex::Effect::Relation;

  void Own(const std::string& name, const Json& spec = Json::object(), const std::string& app = "agent") {
    const Json pod_template = {{"spec", spec}};
    index_.SetOwner({"default", name}, {.uid = name,
                                        .generation = 1,
                                        .selector = *api::LabelSelector::Parse("app=" + app),
                                        .placement = Placement(pod_template)});
    index_.Find({"default", name})->nodes.SetRules({.hash = "h"}, runtime_.Now());
  }
  std::vector<std::string> Node(const std::string& name, const Json& labels = Json::object(),
                                const Json& taints = Json::array()) {
    std::vector<std::string> affected;
    for (const ObjectName& owner : index_.PutNode(controllers_testing::MakeObject(
             {{"metadata", {{"name", name}, {"labels", labels}}}, {"spec", {{"taints", taints}}}})))
      affected.push_back(owner.name);
    return affected;
  }
  ObjectPtr Pod(const std::string& name, const std::string& owner, const std::string& node,
                const std::string& app = "agent") {
    Json metadata = {{"name", name},
                     {"namespace", "default"},
                     {"uid", name},
                     {"labels", {{"app", app}, {"controller-revision-hash", "h"}}}};
    if (!owner.empty())
      metadata["ownerReferences"] = {
          {{"kind", "DaemonSet"}, {"name", owner}, {"uid", owner}, {"controller", true}}};
    return controllers_testing::MakeObject({{"metadata", metadata}, {"spec", {{"nodeName", node}}}},
                                           ++revision_);
  }
  std::string Put(const ObjectPtr& pod) { return Text(index_.PutPod(pod)); }
  static std::string Text(const std::vector<DaemonIndex::Effect>& effects) {
    std::string text;
    for (const DaemonIndex::Effect& effect : effects) {
      const char* sign = effect.relation == Relation::kControls   ? "+"
                         : effect.relation == Relation::kMayAdopt ? "?"
                                                                  : "-";
      text += (text.empty() ? "" : " ") + std::string(sign) + effect.owner.name;
    }
    return text;
  }
  std::string Counts(const std::string& owner) {
    const DaemonCounts& counts = index_.Find({"default", owner})->nodes.counts();
    return std::to_string(counts.desired) + "/" + std::to_string(counts.current) + "/" +
           std::to_string(counts.misscheduled);
  }

  controllers_testing::FakeRuntime runtime_;
  DaemonIndex index_{runtime_};
  std::int64_t revision_ = 0;
};

TEST_F(DaemonIndexTest, TheOrderOfEventsDoesNotMatter) {
  Put(Pod("p1", "agent", "n1"));
  Node("n1");
  Own("agent");
  Node("n2");
  EXPECT_EQ(Counts("agent"), "2/1/0");
  Put(Pod("p2", "agent", "n2"));
  EXPECT_EQ(Counts("agent"), "2/2/0");
}

TEST_F(DaemonIndexTest, ANodeAffectsOwnersThatGainOrLoseIt) {
  Own("all");
  Own("picky", {{"nodeSelector", {{"disk", "ssd"}}}});
  EXPECT_THAT(Node("n1"), ElementsAre("all"));
  EXPECT_THAT(Node("n1"), IsEmpty()) << "unchanged";
  EXPECT_THAT(Node("n1", {{"disk", "ssd"}}), ElementsAre("all", "picky")) << "both have no pod there";
  Put(Pod("p", "all", "n1"));
  const Json tainted = {{{"key", "k"}, {"effect", "NoSchedule"}}};
  EXPECT_THAT(Node("n1", {{"disk", "ssd"}}, tainted), IsEmpty()) << "the pod may stay";
  EXPECT_EQ(Counts("all"), "0/0/1");
  index_.Find({"default", "all"})->reported_misscheduled = 1;
  EXPECT_THAT(Node("n1"), ElementsAre("all"));
  EXPECT_THAT(Node("n1", Json::object(), {{{"key", "k"}, {"effect", "NoExecute"}}}), ElementsAre("all"));
}

TEST_F(DaemonIndexTest, APodThatChangesItsControllerAffectsBoth) {
  Own("a");
  Own("b", Json::object(), "b");
  Node("n1");
  EXPECT_EQ(Put(Pod("p", "a", "n1")), "+a");
  EXPECT_EQ(Put(Pod("p", "", "n1")), "-a ?a");
  EXPECT_EQ(Counts("a"), "1/0/0");
  EXPECT_EQ(Put(Pod("p", "b", "n1", "b")), "+b");
  EXPECT_EQ(Text(index_.RemovePod(*Pod("p", "b", "n1"))), "-b");
  EXPECT_EQ(Counts("b"), "1/0/0");
}

TEST_F(DaemonIndexTest, AnOlderStateIsIgnored) {
  Own("a");
  Node("n1");
  ObjectPtr orphan = Pod("p", "", "n1");
  EXPECT_EQ(Put(Pod("p", "a", "n1")), "+a");
  EXPECT_EQ(Put(orphan), "");
  EXPECT_EQ(Counts("a"), "1/1/0");
}

TEST_F(DaemonIndexTest, PodsThatTheSelectorDoesNotMatchAreStrays) {
  Own("a");
  Node("n1");
  Put(Pod("p", "a", "n1", "other"));
  EXPECT_EQ(Counts("a"), "1/0/0");
  EXPECT_THAT(index_.Find({"default", "a"})->strays, ElementsAre("p"));
}

TEST_F(DaemonIndexTest, AnOwnerThatReturnsFindsItsPodsAndNodes) {
  Own("a");
  Node("n1");
  Put(Pod("p", "a", "n1"));
  index_.RemoveOwner({"default", "a"});
  EXPECT_EQ(index_.Find({"default", "a"}), nullptr);
  Own("a");
  EXPECT_EQ(Counts("a"), "1/1/0");
  index_.RemoveNode("n1");
  EXPECT_EQ(Counts("a"), "0/0/0");
  index_.RemovePod(*Pod("p", "a", "n1"));
  EXPECT_EQ(index_.Find({"default", "a"})->nodes.Find("n1"), nullptr);
}

}  // namespace
}  // namespace terrarium::controllers::daemonset

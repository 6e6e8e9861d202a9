#include "kubelet-fake/kubelet/pod_rules.h"

#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kubelet-fake/kubelet/internal/address_pool.h"
#include "tests/kubelet-fake/kubelet/life_player.h"

namespace terrarium::kubelet_fake::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

api::ObjectPtr MakePod(const std::string& name, const std::string& app) {
  api::ObjectHeader header;
  header.ns = "ns";
  header.name = name;
  header.uid = "uid-" + name;
  header.labels = {{"app", app}};
  return api::Object::Make(header, Json{{"metadata", {{"name", name}}}});
}

// Records the orders it was given.
class FakeHost : public PodHost {
 public:
  explicit FakeHost(RuleBook& book) : book_(book) {}
  void Put(const api::ObjectPtr& pod) { pods_[{pod->header().ns, pod->header().name}] = pod; }

  api::ObjectPtr FindPod(const api::ObjectName& name) const override {
    const auto found = pods_.find(name);
    return found != pods_.end() ? found->second : nullptr;
  }
  std::vector<api::ObjectPtr> AllPods() const override {
    std::vector<api::ObjectPtr> out;
    for (const auto& [name, pod] : pods_) out.push_back(pod);
    return out;
  }
  api::HoldPoints HeldAt(const api::ObjectName& name) const override {
    return book_.Directions(FindPod(name)->header(), std::make_shared<const api::PodScript>(), nullptr).hold;
  }
  void Redirect(const api::ObjectName& name) override { orders.push_back("redirect " + name.String()); }
  void RedirectAll() override { orders.push_back("redirect all"); }
  bool Crash(const api::ObjectName& name, const CrashOrder& order) override {
    orders.push_back("crash " + name.String() + " " + order.container + " " +
                     std::to_string(order.exit_code));
    return order.container != "absent";
  }
  bool Fail(const api::ObjectName& name, const FailOrder& order) override {
    orders.push_back("fail " + name.String() + " " + std::to_string(order.exit_code) + " " + order.reason);
    return true;
  }
  bool Evict(const api::ObjectName& name, const std::string& message) override {
    orders.push_back("evict " + name.String() + " " + message);
    return true;
  }

  std::vector<std::string> orders;

 private:
  RuleBook& book_;
  std::map<api::ObjectName, api::ObjectPtr> pods_;
};

class Rules : public ::testing::Test {
 protected:
  Rules() {
    host_.Put(MakePod("a", "web"));
    host_.Put(MakePod("b", "db"));
  }
  PodDirections DirectionsOf(const std::string& pod, const api::PodScript* own = nullptr) {
    return book_.Directions(host_.FindPod({"ns", pod})->header(), defaults_, own);
  }
  void Add(const Json& rule) {
    auto added = rules_.Add(rule);
    ASSERT_TRUE(added.ok()) << added.status().message;
  }
  static int CodeOf(const api::Result<Json>& result) { return result.ok() ? 200 : result.status().code; }

  std::shared_ptr<const api::PodScript> defaults_ = std::make_shared<const api::PodScript>();
  RuleBook book_;
  FakeHost host_{book_};
  PodRules rules_{book_, host_};
};

TEST_F(Rules, ApplyToTheirNamespaceAndSelectorOnly) {
  Add({{"name", "r"}, {"namespace", "ns"}, {"selector", "app=web"}, {"script", {{"stop-after", "9s"}}}});
  Add({{"name", "elsewhere"}, {"namespace", "other"}, {"script", {{"stop-after", "1h"}}}});
  EXPECT_EQ(DirectionsOf("a").script->all.stop_after, 9s);
  EXPECT_EQ(DirectionsOf("b").script, defaults_) << "a pod without rules shares the defaults";
}

TEST_F(Rules, SelectorsMayBeDocuments) {
  Add({{"name", "r"}, {"selector", {{"matchLabels", {{"app", "db"}}}}}, {"script", {{"hang", true}}}});
  EXPECT_EQ(DirectionsOf("b").script->all.hang, true);
  EXPECT_FALSE(DirectionsOf("a").script->all.hang);
}

TEST_F(Rules, LaterOnesWinOverEarlierOnesAndAnnotationsOverBoth) {
  Add({{"name", "first"}, {"script", {{"stop-after", "1s"}, {"run-for", "1s"}, {"exit-code", 1}}}});
  Add({{"name", "second"}, {"script", {{"stop-after", "2s"}, {"run-for", "2s"}}}});
  api::PodScript own;
  own.all.run_for = 3s;
  const PodDirections directions = DirectionsOf("a", &own);
  EXPECT_EQ(directions.script->all.exit_code, 1);
  EXPECT_EQ(directions.script->all.stop_after, 2s);
  EXPECT_EQ(directions.script->all.run_for, 3s);
}

TEST_F(Rules, DefaultsComeLast) {
  api::PodScript defaults;
  defaults.all.ready_delay = 4s;
  defaults.all.stop_after = 5s;
  defaults_ = std::make_shared<const api::PodScript>(defaults);
  Add({{"name", "r"}, {"script", {{"stop-after", "1s"}}}});
  EXPECT_EQ(DirectionsOf("a").script->all.ready_delay, 4s);
  EXPECT_EQ(DirectionsOf("a").script->all.stop_after, 1s);
}

TEST_F(Rules, HaveNamesOfTheirOwn) {
  Add({{"name", "r"}, {"script", Json::object()}});
  EXPECT_EQ(CodeOf(rules_.Add({{"name", "r"}, {"script", Json::object()}})), 409);
  EXPECT_EQ(CodeOf(rules_.Remove("r")), 200);
  EXPECT_EQ(CodeOf(rules_.Remove("r")), 404);
  EXPECT_EQ((*rules_.List())["rules"], Json::array());
}

TEST_F(Rules, AreLimitedInNumber) {
  for (int i = 0; i < 1000; ++i) Add({{"name", "r" + std::to_string(i)}, {"script", Json::object()}});
  const auto more = rules_.Add({{"name", "more"}, {"script", Json::object()}});
  ASSERT_EQ(CodeOf(more), 400);
  EXPECT_THAT(more.status().message, ::testing::HasSubstr("at most 1000 rules"));
}

TEST_F(Rules, AreListedAsTheyWereGiven) {
  const Json rule = {{"name", "r"}, {"selector", "app=web"}, {"script", {{"hold", "terminating"}}}};
  Add(rule);
  const Json list = *rules_.List();
  EXPECT_EQ(list["rules"], Json::array({rule}));
  EXPECT_EQ(list["held"], Json::parse(R"([{"namespace": "ns", "pod": "a", "points": ["terminating"]}])"));
}

TEST_F(Rules, RefuseWhatTheyDoNotKnow) {
  EXPECT_EQ(CodeOf(rules_.Add({{"name", "r"}})), 400);
  EXPECT_EQ(CodeOf(rules_.Add({{"script", Json::object()}})), 400);
  EXPECT_EQ(CodeOf(rules_.Add({{"name", "r"}, {"script", Json::object()}, {"when", 1}})), 400);
  EXPECT_EQ(CodeOf(rules_.Add({{"name", "r"}, {"selector", "a in"}, {"script", Json::object()}})), 400);
  const auto bad = rules_.Add({{"name", "r"}, {"script", {{"run-for", "soon"}}}});
  ASSERT_EQ(CodeOf(bad), 422);
  EXPECT_EQ(bad.status().details->causes[0].field, "script[run-for]");
  EXPECT_EQ(CodeOf(rules_.Hold({{"namespace", "ns"}, {"pod", "a"}, {"point", "later"}})), 400);
  EXPECT_EQ(CodeOf(rules_.Hold({{"namespace", "ns"}, {"pod", "a"}})), 400);
  EXPECT_EQ(CodeOf(rules_.Crash({{"namespace", "ns"}, {"pod", "a"}, {"exitCode", 300}})), 400);
  EXPECT_EQ(CodeOf(rules_.Crash({{"namespace", "ns"}, {"pod", "nobody"}})), 404);
  EXPECT_EQ(CodeOf(rules_.Fail({{"namespace", "ns"}, {"pod", "a"}, {"exitCode", 0}})), 400);
  EXPECT_EQ(CodeOf(rules_.Release({{"rule", "nobody"}})), 404);
  EXPECT_THAT(host_.orders, IsEmpty());
}

TEST_F(Rules, HoldAndReleaseAPod) {
  ASSERT_EQ(CodeOf(rules_.Hold({{"namespace", "ns"}, {"pod", "a"}, {"point", "terminating"}})), 200);
  EXPECT_TRUE(DirectionsOf("a").hold.terminating);
  EXPECT_FALSE(DirectionsOf("b").hold.terminating);
  const auto released = rules_.Release({{"namespace", "ns"}, {"pod", "a"}, {"outcome", {{"exitCode", 5}}}});
  ASSERT_EQ(CodeOf(released), 200);
  EXPECT_EQ((*released)["released"][0]["points"], Json::array({"terminating"}));
  EXPECT_FALSE(DirectionsOf("a").hold.terminating);
  EXPECT_EQ(DirectionsOf("a").stop_exit_code, 5);
  EXPECT_EQ(CodeOf(rules_.Release({{"namespace", "ns"}, {"pod", "a"}})), 409) << "it is not held any more";
}

TEST_F(Rules, ARuleGoesOnHoldingPodsThatComeAfterARelease) {
  Add({{"name", "r"}, {"script", {{"hold", "terminating"}}}});
  const auto released = rules_.Release({{"rule", "r"}});
  ASSERT_EQ(CodeOf(released), 200);
  EXPECT_EQ((*released)["released"].size(), 2U);
  EXPECT_FALSE(DirectionsOf("a").hold.terminating);
  host_.Put(MakePod("c", "web"));
  EXPECT_TRUE(DirectionsOf("c").hold.terminating);
}

TEST_F(Rules, CanBeChangedToHold) {
  Add({{"name", "r"}, {"selector", "app=db"}, {"script", Json::object()}});
  const auto held = rules_.Hold({{"rule", "r"}, {"point", "ready"}});
  ASSERT_EQ(CodeOf(held), 200);
  EXPECT_EQ((*held)["script"]["hold"], "ready");
  EXPECT_TRUE(DirectionsOf("b").hold.ready);
  EXPECT_FALSE(DirectionsOf("a").hold.ready);
}

TEST_F(Rules, AReleaseBeforeReadyWithAnOutcomeEndsTheContainersFirst) {
  ASSERT_EQ(CodeOf(rules_.Hold({{"namespace", "ns"}, {"pod", "a"}, {"point", "ready"}})), 200);
  host_.orders.clear();
  ASSERT_EQ(CodeOf(rules_.Release({{"namespace", "ns"}, {"pod", "a"}, {"outcome", {{"exitCode", 2}}}})), 200);
  EXPECT_THAT(host_.orders, ElementsAre("crash ns/a  2", "redirect ns/a"));
}

TEST_F(Rules, OrdersReachThePod) {
  EXPECT_EQ(CodeOf(rules_.Crash({{"namespace", "ns"}, {"pod", "a"}, {"container", "web"}, {"exitCode", 3}})),
            200);
  EXPECT_EQ(CodeOf(rules_.Crash({{"namespace", "ns"}, {"pod", "a"}, {"container", "absent"}})), 409);
  EXPECT_EQ(CodeOf(rules_.Fail({{"namespace", "ns"}, {"pod", "b"}, {"reason", "Why"}})), 200);
  EXPECT_EQ(CodeOf(rules_.Evict({{"namespace", "ns"}, {"pod", "b"}})), 200);
  EXPECT_THAT(host_.orders, ElementsAre("crash ns/a web 3", "crash ns/a absent 1", "fail ns/b 1 Why",
                                        "evict ns/b The node was low on resource: memory. "));
}

TEST(AddressPool, GivesEachNodeABlockAndAddressesInTurn) {
  AddressPool pool;
  EXPECT_EQ(pool.Take("n1"), "10.244.0.1");
  EXPECT_EQ(pool.Take("n2"), "10.244.1.1");
  EXPECT_EQ(pool.Take("n1"), "10.244.0.2");
  pool.Free("10.244.0.1");
  EXPECT_EQ(pool.Take("n1"), "10.244.0.3") << "an address that has just been freed is not reused immediately";
}

TEST(AddressPool, TakesAnotherBlockWhenOneIsFull) {
  AddressPool pool;
  for (int i = 0; i < 254; ++i) pool.Take("n1");
  EXPECT_EQ(pool.Take("n1"), "10.244.1.1");
  pool.Free("10.244.0.9");
  EXPECT_EQ(pool.Take("n1"), "10.244.0.9");
}

TEST(AddressPool, GoesOnAfterTheLastBlockOfARange) {
  AddressPool pool;
  std::string last;
  for (int i = 0; i <= 256; ++i) last = pool.Take("node-" + std::to_string(i));
  EXPECT_EQ(last, "10.245.0.1");
}

TEST(AddressPool, DoesNotGiveOutWhatAPodHas) {
  AddressPool pool;
  pool.Reserve("n1", "10.244.0.1");
  pool.Reserve("n2", "10.244.7.200");
  pool.Reserve("n2", "192.168.0.1");
  EXPECT_EQ(pool.Take("n1"), "10.244.0.2");
  EXPECT_EQ(pool.Take("n2"), "10.244.7.201");
  EXPECT_EQ(pool.Take("n3"), "10.244.1.1");
}

}  // namespace
}  // namespace terrarium::kubelet_fake::testing

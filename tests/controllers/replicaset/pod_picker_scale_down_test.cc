// Which pods go when there is a picker, in a whole plane.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/base64.h"
#include "api/json_access.h"
#include "controllers/runtime/why.h"
#include "tests/controllers/replicaset/picker_testing.h"

namespace terrarium::controllers {
namespace {

using api::HttpCall;
using api::Json;
using controllers_testing::Pod;
using controllers_testing::PickerPlane;
using controllers_testing::PickerSpec;
using controllers_testing::Picks;
using controllers_testing::ReplicaSet;
using controllers_testing::Says;
using controllers_testing::WithPicker;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::Pair;
using testing::SizeIs;
using namespace std::chrono_literals;

auto Always(api::HttpAnswer answer) {
  return [answer](const HttpCall&) { return answer; };
}

TEST(PodPicker, TheChosenGo) {
  PickerPlane plane;
  plane.caller.answer = Always(Picks({"p0", "p2"}));
  plane.Start(5);
  EXPECT_THAT(plane.GoneAt(3), ElementsAre("p0", "p2"));
  ASSERT_THAT(plane.caller.calls, SizeIs(1));
  EXPECT_EQ(plane.Asked(), Json({{"number_of_pods_requested", 2}, {"candidate_pods", {"p0", "p1", "p2", "p3", "p4"}}}));
  EXPECT_THAT(plane.Warnings(), IsEmpty());
}

TEST(PodPicker, IsCalledAsItsSpecSays) {
  PickerPlane plane;
  plane.caller.answer = Always(Picks({"p0"}));
  plane.Start(2, PickerSpec({{"timeoutSeconds", 9}}));
  plane.GoneAt(1);
  ASSERT_THAT(plane.caller.calls, SizeIs(1));
  const HttpCall& call = plane.caller.calls[0];
  EXPECT_FALSE(call.tls);
  EXPECT_EQ(call.host, "picker.default.svc");
  EXPECT_EQ(call.port, "8080");
  EXPECT_EQ(call.path, "/pick");
  EXPECT_EQ(call.timeout, 9s);
}

TEST(PodPicker, TheTiedGoAfterTheChosenAndBeforeTheOthers) {
  PickerPlane plane;
  plane.caller.answer = Always(Picks({"p0"}, {"p1", "p2"}));
  plane.Start(5);
  EXPECT_THAT(plane.GoneAt(3), ElementsAre("p0", "p2")) << "of the tied the younger one";
}

TEST(PodPicker, WhereItNamesTooFewTheOtherCriteriaChooseTheRest) {
  PickerPlane plane;
  plane.caller.answer = Always(Picks({"p0"}));
  plane.Start(4);
  EXPECT_THAT(plane.GoneAt(1), ElementsAre("p0", "p2", "p3"));
}

TEST(PodPicker, WhereItNamesTooManyTheOtherCriteriaChooseAmongThem) {
  PickerPlane plane;
  plane.caller.answer = Always(Picks({"p0", "p1", "p2"}));
  plane.Start(4);
  EXPECT_THAT(plane.GoneAt(3), ElementsAre("p2"));
}

TEST(PodPicker, OneNamedTwiceAndOneInBothListsCountOnceAndAsChosen) {
  PickerPlane plane;
  plane.caller.answer = Always(Picks({"p0", "p0"}, {"p0", "p1", "p1"}));
  plane.Start(4);
  EXPECT_THAT(plane.GoneAt(3), ElementsAre("p0"));
}

TEST(PodPicker, IsAskedAnewForEveryScaleDown) {
  PickerPlane plane;
  plane.caller.answer = [](const HttpCall& call) {
    return Picks({Json::parse(call.body)["candidate_pods"][0].get<std::string>()});
  };
  plane.Start(4);
  EXPECT_THAT(plane.GoneAt(3), ElementsAre("p0"));
  EXPECT_THAT(plane.GoneAt(2), ElementsAre("p1"));
  EXPECT_EQ(plane.Asked(1)["candidate_pods"], Json({"p1", "p2", "p3"}));
}

TEST(PodPicker, WhereAllGoOrNoneNobodyIsAsked) {
  PickerPlane plane;
  plane.Start(2);
  plane.GoneAt(3);
  EXPECT_THAT(plane.GoneAt(0), SizeIs(3));
  EXPECT_THAT(plane.caller.calls, IsEmpty());
}

TEST(PodPicker, PodsThatAreNotReadyGoFirstAndAreOneLessToAskFor) {
  PickerPlane plane;
  plane.caller.answer = Always(Picks({"p0"}));
  Json unready = Pod("unready", {{"app", "web"}});
  unready["metadata"]["annotations"] = {{"terrarium.dev/hold", "ready"}};
  plane.bed.Must(plane.bed.Create("pods", "default", unready));
  plane.bed.clock().Advance(1min);
  Json unscheduled = Pod("unscheduled", {{"app", "web"}});
  unscheduled["spec"]["nodeSelector"] = {{"nowhere", "true"}};
  plane.bed.Must(plane.bed.Create("pods", "default", unscheduled));
  controllers_testing::MakePods(plane.bed, {nullptr, nullptr, nullptr});
  plane.owner = plane.bed.Must(plane.bed.Create("replicasets", "default", WithPicker(ReplicaSet("web", 5))));
  plane.bed.clock().Advance(1min);
  EXPECT_THAT(plane.GoneAt(2), ElementsAre("p0", "unready", "unscheduled"));
  EXPECT_EQ(plane.Asked(), Json({{"number_of_pods_requested", 1}, {"candidate_pods", {"p0", "p1", "p2"}}}));
}

TEST(PodPicker, WherePodsThatAreNotReadySufficeNobodyIsAsked) {
  PickerPlane plane;
  Json pod = Pod("unready", {{"app", "web"}});
  pod["metadata"]["annotations"] = {{"terrarium.dev/hold", "ready"}};
  plane.bed.Must(plane.bed.Create("pods", "default", pod));
  controllers_testing::MakePods(plane.bed, {nullptr, nullptr});
  plane.owner = plane.bed.Must(plane.bed.Create("replicasets", "default", WithPicker(ReplicaSet("web", 3))));
  plane.bed.Settle();
  EXPECT_THAT(plane.GoneAt(2), ElementsAre("unready"));
  EXPECT_THAT(plane.caller.calls, IsEmpty());
  EXPECT_EQ(plane.Why(), Json({{"url", "http://picker.default.svc:8080/pick"}, {"calls", 0}}));
}

// The KEP: only one of them should be used. Used together, the cost comes first.
TEST(PodPicker, ThePodDeletionCostComesBeforeThePicker) {
  PickerPlane plane;
  plane.caller.answer = Always(Picks({"p0"}, {"p3"}));
  plane.Start({"10", "-5", nullptr, nullptr});
  EXPECT_THAT(plane.GoneAt(3), ElementsAre("p1")) << "the lowest cost, whatever was chosen";
  EXPECT_EQ(plane.Asked()["candidate_pods"], Json({"p0", "p1", "p2", "p3"})) << "a cost makes no candidate less";
  EXPECT_THAT(plane.GoneAt(2), ElementsAre("p3")) << "among those that cost the same the picker's word counts";
  EXPECT_THAT(plane.GoneAt(1), ElementsAre("p2"));
}

TEST(PodPicker, WithTheGateOfTheCostOffOnlyThePickerCounts) {
  PickerPlane plane({.gates = "DownscalePodPicker=true,LogarithmicScaleDown=false,PodDeletionCost=false"});
  plane.caller.answer = Always(Picks({"p0"}));
  plane.Start({"10", "-5", nullptr});
  EXPECT_THAT(plane.GoneAt(2), ElementsAre("p0"));
}

// Two old pods on one node and a young one on the other: by the nodes an old one goes, by age the young one.
class PickerAndNodes : public testing::Test {
 protected:
  std::vector<std::string> GoneWhenItSays(api::HttpAnswer answer) {
    plane_.caller.answer = Always(std::move(answer));
    const std::pair<const char*, const char*> pods[] = {{"old-0", "node-0"}, {"old-1", "node-0"}, {"young", "node-1"}};
    for (const auto& [name, node] : pods) {
      Json pod = Pod(name, {{"app", "web"}});
      pod["spec"]["nodeName"] = node;
      plane_.bed.Must(plane_.bed.Create("pods", "default", pod));
      plane_.bed.clock().Advance(3s);
    }
    plane_.owner = plane_.bed.Must(
        plane_.bed.Create("replicasets", "default", WithPicker(ReplicaSet("web", 3), PickerSpec({{"maxRetries", 0}}))));
    plane_.bed.Settle();
    return plane_.GoneAt(2);
  }
  PickerPlane plane_{{.nodes = 2}};
};

TEST_F(PickerAndNodes, WithAnAnswerTheNodesDoNotCount) {
  EXPECT_THAT(GoneWhenItSays(Picks({}, {"old-0", "old-1", "young"})), ElementsAre("young"));
}

TEST_F(PickerAndNodes, WithoutAnAnswerTheNodesDoNotCountEither) {
  EXPECT_THAT(GoneWhenItSays(Says("", 500)), ElementsAre("young"));
  EXPECT_THAT(plane_.Warnings(), SizeIs(1));
}

TEST_F(PickerAndNodes, WhereItNamesNobodyItIsAsIfThereWereNone) {
  EXPECT_THAT(GoneWhenItSays(Picks({})), ElementsAre("old-1"));
  EXPECT_THAT(plane_.Warnings(), IsEmpty());
  EXPECT_EQ(plane_.Metric("calls_total{outcome=\"no_choice\"}"), 1);
}

TEST_F(PickerAndNodes, NoContentNamesNobody) { EXPECT_THAT(GoneWhenItSays(Says("", 204, "")), ElementsAre("old-1")); }

TEST(PodPicker, TheRecordOfWhyHasTheRequestTheAnswerAndTheRanks) {
  PickerPlane plane;
  plane.caller.answer = Always(Picks({"p0"}, {"p1"}));
  plane.Start(3);
  plane.GoneAt(2);
  EXPECT_EQ(plane.Why(),
            Json({{"url", "http://picker.default.svc:8080/pick"},
                  {"calls", 1},
                  {"request", {{"number_of_pods_requested", 1}, {"candidate_pods", {"p0", "p1", "p2"}}}},
                  {"answer", {{"chosen_pods", {"p0"}}, {"tied_pods", {"p1"}}}},
                  {"ranks", {{"p0", 0}, {"p1", 1}, {"p2", 3}}}}));
  const auto records = plane.bed.why().Find("pods", {"default", "p0"});
  ASSERT_FALSE(records.empty());
  EXPECT_EQ(api::IntAt((*records.back().saw)["chosen"][0], -1, "rank"), 0);
}

TEST(PodPicker, CallsAndTheTimeTheyTookAreCounted) {
  PickerPlane plane;
  plane.caller.answer = Always(Picks({"p0"}));
  plane.Start(2);
  EXPECT_EQ(plane.Metric("calls_total"), -1) << "none before the first call";
  plane.GoneAt(1);
  EXPECT_EQ(plane.Metric("calls_total{outcome=\"success\"}"), 1);
  EXPECT_EQ(plane.Metric("call_duration_seconds_count"), 1);
  EXPECT_DOUBLE_EQ(plane.Metric("call_duration_seconds_sum"), 0.02) << "the world's 20 ms";
  EXPECT_EQ(plane.Metric("call_duration_seconds_bucket{le=\"0.01\"}"), 0);
  EXPECT_EQ(plane.Metric("call_duration_seconds_bucket{le=\"0.025\"}"), 1);
  EXPECT_EQ(plane.Metric("retries_total"), -1);
  EXPECT_EQ(plane.Metric("failures_total"), -1);
}

Json WithToken(const char* key = "token") {
  Json picker = PickerSpec({{"maxRetries", 2}});
  picker["http"]["httpHeaders"] = {
      {{"name", "X-Plain"}, {"value", "plain-v4lue"}},
      {{"name", "Authorization"}, {"valueFrom", {{"secretKeyRef", {{"name", "login"}, {"key", key}}}}}}};
  return picker;
}
void PutSecret(PickerPlane& plane, const std::string& token) {
  const Json data = {{"token", api::EncodeBase64(token)}};
  if (plane.bed.Get("secrets", "default", "login") == nullptr)
    plane.bed.Must(plane.bed.Create("secrets", "default", {{"metadata", {{"name", "login"}}}, {"data", data}}));
  else
    plane.bed.Must(plane.bed.Patch("secrets", {"default", "login"}, {{"data", data}}));
}

TEST(PodPicker, HeadersComeFromSecretsAsTheyAreAtTheTimeOfTheCall) {
  PickerPlane plane;
  plane.caller.answer = Always(Picks({}));
  PutSecret(plane, "Bearer one");
  plane.Start(3, WithToken());
  plane.GoneAt(2);
  PutSecret(plane, "Bearer two");
  plane.GoneAt(1);
  ASSERT_THAT(plane.caller.calls, SizeIs(2));
  EXPECT_THAT(plane.caller.calls[0].headers,
              ElementsAre(Pair("X-Plain", "plain-v4lue"), Pair("Authorization", "Bearer one")));
  EXPECT_THAT(plane.caller.calls[1].headers,
              ElementsAre(Pair("X-Plain", "plain-v4lue"), Pair("Authorization", "Bearer two")));
}

// A picker that sends everything back that it was sent, in every place there is.
TEST(PodPicker, NoHeaderIsToldToAnybody) {
  PickerPlane plane;
  PutSecret(plane, "s3cret-t0ken");
  plane.Start(8, WithToken());
  std::vector<api::HttpAnswer> answers = {Says(R"({"chosen_pods":["s3cret-t0ken"],"tied_pods":["plain-v4lue"]})"),
                                          Says("s3cret-t0ken plain-v4lue"),
                                          Says("{}", 200, "text/s3cret-t0ken"),
                                          Says("s3cret-t0ken", 401),
                                          Says("plain-v4lue", 301),
                                          Says(R"({"chosen_pods":["p0"],"s3cret-t0ken":"plain-v4lue"})")};
  int replicas = 8;
  for (const api::HttpAnswer& answer : answers) {
    plane.caller.answer = Always(answer);
    EXPECT_THAT(plane.GoneAt(--replicas), SizeIs(1));
  }
  const std::string told = plane.AllThatIsTold();
  EXPECT_THAT(told, HasSubstr("FailedDownscalePodPicker"));
  EXPECT_THAT(told, Not(HasSubstr("s3cret-t0ken")));
  EXPECT_THAT(told, Not(HasSubstr("plain-v4lue")));
}

}  // namespace
}  // namespace terrarium::controllers

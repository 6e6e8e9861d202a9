// Scale-down with a picker, in a whole cluster.

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
using controllers_testing::AnswerWith;
using controllers_testing::PickerCluster;
using controllers_testing::PickerSpec;
using controllers_testing::Picks;
using controllers_testing::Pod;
using controllers_testing::ReplicaSet;
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

TEST(PodPicker, TheChosenPodsAreDeleted) {
  PickerCluster cluster;
  cluster.caller.answer = Always(Picks({"p0", "p2"}));
  cluster.Start(5);
  EXPECT_THAT(cluster.GoneAt(3), ElementsAre("p0", "p2"));
  ASSERT_THAT(cluster.caller.calls, SizeIs(1));
  EXPECT_EQ(cluster.Asked(),
            Json({{"number_of_pods_requested", 2}, {"candidate_pods", {"p0", "p1", "p2", "p3", "p4"}}}));
  EXPECT_THAT(cluster.Warnings(), IsEmpty());
}

TEST(PodPicker, IsCalledAccordingToItsSpec) {
  PickerCluster cluster;
  cluster.caller.answer = Always(Picks({"p0"}));
  cluster.Start(2, PickerSpec({{"timeoutSeconds", 9}}));
  cluster.GoneAt(1);
  ASSERT_THAT(cluster.caller.calls, SizeIs(1));
  const HttpCall& call = cluster.caller.calls[0];
  EXPECT_FALSE(call.tls);
  EXPECT_EQ(call.host, "picker.default.svc");
  EXPECT_EQ(call.port, "8080");
  EXPECT_EQ(call.path, "/pick");
  EXPECT_EQ(call.timeout, 9s);
}

TEST(PodPicker, TheTiedGoAfterTheChosenAndBeforeTheOthers) {
  PickerCluster cluster;
  cluster.caller.answer = Always(Picks({"p0"}, {"p1", "p2"}));
  cluster.Start(5);
  EXPECT_THAT(cluster.GoneAt(3), ElementsAre("p0", "p2")) << "of the tied the younger one";
}

TEST(PodPicker, WhereItNamesTooFewTheOtherCriteriaChooseTheRest) {
  PickerCluster cluster;
  cluster.caller.answer = Always(Picks({"p0"}));
  cluster.Start(4);
  EXPECT_THAT(cluster.GoneAt(1), ElementsAre("p0", "p2", "p3"));
}

TEST(PodPicker, WhereItNamesTooManyTheOtherCriteriaChooseAmongThem) {
  PickerCluster cluster;
  cluster.caller.answer = Always(Picks({"p0", "p1", "p2"}));
  cluster.Start(4);
  EXPECT_THAT(cluster.GoneAt(3), ElementsAre("p2"));
}

TEST(PodPicker, OneNamedTwiceAndOneInBothListsCountOnceAndAsChosen) {
  PickerCluster cluster;
  cluster.caller.answer = Always(Picks({"p0", "p0"}, {"p0", "p1", "p1"}));
  cluster.Start(4);
  EXPECT_THAT(cluster.GoneAt(3), ElementsAre("p0"));
}

TEST(PodPicker, IsCalledForEveryScaleDown) {
  PickerCluster cluster;
  cluster.caller.answer = [](const HttpCall& call) {
    return Picks({Json::parse(call.body)["candidate_pods"][0].get<std::string>()});
  };
  cluster.Start(4);
  EXPECT_THAT(cluster.GoneAt(3), ElementsAre("p0"));
  EXPECT_THAT(cluster.GoneAt(2), ElementsAre("p1"));
  EXPECT_EQ(cluster.Asked(1)["candidate_pods"], Json({"p1", "p2", "p3"}));
}

TEST(PodPicker, IsNotCalledWhenAllOrNoPodsAreDeleted) {
  PickerCluster cluster;
  cluster.Start(2);
  cluster.GoneAt(3);
  EXPECT_THAT(cluster.GoneAt(0), SizeIs(3));
  EXPECT_THAT(cluster.caller.calls, IsEmpty());
}

TEST(PodPicker, PodsThatAreNotReadyGoFirstAndReduceTheRequestedNumber) {
  PickerCluster cluster;
  cluster.caller.answer = Always(Picks({"p0"}));
  Json unready = Pod("unready", {{"app", "web"}});
  unready["metadata"]["annotations"] = {{"terrarium.dev/hold", "ready"}};
  cluster.bed.Must(cluster.bed.Create("pods", "default", unready));
  cluster.bed.clock().Advance(1min);
  Json unscheduled = Pod("unscheduled", {{"app", "web"}});
  unscheduled["spec"]["nodeSelector"] = {{"nowhere", "true"}};
  cluster.bed.Must(cluster.bed.Create("pods", "default", unscheduled));
  controllers_testing::MakePods(cluster.bed, {nullptr, nullptr, nullptr});
  cluster.owner =
      cluster.bed.Must(cluster.bed.Create("replicasets", "default", WithPicker(ReplicaSet("web", 5))));
  cluster.bed.clock().Advance(1min);
  EXPECT_THAT(cluster.GoneAt(2), ElementsAre("p0", "unready", "unscheduled"));
  EXPECT_EQ(cluster.Asked(), Json({{"number_of_pods_requested", 1}, {"candidate_pods", {"p0", "p1", "p2"}}}));
}

TEST(PodPicker, IsNotCalledWhenPodsThatAreNotReadySuffice) {
  PickerCluster cluster;
  Json pod = Pod("unready", {{"app", "web"}});
  pod["metadata"]["annotations"] = {{"terrarium.dev/hold", "ready"}};
  cluster.bed.Must(cluster.bed.Create("pods", "default", pod));
  controllers_testing::MakePods(cluster.bed, {nullptr, nullptr});
  cluster.owner =
      cluster.bed.Must(cluster.bed.Create("replicasets", "default", WithPicker(ReplicaSet("web", 3))));
  cluster.bed.Settle();
  EXPECT_THAT(cluster.GoneAt(2), ElementsAre("unready"));
  EXPECT_THAT(cluster.caller.calls, IsEmpty());
  EXPECT_EQ(cluster.Why(), Json({{"url", "http://picker.default.svc:8080/pick"}, {"calls", 0}}));
}

// The KEP: only one of them should be used. If both are used, the cost comes first.
TEST(PodPicker, ThePodDeletionCostComesBeforeThePicker) {
  PickerCluster cluster;
  cluster.caller.answer = Always(Picks({"p0"}, {"p3"}));
  cluster.Start({"10", "-5", nullptr, nullptr});
  EXPECT_THAT(cluster.GoneAt(3), ElementsAre("p1")) << "the lowest cost, whatever was chosen";
  EXPECT_EQ(cluster.Asked()["candidate_pods"], Json({"p0", "p1", "p2", "p3"}))
      << "a cost makes no candidate less";
  EXPECT_THAT(cluster.GoneAt(2), ElementsAre("p3"))
      << "among those that cost the same the picker's word counts";
  EXPECT_THAT(cluster.GoneAt(1), ElementsAre("p2"));
}

TEST(PodPicker, WithTheGateOfTheCostOffOnlyThePickerCounts) {
  PickerCluster cluster(
      {.gates = "DownscalePodPicker=true,LogarithmicScaleDown=false,PodDeletionCost=false"});
  cluster.caller.answer = Always(Picks({"p0"}));
  cluster.Start({"10", "-5", nullptr});
  EXPECT_THAT(cluster.GoneAt(2), ElementsAre("p0"));
}

// Two old pods on one node and a young one on the other: by nodes an old one is deleted, by age the young
// one.
class PickerAndNodes : public testing::Test {
 protected:
  std::vector<std::string> DeletedAfterAnswer(api::HttpAnswer answer) {
    cluster_.caller.answer = Always(std::move(answer));
    const std::pair<const char*, const char*> pods[] = {
        {"old-0", "node-0"}, {"old-1", "node-0"}, {"young", "node-1"}};
    for (const auto& [name, node] : pods) {
      Json pod = Pod(name, {{"app", "web"}});
      pod["spec"]["nodeName"] = node;
      cluster_.bed.Must(cluster_.bed.Create("pods", "default", pod));
      cluster_.bed.clock().Advance(3s);
    }
    const Json set =
        WithPicker(cluster_.bed.Controlled(ReplicaSet("web", 3)), PickerSpec({{"maxRetries", 0}}));
    cluster_.owner = cluster_.bed.Must(cluster_.bed.Create("replicasets", "default", set));
    cluster_.bed.Settle();
    return cluster_.GoneAt(2);
  }
  PickerCluster cluster_{{.nodes = 2}};
};

TEST_F(PickerAndNodes, WithAnAnswerTheNodesDoNotCount) {
  EXPECT_THAT(DeletedAfterAnswer(Picks({}, {"old-0", "old-1", "young"})), ElementsAre("young"));
}

TEST_F(PickerAndNodes, WithoutAnAnswerTheNodesDoNotCountEither) {
  EXPECT_THAT(DeletedAfterAnswer(AnswerWith("", 500)), ElementsAre("young"));
  EXPECT_THAT(cluster_.Warnings(), SizeIs(1));
}

TEST_F(PickerAndNodes, AnEmptyAnswerIsLikeNoPicker) {
  EXPECT_THAT(DeletedAfterAnswer(Picks({})), ElementsAre("old-1"));
  EXPECT_THAT(cluster_.Warnings(), IsEmpty());
  EXPECT_EQ(cluster_.Metric("calls_total{outcome=\"no_choice\"}"), 1);
}

TEST_F(PickerAndNodes, NoContentIsAnEmptyAnswer) {
  EXPECT_THAT(DeletedAfterAnswer(AnswerWith("", 204, "")), ElementsAre("old-1"));
}

TEST(PodPicker, TheWhyRecordHasTheRequestTheAnswerAndTheRanks) {
  PickerCluster cluster;
  cluster.caller.answer = Always(Picks({"p0"}, {"p1"}));
  cluster.Start(3);
  cluster.GoneAt(2);
  EXPECT_EQ(cluster.Why(),
            Json({{"url", "http://picker.default.svc:8080/pick"},
                  {"calls", 1},
                  {"request", {{"number_of_pods_requested", 1}, {"candidate_pods", {"p0", "p1", "p2"}}}},
                  {"answer", {{"chosen_pods", {"p0"}}, {"tied_pods", {"p1"}}}},
                  {"ranks", {{"p0", 0}, {"p1", 1}, {"p2", 3}}}}));
  const auto records = cluster.bed.why().Find("pods", {"default", "p0"});
  ASSERT_FALSE(records.empty());
  EXPECT_EQ(api::IntAt((*records.back().saw)["chosen"][0], -1, "rank"), 0);
}

TEST(PodPicker, CallsAndTheTimeTheyTookAreCounted) {
  PickerCluster cluster;
  cluster.caller.answer = Always(Picks({"p0"}));
  cluster.Start(2);
  EXPECT_EQ(cluster.Metric("calls_total"), -1) << "none before the first call";
  cluster.GoneAt(1);
  EXPECT_EQ(cluster.Metric("calls_total{outcome=\"success\"}"), 1);
  EXPECT_EQ(cluster.Metric("call_duration_seconds_count"), 1);
  EXPECT_DOUBLE_EQ(cluster.Metric("call_duration_seconds_sum"), 0.02) << "the world's 20 ms";
  EXPECT_EQ(cluster.Metric("call_duration_seconds_bucket{le=\"0.01\"}"), 0);
  EXPECT_EQ(cluster.Metric("call_duration_seconds_bucket{le=\"0.025\"}"), 1);
  EXPECT_EQ(cluster.Metric("retries_total"), -1);
  EXPECT_EQ(cluster.Metric("failures_total"), -1);
}

Json WithToken(const char* key = "token") {
  Json picker = PickerSpec({{"maxRetries", 2}});
  picker["http"]["httpHeaders"] = {
      {{"name", "X-Plain"}, {"value", "plain-v4lue"}},
      {{"name", "Authorization"}, {"valueFrom", {{"secretKeyRef", {{"name", "login"}, {"key", key}}}}}}};
  return picker;
}
void PutSecret(PickerCluster& cluster, const std::string& token) {
  const Json data = {{"token", api::EncodeBase64(token)}};
  if (cluster.bed.Get("secrets", "default", "login") == nullptr)
    cluster.bed.Must(
        cluster.bed.Create("secrets", "default", {{"metadata", {{"name", "login"}}}, {"data", data}}));
  else
    cluster.bed.Must(cluster.bed.Patch("secrets", {"default", "login"}, {{"data", data}}));
}

TEST(PodPicker, HeadersComeFromSecretsAsTheyAreAtTheTimeOfTheCall) {
  PickerCluster cluster;
  cluster.caller.answer = Always(Picks({}));
  PutSecret(cluster, "Bearer one");
  cluster.Start(3, WithToken());
  cluster.GoneAt(2);
  PutSecret(cluster, "Bearer two");
  cluster.GoneAt(1);
  ASSERT_THAT(cluster.caller.calls, SizeIs(2));
  EXPECT_THAT(cluster.caller.calls[0].headers,
              ElementsAre(Pair("X-Plain", "plain-v4lue"), Pair("Authorization", "Bearer one")));
  EXPECT_THAT(cluster.caller.calls[1].headers,
              ElementsAre(Pair("X-Plain", "plain-v4lue"), Pair("Authorization", "Bearer two")));
}

// A picker that returns everything it was sent, in every possible place.
TEST(PodPicker, NoHeaderIsDisclosed) {
  PickerCluster cluster;
  PutSecret(cluster, "s3cret-t0ken");
  cluster.Start(8, WithToken());
  std::vector<api::HttpAnswer> answers = {
      AnswerWith(R"({"chosen_pods":["s3cret-t0ken"],"tied_pods":["plain-v4lue"]})"),
      AnswerWith("s3cret-t0ken plain-v4lue"),
      AnswerWith("{}", 200, "text/s3cret-t0ken"),
      AnswerWith("s3cret-t0ken", 401),
      AnswerWith("plain-v4lue", 301),
      AnswerWith(R"({"chosen_pods":["p0"],"s3cret-t0ken":"plain-v4lue"})")};
  int replicas = 8;
  for (const api::HttpAnswer& answer : answers) {
    cluster.caller.answer = Always(answer);
    EXPECT_THAT(cluster.GoneAt(--replicas), SizeIs(1));
  }
  const std::string output = cluster.AllOutput();
  EXPECT_THAT(output, HasSubstr("FailedDownscalePodPicker"));
  EXPECT_THAT(output, Not(HasSubstr("s3cret-t0ken")));
  EXPECT_THAT(output, Not(HasSubstr("plain-v4lue")));
}

}  // namespace
}  // namespace terrarium::controllers

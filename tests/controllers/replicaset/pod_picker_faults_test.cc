// Pickers with invalid answers: after all retries every pod ranks equally, and an Event states why.

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/base64.h"
#include "tests/controllers/replicaset/picker_testing.h"

namespace terrarium::controllers {
namespace {

using api::HttpAnswer;
using api::Json;
using controllers_testing::AnswerWith;
using controllers_testing::Fails;
using controllers_testing::PickerCluster;
using controllers_testing::PickerSpec;
using controllers_testing::Picks;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;
using Outcome = HttpAnswer::Outcome;
using namespace std::chrono_literals;

struct Fault {
  std::string name;
  HttpAnswer answer;
  std::string outcome;
  std::string why;
  int tries = 3;
  int calls = 3;  // a forbidden host is not called
};

class PickerFaults : public testing::TestWithParam<Fault> {};

// KEP-3189, risks: unreachable hosts and invalid answers are retried up to maxRetries times. A time-out is
// not retried. A response larger than 1 MiB is an invalid answer.
TEST_P(PickerFaults, EndInTheOrderWithoutItAfterAllRetries) {
  const Fault& fault = GetParam();
  PickerCluster cluster;
  cluster.caller.answer = [&](const api::HttpCall&) { return fault.answer; };
  cluster.Start(3, PickerSpec({{"maxRetries", 2}}));
  EXPECT_THAT(cluster.GoneAt(2), ElementsAre("p2"));
  const std::string calls = std::to_string(fault.calls);
  EXPECT_THAT(cluster.caller.calls, SizeIs(fault.tries));
  EXPECT_THAT(cluster.Warnings(),
              ElementsAre("FailedDownscalePodPicker Error asking downscalePodPicker "
                          "http://picker.default.svc:8080/pick: " +
                          fault.why + " (calls: " + calls + "); all pods rank alike replicaset-controller"));
  EXPECT_EQ(cluster.Metric("calls_total{outcome=\"" + fault.outcome + "\"}"),
            fault.calls > 0 ? fault.calls : -1);
  EXPECT_EQ(cluster.Metric("retries_total"), fault.tries > 1 ? 2 : -1);
  EXPECT_EQ(cluster.Metric("failures_total{reason=\"" + fault.outcome + "\"}"), 1);
  EXPECT_EQ(cluster.Why()["fault"], fault.why);
  EXPECT_EQ(cluster.Why()["calls"], fault.calls);
  EXPECT_EQ(cluster.Why()["request"]["number_of_pods_requested"], 1);
}

const Fault kFaults[] = {
    {"RefusedConnection", Fails(Outcome::kRefused, "connection refused"), "connection_failed",
     "connection refused"},
    {"UnknownHost", Fails(Outcome::kUnknownHost, "no such host"), "unknown_host", "no such host"},
    {"TlsFailure", Fails(Outcome::kTlsFailure, "certificate not trusted"), "tls_failed",
     "certificate not trusted"},
    {"TimeOut", Fails(Outcome::kTimedOut, "no answer within 1s"), "timeout", "no answer within 1s", 1, 1},
    {"TooLarge", Fails(Outcome::kTooLarge, "more than 1 MiB"), "too_large", "more than 1 MiB"},
    {"NotHttp", Fails(Outcome::kMalformed, "not HTTP"), "malformed", "not HTTP"},
    {"NotAllowed", Fails(Outcome::kNotAllowed, "not allowed"), "not_allowed", "not allowed", 1, 0},
    {"NotJson", AnswerWith("pick p0"), "malformed", "the answer is not valid JSON"},
    {"EmptyBody", AnswerWith(""), "malformed", "the answer is empty"},
    {"WrongType", AnswerWith(R"({"chosen_pods":"p0"})"), "malformed",
     "in the answer, chosen_pods is not a list"},
    {"NoCandidate", Picks({"p0", "p9"}), "malformed",
     "in the answer, chosen_pods[1] is not one of the candidate_pods"},
    {"WrongContentType", AnswerWith("{}", 200, "text/html"), "malformed",
     "the content type of the answer is not application/json"},
    {"Status", AnswerWith(R"({"chosen_pods":["p0"]})", 503), "bad_status", "it answered with status 503"},
    {"Redirect", AnswerWith("", 307), "redirect", "it answered with a redirect (307), which is not followed"},
};

INSTANTIATE_TEST_SUITE_P(Faults, PickerFaults, testing::ValuesIn(kFaults),
                         [](const auto& info) { return info.param.name; });

TEST(PickerRetries, ThatSucceedAreCountedWithoutAWarning) {
  PickerCluster cluster;
  int call = 0;
  cluster.caller.answer = [&](const api::HttpCall&) {
    return ++call < 4 ? AnswerWith("", 500) : Picks({"p0"});
  };
  cluster.Start(3);
  EXPECT_THAT(cluster.GoneAt(2), ElementsAre("p0"));
  EXPECT_EQ(call, 4) << "three retries, as by default";
  EXPECT_THAT(cluster.Warnings(), IsEmpty());
  EXPECT_EQ(cluster.Metric("calls_total{outcome=\"bad_status\"}"), 3);
  EXPECT_EQ(cluster.Metric("calls_total{outcome=\"success\"}"), 1);
  EXPECT_EQ(cluster.Metric("retries_total"), 3);
  EXPECT_EQ(cluster.Why()["calls"], 4);
}

TEST(PickerRetries, MayBeNone) {
  PickerCluster cluster;
  cluster.caller.answer = [](const api::HttpCall&) { return AnswerWith("", 500); };
  cluster.Start(2, PickerSpec({{"maxRetries", 0}}));
  EXPECT_THAT(cluster.GoneAt(1), ElementsAre("p1"));
  EXPECT_THAT(cluster.caller.calls, SizeIs(1));
}

TEST(PickerRetries, BackOffByTheClustersClock) {
  PickerCluster cluster;
  std::vector<std::int64_t> at_ms;
  api::Time start{};
  cluster.caller.answer = [&](const api::HttpCall&) {
    if (at_ms.empty()) start = cluster.bed.Now();
    at_ms.push_back(std::chrono::duration_cast<std::chrono::milliseconds>(cluster.bed.Now() - start).count());
    return AnswerWith("", 500);
  };
  cluster.Start(2, PickerSpec({{"maxRetries", 9}}));
  cluster.GoneAt(1);
  EXPECT_THAT(at_ms, ElementsAre(0, 50, 150, 350, 750, 1550, 3150, 6350, 11350, 16350));
}

// Retries advance the clock, so that a run reaches its limit however large maxRetries is.
TEST(PickerRetries, WithoutEndDoNotKeepTheClockFromItsDeadline) {
  PickerCluster cluster;
  cluster.caller.answer = [](const api::HttpCall&) { return AnswerWith("", 500); };
  cluster.Start(2, PickerSpec({{"maxRetries", 2147483647}}));
  cluster.bed.Scale("replicasets", "web", 1);
  EXPECT_EQ(cluster.bed.clock().RunUntilIdle(1min).why, testbed::RunOutcome::Why::kDeadline);
  EXPECT_THAT(cluster.bed.PodNamesOf(cluster.owner), SizeIs(2));
  cluster.caller.answer = [](const api::HttpCall&) { return Picks({"p0"}); };
  cluster.bed.Settle();
  EXPECT_THAT(cluster.bed.PodNamesOf(cluster.owner), ElementsAre("p1"));
}

TEST(PickerWithoutAClient, IsReportedAsAFault) {
  PickerCluster cluster({.has_caller = false});
  cluster.Start(2);
  EXPECT_THAT(cluster.GoneAt(1), ElementsAre("p1"));
  EXPECT_THAT(cluster.Warnings(),
              ElementsAre("FailedDownscalePodPicker Error asking downscalePodPicker "
                          "http://picker.default.svc:8080/pick: this control plane has no HTTP client for it "
                          "(calls: 0); all pods rank alike replicaset-controller"));
  EXPECT_EQ(cluster.Metric("failures_total{reason=\"no_client\"}"), 1);
}

Json WithSecret(bool optional) {
  Json picker = PickerSpec();
  picker["http"]["httpHeaders"] = {
      {{"name", "X-Token"},
       {"valueFrom", {{"secretKeyRef", {{"name", "login"}, {"key", "token"}, {"optional", optional}}}}}}};
  return picker;
}

// A missing Secret is not worth a retry, and no call is made without it.
TEST(PickerSecrets, ThatAreMissingAreFaultsWithoutACall) {
  PickerCluster cluster;
  cluster.Start(3, WithSecret(false));
  EXPECT_THAT(cluster.GoneAt(2), ElementsAre("p2"));
  cluster.bed.Must(cluster.bed.Create("secrets", "default", {{"metadata", {{"name", "login"}}}}));
  EXPECT_THAT(cluster.GoneAt(1), ElementsAre("p1"));
  EXPECT_THAT(cluster.caller.calls, IsEmpty());
  EXPECT_THAT(cluster.Warnings(),
              ElementsAre(testing::HasSubstr("Secret \"login\" does not exist (calls: 0)"),
                          testing::HasSubstr("Secret \"login\", key \"token\", does not exist (calls: 0)")));
  EXPECT_EQ(cluster.Metric("failures_total{reason=\"secret_unusable\"}"), 2);
  EXPECT_EQ(cluster.Metric("calls_total"), -1);
}

TEST(PickerSecrets, ThatAreOptionalMayBeMissing) {
  PickerCluster cluster;
  cluster.caller.answer = [](const api::HttpCall&) { return Picks({"p0"}); };
  cluster.Start(2, WithSecret(true));
  EXPECT_THAT(cluster.GoneAt(1), ElementsAre("p0"));
  EXPECT_THAT(cluster.caller.calls.at(0).headers, IsEmpty());
}

TEST(PickerSecrets, OfOtherNamespacesAreNotRead) {
  PickerCluster cluster;
  cluster.bed.Must(cluster.bed.Create("namespaces", "", {{"metadata", {{"name", "other"}}}}));
  cluster.bed.Must(
      cluster.bed.Create("secrets", "other",
                         {{"metadata", {{"name", "login"}}}, {"data", {{"token", api::EncodeBase64("t")}}}}));
  cluster.Start(2, WithSecret(false));
  cluster.GoneAt(1);
  EXPECT_THAT(cluster.caller.calls, IsEmpty());
}

}  // namespace
}  // namespace terrarium::controllers

// Picker requests, and parsing of the answers.

#include "controllers/replicaset/internal/pod_picker.h"

#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/controllers/runtime/fake_client.h"
#include "tests/controllers/runtime/fake_http_caller.h"

namespace terrarium::controllers::replicaset {
namespace {

using api::Json;
using controllers_testing::AnswerWith;
using controllers_testing::Fails;
using testing::ElementsAre;
using testing::IsEmpty;
using Outcome = api::HttpAnswer::Outcome;

const PodFacts kReady = {.active = true, .ready = true, .assigned = true, .phase = api::Phase::kRunning};

// Named a, b, c, ...
class Pods {
 public:
  explicit Pods(std::vector<PodFacts> facts) : facts_(std::move(facts)) {
    for (std::size_t i = 0; i < facts_.size(); ++i) {
      objects_.push_back(controllers_testing::MakeObject(
          {{"metadata", {{"name", std::string(1, static_cast<char>('a' + i))}}}}));
      ranked_.push_back({objects_.back().get(), &facts_[i], 0});
    }
  }
  const std::vector<RankedPod>& ranked() const { return ranked_; }

 private:
  std::vector<PodFacts> facts_;
  std::vector<api::ObjectPtr> objects_;
  std::vector<RankedPod> ranked_;
};

TEST(PickRequest, AsksForAsManyAsGoAmongAllThatAreReady) {
  const PickRequest request = RequestFor(Pods({kReady, kReady, kReady}).ranked(), 2);
  EXPECT_EQ(request.ToJson(),
            Json::parse(R"({"number_of_pods_requested":2,"candidate_pods":["a","b","c"]})"));
}

TEST(PickRequest, PodsThatAreDeletedAnywayAreNotCandidatesAndReduceTheNumber) {
  PodFacts unassigned = kReady, pending = kReady, unknown = kReady, unready = kReady;
  unassigned.assigned = false;
  pending.phase = api::Phase::kPending;
  unknown.phase = api::Phase::kUnknown;
  unready.ready = false;
  const Pods pods({unassigned, kReady, pending, unknown, kReady, unready, kReady});
  const PickRequest request = RequestFor(pods.ranked(), 5);
  EXPECT_EQ(request.number, 1);
  EXPECT_THAT(request.candidates, ElementsAre("b", "e", "g"));
  for (int count : {1, 2, 3, 4}) EXPECT_EQ(RequestFor(pods.ranked(), count).number, 0) << count;
}

const PickRequest kAsked{.number = 2, .candidates = {"a", "b", "c", "d"}};

PickAnswer Read(const std::string& body) {
  PickResult result = ReadAnswer(AnswerWith(body), kAsked);
  if (const auto* fault = std::get_if<PickFault>(&result)) ADD_FAILURE() << fault->message;
  return std::holds_alternative<PickAnswer>(result) ? std::get<PickAnswer>(result) : PickAnswer{};
}
std::string Ranks(const PickAnswer& answer) {
  std::string ranks;
  for (const std::string& pod : kAsked.candidates) ranks += std::to_string(answer.RankOf(pod));
  return ranks;
}
std::string Fault(const api::HttpAnswer& answer) {
  const PickResult result = ReadAnswer(answer, kAsked);
  const auto* fault = std::get_if<PickFault>(&result);
  return fault == nullptr ? "none" : std::string(fault->outcome) + ": " + fault->message;
}

TEST(PickAnswer, ChosenRank0TiedRank1AndOthersRank3) {
  EXPECT_EQ(Ranks(Read(R"({"chosen_pods":["b"],"tied_pods":["d","a"]})")), "1031");
}

// KEP-3189, Pod-Picker API contract: of one idle and three equally busy pods the picker chooses the idle one
// and leaves the rest of the decision open.
TEST(PickAnswer, Kep3189ContractTwoListsNameChosenAndTiedPods) {
  EXPECT_EQ(Ranks(Read(R"({"chosen_pods":["a"],"tied_pods":["b","c","d"]})")), "0111");
}

// It should name at least as many pods as requested. Fewer are still a valid answer.
TEST(PickAnswer, Kep3189ContractNamingFewerThanAskedForIsAnAnswer) {
  ASSERT_EQ(kAsked.number, 2);
  EXPECT_EQ(OutcomeOf(ReadAnswer(AnswerWith(R"({"chosen_pods":["c"]})"), kAsked)), "success");
  EXPECT_EQ(Ranks(Read(R"({"chosen_pods":["c"]})")), "3303");
}

// It need not rank all candidates: a picker that has found enough may stop.
TEST(PickAnswer, Kep3189ContractNotAllCandidatesNeedBeDecidedAbout) {
  EXPECT_EQ(Ranks(Read(R"({"chosen_pods":["d","b"]})")), "3030") << "the others come last";
}

// Answers that the KEP leaves undefined.
TEST(PickAnswer, CasesThatTheContractLeavesOpen) {
  EXPECT_EQ(Ranks(Read(R"({"chosen_pods":["a"],"tied_pods":[]})")), "0333") << "fewer than asked for";
  EXPECT_EQ(Ranks(Read(R"({"chosen_pods":["a","b","c","d"],"tied_pods":[]})")), "0000")
      << "more than asked for";
  EXPECT_EQ(Ranks(Read(R"({"chosen_pods":["a"],"tied_pods":["a","b"]})")), "0133") << "in both: chosen wins";
  EXPECT_EQ(Ranks(Read(R"({"chosen_pods":["a","a"],"tied_pods":["b","b"]})")), "0133") << "twice counts once";
  EXPECT_EQ(Ranks(Read(R"({"chosen_pods":["a"],"tied_pods":["b"],"why":{"a":["idle"]}})")), "0133")
      << "extra fields";
  EXPECT_EQ(Ranks(Read(R"({"tied_pods":["b"]})")), "3133") << "a list that is missing is empty";
  EXPECT_EQ(Ranks(Read(R"({"chosen_pods":["b"],"tied_pods":null})")), "3033") << "so is null";
  EXPECT_EQ(Ranks(Read(R"({"chosen_pods":["a"],"chosen_pods":["c"]})")), "3303")
      << "of a field twice the last";
}

TEST(PickAnswer, AnEmptyAnswerIsValid) {
  EXPECT_TRUE(Read(R"({"chosen_pods":[],"tied_pods":[]})").IsEmpty());
  EXPECT_TRUE(Read("{}").IsEmpty());
  EXPECT_EQ(Fault(AnswerWith("", 204, "")), "none");
  EXPECT_EQ(OutcomeOf(ReadAnswer(AnswerWith("{}"), kAsked)), "no_choice");
  EXPECT_EQ(OutcomeOf(ReadAnswer(AnswerWith(R"({"tied_pods":["a"]})"), kAsked)), "success");
}

TEST(PickAnswer, OtherBodiesAreMalformed) {
  EXPECT_EQ(Fault(AnswerWith("")), "malformed: the answer is empty");
  EXPECT_EQ(Fault(AnswerWith("{")), "malformed: the answer is not valid JSON");
  EXPECT_EQ(Fault(AnswerWith("{} {}")), "malformed: the answer is not valid JSON");
  EXPECT_EQ(Fault(AnswerWith("\"\xff\"")), "malformed: the answer is not valid JSON");
  EXPECT_EQ(Fault(AnswerWith(std::string(1024 * 1024, '['))), "malformed: the answer is not valid JSON");
  EXPECT_EQ(Fault(AnswerWith("[]")), "malformed: the answer is not a JSON object");
  EXPECT_EQ(Fault(AnswerWith("null")), "malformed: the answer is not a JSON object");
  EXPECT_EQ(Fault(AnswerWith(R"({"chosen_pods":"a"})")),
            "malformed: in the answer, chosen_pods is not a list");
  EXPECT_EQ(Fault(AnswerWith(R"({"tied_pods":{"a":1}})")),
            "malformed: in the answer, tied_pods is not a list");
  EXPECT_EQ(Fault(AnswerWith(R"({"tied_pods":["a",7]})")),
            "malformed: in the answer, tied_pods[1] is not a name");
  EXPECT_EQ(Fault(AnswerWith(R"({"chosen_pods":["a","b","stranger"]})")),
            "malformed: in the answer, chosen_pods[2] is not one of the candidate_pods");
  EXPECT_EQ(Fault(AnswerWith(R"({"chosen_pods":["a"],"tied_pods":[""]})")),
            "malformed: in the answer, tied_pods[0] is not one of the candidate_pods");
}

TEST(PickAnswer, TheContentTypeIsJsonOrAbsent) {
  const std::string body = R"({"chosen_pods":["a"]})";
  for (const char* type :
       {"", "application/json", "application/json; charset=utf-8", " Application/JSON ;q=1"})
    EXPECT_EQ(Fault(AnswerWith(body, 200, type)), "none") << type;
  for (const char* type :
       {"text/plain", "text/html; charset=utf-8", "application/jsonp", "application/problem+json"})
    EXPECT_EQ(Fault(AnswerWith(body, 200, type)),
              "malformed: the content type of the answer is not application/json")
        << type;
}

TEST(PickAnswer, OtherStatusesAreFaultsWithAnyBody) {
  const std::string body = R"({"chosen_pods":["a"]})";
  for (int status : {200, 201, 202, 299}) EXPECT_EQ(Fault(AnswerWith(body, status)), "none") << status;
  for (int status : {100, 199, 400, 401, 404, 429, 500, 503})
    EXPECT_EQ(Fault(AnswerWith(body, status)),
              "bad_status: it answered with status " + std::to_string(status));
  for (int status : {300, 301, 302, 307, 308})
    EXPECT_EQ(Fault(AnswerWith(body, status)), "redirect: it answered with a redirect (" +
                                                   std::to_string(status) + "), which is not followed");
}

TEST(PickAnswer, FaultsHaveTheCallersMessage) {
  EXPECT_EQ(Fault(Fails(Outcome::kRefused, "connection refused by 127.0.0.1:1")),
            "connection_failed: connection refused by 127.0.0.1:1");
  EXPECT_EQ(Fault(Fails(Outcome::kTimedOut)), "timeout: the time-out was reached");
  EXPECT_EQ(Fault(Fails(Outcome::kUnknownHost)), "unknown_host: the host is unknown");
  EXPECT_EQ(Fault(Fails(Outcome::kTlsFailure)), "tls_failed: there is no trusted TLS connection");
  EXPECT_EQ(Fault(Fails(Outcome::kTooLarge)), "too_large: the answer is too large");
  EXPECT_EQ(Fault(Fails(Outcome::kMalformed)), "malformed: the answer is not HTTP");
  EXPECT_EQ(Fault(Fails(Outcome::kNotAllowed)), "not_allowed: the host is not one that may be called");
}

// KEP-3189: unreachable hosts and invalid answers are retried; "if timeout reached" ends it.
TEST(PickAnswer, ForbiddenHostsAndTimeOutsAreNotRetried) {
  for (Outcome outcome : {Outcome::kUnknownHost, Outcome::kRefused, Outcome::kTlsFailure, Outcome::kTooLarge,
                          Outcome::kMalformed})
    EXPECT_TRUE(std::get<PickFault>(ReadAnswer(Fails(outcome), kAsked)).worth_retrying);
  EXPECT_TRUE(std::get<PickFault>(ReadAnswer(AnswerWith("", 302), kAsked)).worth_retrying);
  for (Outcome outcome : {Outcome::kNotAllowed, Outcome::kTimedOut})
    EXPECT_FALSE(std::get<PickFault>(ReadAnswer(Fails(outcome), kAsked)).worth_retrying);
}

// A picker may return its input. Candidate names are known; nothing else is repeated.
TEST(PickAnswer, NothingOfAnAnswerIsRepeatedButCandidates) {
  const std::string secret = "s3cret";
  for (const api::HttpAnswer& answer : {AnswerWith(R"({"chosen_pods":["s3cret"]})"), AnswerWith("s3cret"),
                                        AnswerWith("{}", 200, "text/s3cret"), AnswerWith("s3cret", 500)})
    EXPECT_THAT(Fault(answer), testing::Not(testing::HasSubstr(secret)));
  EXPECT_THAT(Read(R"({"chosen_pods":["a"],"s3cret":"s3cret"})").ToJson().dump(),
              testing::Not(testing::HasSubstr(secret)));
}

}  // namespace
}  // namespace terrarium::controllers::replicaset

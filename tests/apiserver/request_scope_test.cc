#include "apiserver/request_scope.h"

#include <stdexcept>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace terrarium::apiserver {
namespace {

using namespace std::chrono_literals;
using State = ResponseStream::State;

// Records the calls.
struct FakeStream : ResponseStream {
  explicit FakeStream(std::vector<std::string>& log) : log(log) {}
  ~FakeStream() override { log.push_back("stream freed"); }
  State Read(std::size_t, std::string& out) override {
    if (fails) throw std::runtime_error("a bug");
    out += "event";
    return State::kOpen;
  }
  void SetWake(std::function<void()>) override {}
  bool fails = false;
  std::vector<std::string>& log;
};

struct RequestScopeTest : testing::Test {
  RequestScopePtr Scope() {
    return RequestScope::Make(Request{}, [this](Response response, std::shared_ptr<void> in_flight) {
      responses.push_back(std::move(response));
      if (keep_in_flight) kept = std::move(in_flight);
    });
  }
  Response StreamResponse() {
    Response response;
    response.stream = std::make_unique<FakeStream>(log);
    return response;
  }

  std::vector<std::string> log;
  RequestGroupPtr group = std::make_shared<RequestGroup>();
  std::vector<Response> responses;
  bool keep_in_flight = false;
  std::shared_ptr<void> kept;
};

TEST_F(RequestScopeTest, OnlyTheFirstResponseIsDelivered) {
  auto scope = Scope();
  Response first;
  first.code = 201;
  scope->Respond(std::move(first));
  scope->Respond({});
  ASSERT_EQ(responses.size(), 1U);
  EXPECT_EQ(responses[0].code, 201);
}

TEST_F(RequestScopeTest, PartsChangeAResponseInTheReverseOrderOfTheRequest) {
  auto scope = Scope();
  scope->OnResponse([](Response& response) { response.body += "outer"; });
  scope->OnResponse([](Response& response) { response.body += "inner "; });
  scope->Respond({});
  EXPECT_EQ(responses[0].body, "inner outer");
}

TEST_F(RequestScopeTest, ARequestIsInFlightUntilItsResponseIsDelivered) {
  keep_in_flight = true;
  auto scope = Scope();
  ASSERT_TRUE(scope->Enter(group));
  EXPECT_EQ(group->count(), 1);
  scope->Respond({});
  EXPECT_EQ(group->count(), 1) << "the receiver is not done yet";
  kept = nullptr;
  EXPECT_EQ(group->count(), 0);
}

TEST_F(RequestScopeTest, ACallerThatIsStillInsideKeepsARequestInFlight) {
  auto scope = Scope();
  ASSERT_TRUE(scope->Enter(group));
  auto inside = scope->StayInFlight();
  scope->Respond({});
  EXPECT_EQ(group->count(), 1);
  inside = nullptr;
  EXPECT_EQ(group->count(), 0);
}

TEST_F(RequestScopeTest, ARequestWithoutAResponseLeavesItsGroupsWhenItIsDropped) {
  auto scope = Scope();
  ASSERT_TRUE(scope->Enter(group));
  scope = nullptr;
  EXPECT_EQ(group->count(), 0);
}

TEST_F(RequestScopeTest, ALimitCountsRequestsWithoutAResponse) {
  InflightLimit limit(1);
  auto first = Scope(), second = Scope();
  EXPECT_TRUE(first->Enter(limit));
  EXPECT_FALSE(second->Enter(limit));
  auto inside = first->StayInFlight();
  first->Respond({});
  EXPECT_TRUE(second->Enter(limit)) << "its response has been given";
}

TEST_F(RequestScopeTest, AClosedGroupTakesNoRequestAndWaitsForThoseItHas) {
  auto scope = Scope();
  ASSERT_TRUE(scope->Enter(group));
  group->Close();
  EXPECT_FALSE(Scope()->Enter(group));
  EXPECT_FALSE(group->WaitUntilUnused(1ms));
  std::thread other([scope = std::move(scope)] { scope->Respond({}); });
  EXPECT_TRUE(group->WaitUntilUnused(60s));
  other.join();
}

TEST_F(RequestScopeTest, EndingTheStreamsOfAGroupFreesThemAndWakesTheirReaders) {
  auto scope = Scope();
  ASSERT_TRUE(scope->Enter(group));
  scope->OnResponse([&](Response&) {
    scope->HoldWithStream(std::shared_ptr<void>(&log, [this](void*) { log.push_back("held freed"); }));
  });
  scope->Respond(StreamResponse());
  std::string text;
  EXPECT_EQ(responses[0].stream->Read(100, text), State::kOpen);
  EXPECT_EQ(text, "event");
  responses[0].stream->SetWake([this] { log.push_back("reader woken"); });
  group->EndStreams(State::kCut);
  EXPECT_EQ(log, (std::vector<std::string>{"stream freed", "held freed", "reader woken"}));
  EXPECT_EQ(responses[0].stream->Read(100, text), State::kCut);
  EXPECT_EQ(text, "event");
}

TEST_F(RequestScopeTest, AStreamOfAGroupThatEndedItsStreamsEndsImmediately) {
  auto other = std::make_shared<RequestGroup>();
  auto scope = Scope();
  ASSERT_TRUE(scope->Enter(group) && scope->Enter(other));
  group->EndStreams(State::kEnd);
  scope->Respond(StreamResponse());
  EXPECT_EQ(log, std::vector<std::string>{"stream freed"});
  bool woken = false;
  responses[0].stream->SetWake([&] { woken = true; });
  EXPECT_TRUE(woken) << "a reader that comes late has nothing to wait for";
  std::string text;
  EXPECT_EQ(responses[0].stream->Read(100, text), State::kEnd);
  EXPECT_EQ(other.use_count(), 1) << "nothing of the stream is left";
}

TEST_F(RequestScopeTest, AReaderThatGoesTakesItsStreamOutOfTheGroups) {
  auto scope = Scope();
  ASSERT_TRUE(scope->Enter(group));
  scope->Respond(StreamResponse());
  scope = nullptr;
  EXPECT_GT(group.use_count(), 1);
  responses.clear();
  EXPECT_EQ(log, std::vector<std::string>{"stream freed"});
  EXPECT_EQ(group.use_count(), 1);
}

TEST_F(RequestScopeTest, AnExceptionCutsItsStreamAlone) {
  auto scope = Scope();
  ASSERT_TRUE(scope->Enter(group));
  Response response = StreamResponse();
  static_cast<FakeStream&>(*response.stream).fails = true;
  scope->Respond(std::move(response));
  std::string text;
  EXPECT_EQ(responses[0].stream->Read(100, text), State::kCut);
  EXPECT_EQ(log, std::vector<std::string>{"stream freed"});
}

TEST_F(RequestScopeTest, GroupsEndWhileReadersReadAndGo) {
  auto other = std::make_shared<RequestGroup>();
  for (int i = 0; i < 200; ++i) {
    std::vector<std::string> ignored;
    auto run = std::make_shared<RequestGroup>();
    std::unique_ptr<ResponseStream> stream;
    auto scope =
        RequestScope::Make(Request{}, [&](Response response) { stream = std::move(response.stream); });
    ASSERT_TRUE(scope->Enter(group) && scope->Enter(run) && scope->Enter(other));
    Response response;
    response.stream = std::make_unique<FakeStream>(ignored);
    std::thread ends([&] { run->EndStreams(State::kCut); });
    scope->Respond(std::move(response));
    std::string text;
    stream->SetWake([] {});
    stream->Read(100, text);
    if (i % 2 == 0) stream = nullptr;
    ends.join();
    stream = nullptr;
    EXPECT_EQ(ignored.size(), 1U);
  }
  EXPECT_EQ(other.use_count(), 1);
  EXPECT_EQ(other->count(), 0);
}

}  // namespace
}  // namespace terrarium::apiserver

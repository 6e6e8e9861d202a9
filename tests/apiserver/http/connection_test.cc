#include "apiserver/http/connection.h"

#include <algorithm>
#include <future>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

#include "tests/apiserver/http/connection_fixture.h"

namespace terrarium::apiserver {
namespace {

std::size_t Count(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++count;
  return count;
}

TEST_F(ConnectionTest, RequestsAreServedWhereverTheirBytesAreSplit) {
  std::string text = std::string(kGet) + Post(5) + "hello" +
                     "POST /b HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: Chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
  for (std::size_t step = 1; step <= text.size(); ++step) {
    requests_.clear();
    auto client = Connect();
    client->SendInSteps(text, step);
    ASSERT_EQ(requests_.size(), 3U) << step;
    EXPECT_EQ(requests_[1].body, "hello");
    EXPECT_EQ(requests_[2].body, "abc");
    EXPECT_EQ(Count(client->answers(), "HTTP/1.1 200 OK"), 3U);
    EXPECT_FALSE(client->tcp->shut_down);
  }
  EXPECT_EQ(state_.received.used(), 0U);
  EXPECT_EQ(state_.unsent.used(), 0U);
}

TEST_F(ConnectionTest, AnswersKeepTheOrderOfTheirRequests) {
  std::vector<Responder> held;
  answer_ = [&](const Responder& respond) { held.push_back(respond); };
  auto client = Connect();
  client->Send(std::string(kGet) + std::string(kGet));
  ASSERT_EQ(held.size(), 1U);
  EXPECT_GT(state_.received.used(), 0U);
  Response first;
  first.body = "first";
  held[0](std::move(first));
  ASSERT_EQ(held.size(), 2U);
  EXPECT_TRUE(client->answers().ends_with("first"));
  EXPECT_EQ(state_.received.used(), kGet.size()) << "the second request";
  held[1](Response{});
  EXPECT_EQ(state_.received.used(), 0U);
}

TEST_F(ConnectionTest, RequestsThatWaitAreServedInTurnWhileOthersArrive) {
  std::optional<Responder> held;
  answer_ = [&](const Responder& respond) { held = respond; };
  auto client = Connect();
  std::string text;
  for (int i = 0; i < 100; ++i) text += Post(4) + std::to_string(1000 + i);
  // The second half arrives in parts, one after each response.
  const std::size_t half = text.size() / 2, part = half / 40;
  client->Send(std::string_view(text).substr(0, half));
  for (std::size_t served = 0, at = half; served < 100; ++served) {
    ASSERT_EQ(requests_.size(), served + 1);
    ASSERT_EQ(requests_.back().body, std::to_string(1000 + served));
    Response response;
    std::exchange(held, std::nullopt)->operator()(std::move(response));
    RunLoop();
    if (at < text.size()) client->Send(std::string_view(text).substr(at, part));
    at += part;
  }
  EXPECT_EQ(Count(client->answers(), "HTTP/1.1 200 OK"), 100U);
  EXPECT_EQ(state_.received.used(), 0U);
}

TEST_F(ConnectionTest, AHeadIsCountedUntilItHasAnAnswer) {
  const std::string text = "GET /?" + std::string(400, 'q') +
                           " HTTP/1.1\r\nHost: x\r\nName: " + std::string(400, 'n') + "\r\n\r\n";
  for (std::size_t step : {text.size(), std::size_t{100}}) {
    Responder held;
    answer_ = [&](const Responder& respond) { held = respond; };
    auto client = Connect();
    client->SendInSteps(text, step);
    EXPECT_EQ(state_.received.used(), text.size()) << step;
    client->tcp->forceClose();
    EXPECT_EQ(state_.received.used(), text.size()) << "the handler still has it";
    held(Response{});
    EXPECT_EQ(state_.received.used(), 0U);
  }
}

TEST_F(ConnectionTest, HeadsAreRefusedWhenTheBudgetIsUsedUp) {
  std::vector<Responder> held;
  answer_ = [&](const Responder& respond) { held.push_back(respond); };
  const std::string text = "GET /?" + std::string(900, 'q') + " HTTP/1.1\r\nHost: x\r\n\r\n";
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 17; ++i) {
    clients.push_back(Connect());
    clients.back()->Send(text);
  }
  EXPECT_TRUE(clients.back()->answers().starts_with("HTTP/1.1 429")) << clients.back()->answers();
  EXPECT_EQ(clients.front()->answers(), "");
  EXPECT_EQ(state_.received.used(), held.size() * text.size());
  for (const Responder& respond : held) respond(Response{});
  EXPECT_EQ(state_.received.used(), 0U);
}

TEST_F(ConnectionTest, WhatIsSentAheadIsBounded) {
  answer_ = [](const Responder&) {};
  auto client = Connect();
  client->Send(kGet);
  client->Send(std::string(11'000, 'a'));
  EXPECT_FALSE(client->tcp->closed);
  client->Send("b");
  EXPECT_TRUE(client->tcp->closed);
  EXPECT_EQ(state_.received.used(), 0U);
}

TEST_F(ConnectionTest, AHeadHasThirtySeconds) {
  auto client = Connect();
  client->Send("GET / HT");
  for (int i = 0; i < 29; ++i) {
    Pass(seconds(1), *client);
    client->Send("T");
  }
  EXPECT_EQ(client->answers(), "");
  Pass(seconds(1), *client);
  EXPECT_TRUE(client->answers().starts_with("HTTP/1.1 408 Request Timeout")) << client->answers();
  EXPECT_NE(client->answers().find("\"kind\":\"Status\""), std::string::npos);
  EXPECT_TRUE(client->tcp->shut_down);
  Pass(seconds(5), *client);
  EXPECT_TRUE(client->tcp->closed);
}

TEST_F(ConnectionTest, ABodyHasSixtySeconds) {
  auto client = Connect();
  client->Send(Post(100));
  for (int i = 0; i < 59; ++i) {
    client->Send("a");
    Pass(seconds(1), *client);
  }
  EXPECT_EQ(client->answers(), "");
  Pass(seconds(1), *client);
  EXPECT_TRUE(client->answers().starts_with("HTTP/1.1 408")) << client->answers();
  EXPECT_EQ(state_.received.used(), 0U);
}

TEST_F(ConnectionTest, AnIdleConnectionIsKeptForThreeMinutes) {
  auto client = Connect();
  Pass(seconds(100), *client);
  client->Send(kGet);
  Pass(seconds(179), *client);
  EXPECT_FALSE(client->tcp->closed);
  Pass(seconds(1), *client);
  EXPECT_TRUE(client->tcp->closed);
}

TEST_F(ConnectionTest, EmptyLinesDoNotKeepAnIdleConnection) {
  auto client = Connect();
  for (int i = 0; i < 179; ++i) {
    client->Send("\r\n");
    Pass(seconds(1), *client);
  }
  EXPECT_FALSE(client->tcp->closed);
  client->Send("\r\n");
  Pass(seconds(1), *client);
  EXPECT_TRUE(client->tcp->closed);
}

TEST_F(ConnectionTest, ARequestBeingServedHasNoDeadlineHere) {
  answer_ = [](const Responder&) {};
  auto client = Connect();
  client->Send(kGet);
  Pass(seconds(1000), *client);
  EXPECT_FALSE(client->tcp->closed);
}

TEST_F(ConnectionTest, BodiesBeingReceivedShareABudget) {
  auto first = Connect(), second = Connect();
  first->Send(Post(10'000) + std::string(9'000, 'a'));
  second->Send(Post(10'000) + std::string(5'000, 'a'));
  const std::size_t head = Post(10'000).size();
  EXPECT_EQ(state_.received.used(), 2 * head + 14'000);
  second->Send(std::string(1'001, 'a'));
  EXPECT_TRUE(second->answers().starts_with("HTTP/1.1 429 Too Many Requests")) << second->answers();
  EXPECT_NE(second->answers().find("\r\nRetry-After: 1\r\n"), std::string::npos);
  EXPECT_TRUE(second->tcp->shut_down);
  EXPECT_EQ(state_.received.used(), head + 9'000);
  first->tcp->forceClose();
  EXPECT_EQ(state_.received.used(), 0U);
}

TEST_F(ConnectionTest, ABodyIsCountedUntilItHasAnAnswer) {
  Responder held;
  answer_ = [&](const Responder& respond) { held = respond; };
  auto client = Connect();
  const std::string text = Post(4'000) + std::string(4'000, 'a');
  client->Send(text);
  EXPECT_EQ(state_.received.used(), text.size());
  client->tcp->forceClose();
  EXPECT_EQ(state_.received.used(), text.size()) << "the handler still owns it";
  held(Response{});
  EXPECT_EQ(state_.received.used(), 0U);
  EXPECT_EQ(state_.requests->count(), 0);
}

class ConnectionWorkerTest : public ConnectionTest {
 protected:
  static HttpOptions Options() {
    HttpOptions options = SmallOptions();
    options.loop_body_bytes_max = 500;
    return options;
  }
  ConnectionWorkerTest() : ConnectionTest(Options()) {}

  // Whether a worker served a request with such a query and body.
  bool IsServedByAWorker(std::size_t query, std::size_t body) {
    std::promise<std::thread::id> served;
    answer_ = [&](const Responder& respond) {
      respond(Response{});
      served.set_value(std::this_thread::get_id());
    };
    auto client = Connect();
    client->Send("POST /?a=" + std::string(query, 'q') + " HTTP/1.1\r\nHost: x\r\nContent-Length: " +
                 std::to_string(body) + "\r\n\r\n" + std::string(body, 'b'));
    std::thread::id thread = served.get_future().get();
    while (state_.requests->count() > 0) RunLoop();
    EXPECT_EQ(requests_.back().query.at(0).second.size(), query);
    EXPECT_EQ(requests_.back().body.size(), body);
    EXPECT_TRUE(client->answers().starts_with("HTTP/1.1 200")) << client->answers();
    return thread != std::this_thread::get_id();
  }
};

TEST_F(ConnectionWorkerTest, LargeBodiesAndQueriesAreServedByAWorker) {
  EXPECT_FALSE(IsServedByAWorker(200, 200));
  EXPECT_TRUE(IsServedByAWorker(0, 600));
  EXPECT_TRUE(IsServedByAWorker(600, 0));
}

TEST(HttpOptions, BodiesAbove256KiBAreServedByAWorker) {
  EXPECT_EQ(HttpOptions().loop_body_bytes_max, 256U * 1024);
}

TEST_F(ConnectionTest, BodiesTooLargeAreRefusedFromTheirLength) {
  auto client = Connect();
  client->Send(Post(10'001));
  EXPECT_TRUE(client->answers().starts_with("HTTP/1.1 413")) << client->answers();
  EXPECT_NE(client->answers().find("Cache-Control: no-cache, private\r\n"), std::string::npos);
  client->Send(std::string(100'000, 'a'));
  EXPECT_EQ(state_.received.used(), 0U);
  EXPECT_TRUE(requests_.empty());
}

TEST_F(ConnectionTest, AServerThatIsStoppingRefusesAndForbidsCaching) {
  state_.requests->Close();
  auto client = Connect();
  client->Send(kGet);
  EXPECT_TRUE(client->answers().starts_with("HTTP/1.1 503")) << client->answers();
  EXPECT_NE(client->answers().find("Cache-Control: no-cache, private\r\n"), std::string::npos);
}

TEST_F(ConnectionTest, AnExceptionIsAnInternalErrorAndTheConnectionGoesOn) {
  answer_ = [](const Responder&) { throw std::runtime_error("a bug"); };
  auto client = Connect();
  client->Send(kGet);
  EXPECT_TRUE(client->answers().starts_with("HTTP/1.1 500")) << client->answers();
  EXPECT_NE(client->answers().find(R"("reason":"InternalError")"), std::string::npos) << client->answers();
  EXPECT_EQ(state_.requests->count(), 0);
  answer_ = nullptr;
  client->Send(kGet);
  EXPECT_NE(client->answers().find("answer 2"), std::string::npos) << client->answers();
}

TEST_F(ConnectionTest, AnExceptionAfterTheAnswerChangesNothing) {
  answer_ = [](const Responder& respond) {
    respond(Response{});
    throw std::runtime_error("a bug");
  };
  auto client = Connect();
  client->Send(kGet);
  EXPECT_TRUE(client->answers().starts_with("HTTP/1.1 200")) << client->answers();
  EXPECT_EQ(client->answers().find("500"), std::string::npos) << client->answers();
  EXPECT_EQ(state_.requests->count(), 0);
}

TEST_F(ConnectionTest, HeadsTooLargeAreRefused) {
  for (std::size_t step : {2000U, 100U}) {
    auto client = Connect();
    std::string text = "GET / HTTP/1.1\r\nHost: x\r\nName: " + std::string(1000, 'a') + "\r\n\r\n";
    client->SendInSteps(text, step);
    EXPECT_TRUE(client->answers().starts_with("HTTP/1.1 431")) << client->answers();
  }
}

TEST_F(ConnectionTest, AnAnswerThatIsNotReadIsClosedAfterThirtySeconds) {
  answer_ = [](const Responder& respond) {
    Response response;
    response.body = std::string(900'000, 'a');
    respond(std::move(response));
  };
  auto client = Connect();
  client->tcp->room = 1000;
  client->Send(kGet);
  EXPECT_EQ(state_.unsent.used(), 900'000U);
  EXPECT_LT(client->tcp->unsent_bytes(), 300'000U);  // trantor has a copy of one piece
  Pass(seconds(29), *client);
  client->tcp->MakeRoom(1000);
  Pass(seconds(29), *client);
  EXPECT_FALSE(client->tcp->closed);  // it made progress
  Pass(seconds(2), *client);
  EXPECT_TRUE(client->tcp->closed);
  EXPECT_EQ(state_.unsent.used(), 0U);
  EXPECT_EQ(state_.sending.load(), 0);
}

TEST_F(ConnectionTest, AnAnswerThatIsReadSlowlyArrivesWhole) {
  answer_ = [](const Responder& respond) {
    Response response;
    response.body = std::string(900'000, '*');
    respond(std::move(response));
  };
  auto client = Connect();
  client->tcp->room = 1000;
  client->Send(std::string(kGet) + std::string(kGet));
  for (int i = 0; i < 200; ++i) {
    client->tcp->MakeRoom(10'000);
    RunLoop();
  }
  EXPECT_EQ(Count(client->answers(), "HTTP/1.1 200 OK"), 2U);
  EXPECT_EQ(std::count(client->answers().begin(), client->answers().end(), '*'), 1'800'000);
  EXPECT_EQ(state_.unsent.used(), 0U);
  EXPECT_EQ(state_.sending.load(), 0);
}

TEST_F(ConnectionTest, AnswersThatWaitShareABudget) {
  answer_ = [](const Responder& respond) {
    Response response;
    response.body = std::string(600'000, 'a');
    respond(std::move(response));
  };
  auto first = Connect(), second = Connect();
  first->tcp->room = 0;
  first->Send(kGet);
  second->Send(kGet);
  EXPECT_TRUE(second->answers().starts_with("HTTP/1.1 429")) << second->answers();
  EXPECT_FALSE(second->tcp->shut_down);
  first->tcp->forceClose();
  second->tcp->sent.clear();
  second->Send(kGet);
  EXPECT_TRUE(second->answers().starts_with("HTTP/1.1 200")) << second->answers();
}

TEST_F(ConnectionTest, ACompletedWriteWhoseAnswerExceedsTheBudgetIsNotToBeRepeated) {
  answer_ = [](const Responder& respond) {
    Response response;
    response.code = 201;
    response.body = std::string(600'000, 'a');
    respond(std::move(response));
  };
  auto first = Connect(), second = Connect();
  first->tcp->room = 0;
  first->Send(kGet);
  second->Send(Post(1) + "x");
  EXPECT_TRUE(second->answers().starts_with("HTTP/1.1 500")) << second->answers();
  EXPECT_EQ(second->answers().find("Retry-After"), std::string::npos);
}

class ConnectionTokenTest : public ConnectionTest {
 protected:
  static HttpOptions Options() {
    HttpOptions options = SmallOptions();
    options.authenticate = [](const std::string& token) {
      return token == "good" ? std::optional<UserInfo>(UserInfo{}) : std::nullopt;
    };
    return options;
  }
  ConnectionTokenTest() : ConnectionTest(Options()) {}
};

TEST_F(ConnectionTokenTest, NothingOfABodyIsKeptForAClientWithoutToken) {
  auto client = Connect();
  client->Send(Post(10'000));
  EXPECT_TRUE(client->answers().starts_with("HTTP/1.1 401 Unauthorized")) << client->answers();
  EXPECT_NE(client->answers().find("Cache-Control: no-cache, private\r\n"), std::string::npos);
  EXPECT_TRUE(client->tcp->shut_down);
  client->Send(std::string(10'000, 'a'));
  EXPECT_EQ(state_.received.used(), 0U);
}

TEST_F(ConnectionTokenTest, AClientWithoutTokenAndBodyMayAskAgain) {
  auto client = Connect();
  client->Send(kGet);
  EXPECT_TRUE(client->answers().starts_with("HTTP/1.1 401 Unauthorized"));
  EXPECT_FALSE(client->tcp->shut_down);
  EXPECT_EQ(state_.received.used(), 0U);
  client->Send("GET /a HTTP/1.1\r\nHost: x\r\nAuthorization: bearer good\r\n\r\n");
  EXPECT_EQ(requests_.size(), 1U);
}

}  // namespace
}  // namespace terrarium::apiserver

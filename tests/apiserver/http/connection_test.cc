// One connection on a clock that the test advances, with a client that reads when the test lets it.

#include "apiserver/http/connection.h"

#include <algorithm>
#include <future>
#include <stdexcept>
#include <thread>

#include <gtest/gtest.h>

#include "tests/apiserver/http/event_loop.h"
#include "tests/apiserver/http/fake_tcp.h"

namespace terrarium::apiserver {
namespace {

using std::chrono::seconds;

SteadyTime g_now{};

constexpr std::string_view kGet = "GET /a HTTP/1.1\r\nHost: x\r\n\r\n";

std::string Post(std::size_t length) {
  return "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: " + std::to_string(length) + "\r\n\r\n";
}

// A stream that never ends.
class EndlessStream : public ResponseStream {
 public:
  State Read(std::size_t max_bytes, std::string& out) override {
    out.append(max_bytes, 'x');
    return State::kOpen;
  }
  void SetWake(std::function<void()>) override {}
};

HttpOptions SmallOptions() {
  HttpOptions options;
  options.head_bytes_max = 1000;
  options.body_bytes_max = 10'000;
  options.received_bytes_max = 15'000;
  options.unsent_bytes_max = 1'000'000;
  options.loop_body_bytes_max = 5'000;
  return options;
}

class ConnectionTest : public testing::Test {
 protected:
  struct Client {
    std::shared_ptr<FakeTcp> tcp;
    std::shared_ptr<Connection> connection;
    std::optional<SteadyTime> timer;

    void Send(std::string_view text) { connection->OnData(text); }
    void SendInSteps(std::string_view text, std::size_t step) {
      for (std::size_t at = 0; at < text.size(); at += step) Send(text.substr(at, step));
    }
    const std::string& answers() const { return tcp->sent; }
  };

  explicit ConnectionTest(HttpOptions options = SmallOptions())
      : state_(
            std::move(options),
            [this](Request request, const RequestScopePtr& scope) { Serve(request, scope->AsResponder()); },
            [] { return g_now; }) {}

  std::unique_ptr<Client> Connect() {
    auto client = std::make_unique<Client>();
    client->tcp = std::make_shared<FakeTcp>(&loop_);
    client->connection = std::make_shared<Connection>(
        state_, *client->tcp, [raw = client.get()](SteadyTime due) { raw->timer = due; });
    client->tcp->on_close = [raw = client.get()] { raw->connection->OnClosed(); };
    client->connection->OnOpened();
    return client;
  }

  virtual void Serve(const Request& request, const Responder& respond) {
    requests_.push_back(request);
    if (answer_) return answer_(respond);
    Response response;
    response.body = "answer " + std::to_string(requests_.size());
    respond(std::move(response));
  }

  // Runs the queued work of the loop, including work that it queues.
  void RunLoop() {
    for (int i = 0; i < 3; ++i) {
      loop_.queueInLoop([this] { loop_.quit(); });
      loop_.loop();
    }
  }

  // Advances the clock by `time`, in steps small enough for every timer to fire when it is due.
  void Pass(seconds time, Client& client) {
    for (int i = 0; i < time.count(); ++i) {
      g_now += seconds(1);
      if (!client.timer || *client.timer > g_now || client.tcp->closed) continue;
      client.timer.reset();
      client.connection->OnTimer();
      RunLoop();
    }
  }

  trantor::EventLoop& loop_ = Loop();
  std::vector<Request> requests_;
  std::function<void(const Responder&)> answer_;
  ServerState state_;
};

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

class ConnectionStreamTest : public ConnectionTest {
 protected:
  ConnectionStreamTest() {
    answer_ = [](const Responder& respond) {
      Response response;
      response.stream = std::make_unique<EndlessStream>();
      respond(std::move(response));
    };
  }
};

TEST_F(ConnectionStreamTest, AWatcherThatDoesNotReadHoldsOnePieceAndIsClosed) {
  auto client = Connect();
  client->tcp->room = 200'000;
  client->Send(kGet);
  for (int i = 0; i < 20; ++i) RunLoop();
  EXPECT_EQ(client->answers().size(), 200'000U);
  EXPECT_LT(client->tcp->unsent_bytes(), 70'000U);
  EXPECT_LT(state_.unsent.used(), 70'000U);
  EXPECT_EQ(state_.streams.load(), 1);
  Pass(seconds(29), *client);
  EXPECT_FALSE(client->tcp->closed);
  Pass(seconds(1), *client);
  EXPECT_TRUE(client->tcp->closed);
  EXPECT_EQ(state_.unsent.used(), 0U);
  EXPECT_EQ(state_.streams.load(), 0);
}

TEST_F(ConnectionStreamTest, AWatcherIsClosedThirtySecondsAfterItsLastProgress) {
  auto client = Connect();
  client->tcp->room = 1000;
  client->Send(kGet);
  RunLoop();
  Pass(seconds(1), *client);
  client->tcp->MakeRoom(1000);
  Pass(seconds(29), *client);
  EXPECT_FALSE(client->tcp->closed);
  Pass(seconds(5), *client);  // the checks are as far apart
  EXPECT_TRUE(client->tcp->closed);
}

TEST_F(ConnectionStreamTest, AWatcherThatReadsAByteNowAndThenIsClosed) {
  auto client = Connect();
  client->tcp->room = 1000;
  client->Send(kGet);
  RunLoop();
  for (int i = 0; i < 59; ++i) {
    Pass(seconds(1), *client);
    client->tcp->MakeRoom(1);
  }
  EXPECT_FALSE(client->tcp->closed);
  Pass(seconds(1), *client);
  EXPECT_TRUE(client->tcp->closed);
  EXPECT_EQ(state_.unsent.used(), 0U);
  EXPECT_EQ(state_.streams.load(), 0);
}

TEST_F(ConnectionStreamTest, AWatcherThatReadsOnePieceAMinuteIsKept) {
  auto client = Connect();
  client->tcp->room = 1000;
  client->Send(kGet);
  RunLoop();
  for (int i = 0; i < 200; ++i) {
    Pass(seconds(1), *client);
    client->tcp->MakeRoom(2'000);
    RunLoop();
  }
  EXPECT_FALSE(client->tcp->closed);
}

TEST_F(ConnectionStreamTest, AWatcherThatReadsAgainIsSentMore) {
  auto client = Connect();
  client->tcp->room = 1000;
  client->Send(kGet);
  RunLoop();
  Pass(seconds(20), *client);
  client->tcp->MakeRoom(500'000);
  for (int i = 0; i < 20; ++i) RunLoop();
  EXPECT_EQ(client->answers().size(), 501'000U);
  Pass(seconds(29), *client);
  EXPECT_FALSE(client->tcp->closed);
}

TEST_F(ConnectionStreamTest, AWatcherIsClosedWhenTheBudgetIsUsedUp) {
  std::vector<std::unique_ptr<Client>> clients;
  for (int i = 0; i < 17; ++i) {
    clients.push_back(Connect());
    clients.back()->tcp->room = 500;
    clients.back()->Send(kGet);
    RunLoop();
  }
  EXPECT_LE(state_.unsent.used(), 1'000'000U);
  EXPECT_FALSE(clients.front()->tcp->closed);
  EXPECT_TRUE(clients.back()->tcp->closed);
}

TEST_F(ConnectionStreamTest, OldClientsGetABodyUntilTheConnectionCloses) {
  auto client = Connect();
  client->tcp->room = 1000;
  client->Send("GET / HTTP/1.0\r\n\r\n");
  RunLoop();
  EXPECT_TRUE(client->answers().starts_with("HTTP/1.0 200 OK\r\n"));
  EXPECT_EQ(client->answers().find("chunked"), std::string::npos);
  EXPECT_NE(client->answers().find("\r\n\r\nxxxx"), std::string::npos);
}

TEST_F(ConnectionStreamTest, AStreamGoesOnForAClientThatWillClose) {
  auto client = Connect();
  client->tcp->room = 1000;
  client->Send("GET / HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n");
  RunLoop();
  EXPECT_NE(client->answers().find("Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n10000\r\nxxxx"),
            std::string::npos);
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

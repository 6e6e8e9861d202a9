// Streams on one connection: what a watcher that reads slowly or not at all may hold, and for how long.

#include <memory>
#include <vector>

#include "tests/apiserver/http/connection_fixture.h"

namespace terrarium::apiserver {
namespace {

// A stream that never ends.
class EndlessStream : public ResponseStream {
 public:
  State Read(std::size_t max_bytes, std::string& out) override {
    out.append(max_bytes, 'x');
    return State::kOpen;
  }
  void SetWake(std::function<void()>) override {}
};

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

}  // namespace
}  // namespace terrarium::apiserver

// A watch over a websocket on one connection: its frames, its end, and what its client may send and hold.

#include <memory>
#include <string>
#include <utility>

#include "tests/apiserver/http/connection_fixture.h"
#include "tests/apiserver/http/websocket_frames.h"

namespace terrarium::apiserver {
namespace {

using State = ResponseStream::State;

constexpr std::string_view kUpgrade =
    "GET /a HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nOrigin: http://x\r\n"
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";
constexpr std::string_view kAccepted =
    "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
    "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";

// What the test controls of a stream and sees of it.
struct Source {
  std::string text;  // not read yet
  State state = State::kOpen;
  bool endless = false;
  std::function<void()> wake;
  bool alive = true;
};

class SourceStream : public ResponseStream {
 public:
  explicit SourceStream(std::shared_ptr<Source> source) : source_(std::move(source)) {}
  ~SourceStream() override { source_->alive = false; }
  State Read(std::size_t max_bytes, std::string& out) override {
    if (source_->endless) out += std::string(max_bytes, 'x') + "\n";
    out += std::exchange(source_->text, "");
    return source_->state;
  }
  void SetWake(std::function<void()> wake) override { source_->wake = std::move(wake); }

 private:
  std::shared_ptr<Source> source_;
};

class ConnectionWebsocketTest : public ConnectionTest {
 protected:
  ConnectionWebsocketTest() {
    answer_ = [this](const Responder& respond) {
      Response response;
      response.stream = std::make_unique<SourceStream>(source_);
      response.content_type = content_type_;
      respond(std::move(response));
    };
  }

  std::unique_ptr<Client> Open() {
    auto client = Connect();
    client->Send(kUpgrade);
    RunLoop();
    EXPECT_EQ(client->answers(), kAccepted);
    client->tcp->sent.clear();
    return client;
  }
  void Emit(std::string_view text, State state = State::kOpen) {
    source_->text += text;
    source_->state = state;
    source_->wake();
    RunLoop();
  }
  void ExpectEnded(const Client& client) {
    EXPECT_TRUE(client.tcp->shut_down);
    EXPECT_FALSE(source_->alive);
    EXPECT_EQ(state_.streams.load(), 0);
    EXPECT_EQ(state_.unsent.used(), 0U);
  }

  std::shared_ptr<Source> source_ = std::make_shared<Source>();
  std::string content_type_ = "application/json";
};

TEST_F(ConnectionWebsocketTest, EachEventIsAFrame) {
  auto client = Open();
  EXPECT_EQ(state_.streams.load(), 1);
  Emit("{}\n[]\n");
  EXPECT_EQ(client->answers(), "\x81\x03{}\n\x81\x03[]\n");
  Emit("1\n");
  EXPECT_TRUE(
      client->answers().ends_with("\x81\x02"
                                  "1\n"));
}

TEST_F(ConnectionWebsocketTest, AnEventInProtobufIsABinaryFrame) {
  content_type_ = "application/vnd.kubernetes.protobuf;stream=watch";
  auto client = Open();
  Emit(std::string("\0\0\0\x03k\n\0", 7));
  EXPECT_EQ(client->answers(), std::string("\x82\x03k\n\0", 5));
}

TEST_F(ConnectionWebsocketTest, TheEndOfTheStreamIsAClose) {
  auto client = Open();
  Emit("{}\n", State::kEnd);
  EXPECT_EQ(client->answers(), "\x81\x03{}\n" + std::string(kCloseNormal));
  ExpectEnded(*client);
  client->Send(ClientFrame(0x88, "\x03\xe8"));
  client->Send(kGet);
  EXPECT_EQ(requests_.size(), 1U);
  Pass(seconds(5), *client);
  EXPECT_TRUE(client->tcp->closed);
}

TEST_F(ConnectionWebsocketTest, ACrashClosesWithoutAFrame) {
  auto client = Open();
  Emit("", State::kCut);
  EXPECT_EQ(client->answers(), "");
  EXPECT_TRUE(client->tcp->closed);
  EXPECT_EQ(state_.streams.load(), 0);
}

TEST_F(ConnectionWebsocketTest, PingsAreAnswered) {
  auto client = Open();
  client->SendInSteps(ClientFrame(0x89, "hello"), 4);
  RunLoop();
  EXPECT_EQ(client->answers(), "\x8a\x05hello");
  Emit("{}\n");
  EXPECT_TRUE(client->answers().ends_with("\x81\x03{}\n"));
}

TEST_F(ConnectionWebsocketTest, ACloseIsAnsweredAndEndsTheWatch) {
  auto client = Open();
  client->Send(ClientFrame(0x81, "ignored") + ClientFrame(0x88, "\x03\xe9"));
  RunLoop();
  EXPECT_EQ(client->answers(), kCloseNormal);
  ExpectEnded(*client);
}

TEST_F(ConnectionWebsocketTest, AnInvalidFrameEndsTheWatch) {
  auto client = Open();
  client->Send("\x81\x01x");
  RunLoop();
  EXPECT_EQ(client->answers(), kCloseProtocolError);
  ExpectEnded(*client);
}

TEST_F(ConnectionWebsocketTest, FramesMayFollowTheRequestImmediately) {
  auto client = Connect();
  client->Send(std::string(kUpgrade) + ClientFrame(0x89, "early"));
  RunLoop();
  EXPECT_EQ(client->answers(), std::string(kAccepted) +
                                   "\x8a\x05"
                                   "early");
}

TEST_F(ConnectionWebsocketTest, FramesThatArriveBeforeTheResponseAreRead) {
  Responder later;
  answer_ = [&later](const Responder& respond) { later = respond; };
  auto client = Connect();
  client->Send(kUpgrade);
  client->Send(ClientFrame(0x89, "early"));
  EXPECT_GT(state_.received.used(), 0U);
  Response response;
  response.stream = std::make_unique<SourceStream>(source_);
  later(std::move(response));
  later = nullptr;
  RunLoop();
  EXPECT_EQ(client->answers(), std::string(kAccepted) +
                                   "\x8a\x05"
                                   "early");
  EXPECT_EQ(state_.received.used(), 0U);
}

TEST_F(ConnectionWebsocketTest, WhatTheClientSendsIsNotKept) {
  auto client = Open();
  client->tcp->room = 0;
  Emit("{}\n");
  for (int i = 0; i < 1000; ++i) {
    client->Send(ClientFrame(0x81, std::string(10'000, 'x')));
    client->Send(ClientFrame(0x89, "ping " + std::to_string(i)));
  }
  EXPECT_EQ(state_.received.used(), 0U);
  EXPECT_LT(client->tcp->unsent_bytes(), 100U);
  client->tcp->MakeRoom(10'000);
  RunLoop();
  EXPECT_EQ(client->answers(), "\x81\x03{}\n\x8a\x08ping 999");
  EXPECT_FALSE(client->tcp->closed);
}

TEST_F(ConnectionWebsocketTest, AWatcherThatDoesNotReadHoldsOnePieceAndIsClosed) {
  source_->endless = true;
  auto client = Connect();
  client->tcp->room = 200'000;
  client->Send(kUpgrade);
  for (int i = 0; i < 20; ++i) RunLoop();
  EXPECT_EQ(client->answers().size(), 200'000U);
  EXPECT_LT(client->tcp->unsent_bytes(), 70'000U);
  EXPECT_LT(state_.unsent.used(), 70'000U);
  for (int i = 0; i < 29; ++i) {
    Pass(seconds(1), *client);
    client->Send(ClientFrame(0x89, "still here"));  // is not reading
  }
  EXPECT_FALSE(client->tcp->closed);
  Pass(seconds(1), *client);
  EXPECT_TRUE(client->tcp->closed);
  EXPECT_FALSE(source_->alive);
  EXPECT_EQ(state_.unsent.used(), 0U);
  EXPECT_EQ(state_.streams.load(), 0);
}

TEST_F(ConnectionWebsocketTest, ACloseOfASlowWatcherFreesTheWatchAndIsAnsweredLater) {
  auto client = Open();
  client->tcp->room = 1;
  Emit("{}\n");
  client->Send(ClientFrame(0x88, ""));
  EXPECT_FALSE(source_->alive);
  EXPECT_FALSE(client->tcp->shut_down);
  client->tcp->MakeRoom(100);
  RunLoop();
  EXPECT_EQ(client->answers(), "\x81\x03{}\n" + std::string(kCloseNormal));
  ExpectEnded(*client);
}

TEST_F(ConnectionWebsocketTest, AWatcherIsClosedWhenTheBudgetIsUsedUp) {
  BudgetShare rest(state_.unsent);
  auto client = Open();
  ASSERT_TRUE(rest.Resize(1'000'000));
  Emit("{}\n");
  EXPECT_TRUE(client->tcp->closed);
  EXPECT_FALSE(source_->alive);
}

TEST_F(ConnectionWebsocketTest, ARefusedHandshakeEndsTheConnection) {
  auto client = Connect();
  std::string text(kUpgrade);
  text.replace(text.find("13\r\n"), 2, "12");
  client->Send(text);
  RunLoop();
  EXPECT_TRUE(client->answers().starts_with("HTTP/1.1 400 Bad Request\r\n")) << client->answers();
  EXPECT_NE(client->answers().find("Connection: close\r\nSec-WebSocket-Version: 13\r\n\r\nmissing"),
            std::string::npos)
      << client->answers();
  ExpectEnded(*client);
}

TEST_F(ConnectionWebsocketTest, ALogIsAnOrdinaryResponse) {
  content_type_ = "text/plain";
  auto client = Connect();
  client->Send(kUpgrade);
  RunLoop();
  EXPECT_TRUE(client->answers().starts_with("HTTP/1.1 200 OK\r\n")) << client->answers();
  Emit("log", State::kEnd);
  EXPECT_TRUE(client->answers().ends_with("\r\n\r\n3\r\nlog\r\n0\r\n\r\n")) << client->answers();
  source_ = std::make_shared<Source>();
  client->Send(kGet);
  EXPECT_EQ(requests_.size(), 2U);
}

TEST_F(ConnectionWebsocketTest, AResponseWithoutAStreamIsAnOrdinaryOne) {
  answer_ = nullptr;
  auto client = Connect();
  client->Send(kUpgrade);
  client->Send(kGet);
  RunLoop();
  EXPECT_TRUE(client->answers().starts_with("HTTP/1.1 200 OK\r\n")) << client->answers();
  EXPECT_TRUE(client->answers().ends_with("answer 2")) << client->answers();
}

}  // namespace
}  // namespace terrarium::apiserver

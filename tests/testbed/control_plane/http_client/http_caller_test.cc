#include "testbed/control_plane/http_client/http_caller.h"

#include <atomic>
#include <thread>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/testbed/control_plane/http_client/fake_resolver.h"
#include "tests/testbed/control_plane/http_client/http_calls.h"
#include "tests/testbed/control_plane/http_client/misbehaving_server.h"

namespace terrarium::testbed {
namespace {

using namespace std::chrono_literals;
using testing::EndsWith;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;
using Connection = MisbehavingServer::Connection;

constexpr const char* kGood =
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
constexpr std::chrono::milliseconds kLimit = 3s;
constexpr std::size_t kMiB = 1024 * 1024;

class HttpCallerTest : public testing::Test {
 protected:
  api::HttpAnswer AskFor(MisbehavingServer::Script script,
                         std::chrono::milliseconds timeout = kLongerThanAnyCall) {
    MisbehavingServer server(std::move(script));
    return Ask(*caller, CallTo(server.port(), timeout));
  }
  api::HttpAnswer AskFor(const std::string& text) { return AskFor(AnswerWith(text)); }
  // Checks that a call ended by its time limit took that long, and not much longer.
  void ExpectTimedOut(const api::HttpAnswer& answer, const std::string& doing) {
    EXPECT_EQ(answer.outcome, Outcome::kTimedOut) << answer.error;
    EXPECT_EQ(answer.error, "after 3s " + doing);
    EXPECT_GE(answer.took, kLimit);
    EXPECT_LT(answer.took, kLongerThanAnyCall);
  }

  std::unique_ptr<api::HttpCaller> caller = MakeCaller({});
};

TEST_F(HttpCallerTest, AnAnswerIsGivenAsItCame) {
  MisbehavingServer server(AnswerWith(kGood));
  api::HttpCall call = CallTo(server.port());
  call.headers = {{"Authorization", "Bearer x"}};
  call.body = R"({"number_of_pods_requested": 1})";
  api::HttpAnswer answer = Ask(*caller, call);
  EXPECT_EQ(answer.outcome, Outcome::kAnswered);
  EXPECT_EQ(answer.status, 200);
  EXPECT_EQ(answer.content_type, "application/json");
  EXPECT_EQ(answer.body, "{}");
  EXPECT_EQ(answer.error, "");
  EXPECT_GT(answer.took, 0s);
  ASSERT_THAT(server.requests(), SizeIs(1));
  EXPECT_THAT(server.requests()[0],
              StartsWith("POST /pick HTTP/1.1\r\nHost: 127.0.0.1:" + server.port() + "\r\n"));
  EXPECT_THAT(server.requests()[0], HasSubstr("\r\nAuthorization: Bearer x\r\n"));
  EXPECT_THAT(server.requests()[0], EndsWith("\r\n\r\n{\"number_of_pods_requested\": 1}"));
}

TEST_F(HttpCallerTest, EveryStatusIsAnAnswer) {
  EXPECT_EQ(AskFor("HTTP/1.1 204 No Content\r\n\r\n").status, 204);
  EXPECT_EQ(AskFor("HTTP/1.1 503 Busy\r\nContent-Length: 4\r\n\r\nbusy").body, "busy");
  std::string redirect =
      "HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1/other\r\nContent-Length: 0\r\n\r\n";
  MisbehavingServer server(AnswerWith(redirect));
  api::HttpAnswer answer = Ask(*caller, CallTo(server.port()));
  EXPECT_EQ(answer.outcome, Outcome::kAnswered);
  EXPECT_EQ(answer.status, 302);
  EXPECT_THAT(server.requests(), SizeIs(1));
}

TEST_F(HttpCallerTest, AServerThatKeepsTheConnectionIsNotWaitedFor) {
  std::atomic<bool> closed = false;
  {
    MisbehavingServer server([&](Connection& connection) {
      connection.ReadRequest();
      connection.Send(kGood);
      closed = connection.WaitForClose();
    });
    EXPECT_EQ(Ask(*caller, CallTo(server.port())).body, "{}");
    // The server ends only when its scripts have ended, so it sees that the connection is closed.
    while (!closed) std::this_thread::yield();
  }
}

TEST_F(HttpCallerTest, ABodyThatEndsWithTheConnection) {
  EXPECT_EQ(AskFor("HTTP/1.0 200 OK\r\n\r\n{\"a\": 1}").body, "{\"a\": 1}");
}

TEST_F(HttpCallerTest, AnswersInSinglePiecesAndChunks) {
  api::HttpAnswer answer = AskFor([](Connection& connection) {
    connection.ReadRequest();
    for (char c : std::string("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n"))
      connection.Send({&c, 1});
  });
  EXPECT_EQ(answer.body, "{}");
}

TEST_F(HttpCallerTest, AnAnswerBeforeTheWholeRequestWasReadCounts) {
  MisbehavingServer server([](Connection& connection) {
    connection.Send("HTTP/1.1 413 Too Much\r\nContent-Length: 0\r\n\r\n");
    connection.WaitForClose();
  });
  api::HttpCall call = CallTo(server.port());
  call.body = std::string(32 * kMiB, ' ');
  EXPECT_EQ(Ask(*caller, call).status, 413);
}

TEST_F(HttpCallerTest, AServerThatAnswersWithoutReadingIsAnswered) {
  for (const char* text : {kGood, "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n",
                           "HTTP/1.1 503 Busy\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"}) {
    MisbehavingServer server([text](Connection& connection) {
      connection.Send(text);
      connection.Drip("");  // reads nothing
    });
    api::HttpCall call = CallTo(server.port());
    call.body = std::string(32 * kMiB, ' ');
    api::HttpAnswer answer = Ask(*caller, call);
    EXPECT_EQ(answer.outcome, Outcome::kAnswered) << answer.error;
  }
}

TEST_F(HttpCallerTest, ConnectionRefused) {
  ClosedPort closed;
  api::HttpAnswer answer = Ask(*caller, CallTo(closed.port()));
  EXPECT_EQ(answer.outcome, Outcome::kRefused);
  EXPECT_EQ(answer.error, "cannot connect to 127.0.0.1:" + closed.port() + ": Connection refused");
}

TEST_F(HttpCallerTest, TheConnectionBreaksOff) {
  api::HttpAnswer answer = AskFor([](Connection& connection) { connection.ReadRequest(); });
  EXPECT_EQ(answer.outcome, Outcome::kRefused);
  EXPECT_EQ(answer.error, "the connection was closed without an answer");
  answer = AskFor("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{\"chosen_pods\"");
  EXPECT_EQ(answer.outcome, Outcome::kRefused);
  EXPECT_EQ(answer.error, "the connection broke off in the middle of the answer");
  EXPECT_EQ(answer.body, "");
  // Without a length only an orderly close ends the body.
  answer = AskFor([](Connection& connection) {
    connection.ReadRequest();
    connection.Send("HTTP/1.1 200 OK\r\n\r\n{\"chosen_pods\"");
    connection.Reset();
  });
  EXPECT_EQ(answer.outcome, Outcome::kRefused);
  EXPECT_EQ(answer.error, "the connection broke off: Connection reset by peer");
}

TEST_F(HttpCallerTest, OtherProtocolsAreMalformed) {
  api::HttpAnswer answer = AskFor("SSH-2.0-OpenSSH_9.2p1\r\n");
  EXPECT_EQ(answer.outcome, Outcome::kMalformed);
  EXPECT_EQ(answer.error, "the answer is not HTTP: its first line is not an HTTP/1.1 status line");
  EXPECT_EQ(AskFor("HTTP/1.1 200 OK\r\nno colon\r\n\r\n").outcome, Outcome::kMalformed);
  EXPECT_EQ(AskFor("HTTP/1.1 200 OK\r\nContent-Length: many\r\n\r\n").outcome, Outcome::kMalformed);
  EXPECT_EQ(AskFor("HTTP/1.1 200 OK\r\n" + std::string(100'000, 'h') + ": x\r\n\r\n").outcome,
            Outcome::kMalformed);
}

TEST_F(HttpCallerTest, AHeaderThatCannotBeSentIsNotSent) {
  MisbehavingServer server(AnswerWith(kGood));
  api::HttpCall call = CallTo(server.port());
  call.headers = {{"Authorization", "secret\n"}};
  api::HttpAnswer answer = Ask(*caller, call);
  EXPECT_EQ(answer.outcome, Outcome::kMalformed);
  EXPECT_THAT(answer.error, HasSubstr("Authorization"));
  EXPECT_THAT(answer.error, testing::Not(HasSubstr("secret")));
  EXPECT_THAT(server.requests(), SizeIs(0));
}

// Reading stops at the limit: the server would send forever and finds the connection closed.
TEST_F(HttpCallerTest, ABodyAboveTheLimitIsNotRead) {
  for (std::string head : {"Content-Length: 1048577\r\n\r\n", "Content-Length: 999999999999\r\n\r\n",
                           "Transfer-Encoding: chunked\r\n\r\n", "\r\n"}) {
    std::atomic<std::size_t> sent = 0;
    std::atomic<bool> closed = false;
    api::HttpAnswer answer = AskFor([&](Connection& connection) {
      connection.ReadRequest();
      connection.Send("HTTP/1.1 200 OK\r\n" + head);
      std::string piece(0x8000, 'x');
      if (head.starts_with("T")) piece = "8000\r\n" + piece + "\r\n";
      while (connection.Send(piece)) sent += 0x8000;
      closed = true;
    });
    EXPECT_EQ(answer.outcome, Outcome::kTooLarge) << head;
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body, "");
    EXPECT_EQ(answer.error, "the answer's body is above 1048576 bytes");
    EXPECT_TRUE(closed);
    EXPECT_LT(sent, 100 * kMiB);  // what fits into the sockets' buffers
  }
}

TEST_F(HttpCallerTest, ABodyOfExactlyTheLimitIsRead) {
  EXPECT_EQ(AskFor("HTTP/1.1 200 OK\r\nContent-Length: 1048576\r\n\r\n" + std::string(kMiB, 'x')).body.size(),
            kMiB);
}

// All in parallel, since each takes its whole time, which is long enough for a busy machine.
TEST_F(HttpCallerTest, TheTimeLimitHoldsAtEveryStage) {
  FullPort full;
  MisbehavingServer silent([](Connection& connection) {
    connection.ReadRequest();
    connection.WaitForClose();
  });
  auto dripping = [](std::string head, std::string piece) {
    return [=](Connection& connection) {
      connection.ReadRequest();
      connection.Send("HTTP/1.1 200 OK\r\n" + head);
      connection.Drip(piece);
    };
  };
  MisbehavingServer headers(dripping("", "X-More: to come\r\n"));
  MisbehavingServer body(dripping("Content-Length: 1000000\r\n\r\n", "x"));
  MisbehavingServer endless_body(dripping("\r\n", "x"));
  MisbehavingServer chunks(dripping("Transfer-Encoding: chunked\r\n\r\n", "1\r\nx\r\n"));
  struct {
    api::HttpCall call;
    const char* doing;
  } cases[] = {{CallTo(full.port(), kLimit), "there was no connection yet"},
               {CallTo(silent.port(), kLimit), "there was no answer yet"},
               {CallTo(headers.port(), kLimit), "the answer was not complete"},
               {CallTo(body.port(), kLimit), "the answer was not complete"},
               {CallTo(endless_body.port(), kLimit), "the answer was not complete"},
               {CallTo(chunks.port(), kLimit), "the answer was not complete"}};
  std::vector<std::future<api::HttpAnswer>> answers;
  for (const auto& each : cases) answers.push_back(Begin(*caller, each.call));
  for (std::size_t i = 0; i < answers.size(); ++i) ExpectTimedOut(Wait(answers[i]), cases[i].doing);
}

TEST_F(HttpCallerTest, TheTimeLimitHoldsInTheRequest) {
  MisbehavingServer unread([](Connection& connection) { connection.Drip(""); });  // it reads nothing
  api::HttpCall large = CallTo(unread.port(), kLimit);
  large.body = std::string(16 * kMiB, ' ');  // more than the sockets' buffers take
  ExpectTimedOut(Ask(*caller, large), "the request had not been taken");
}

// A lookup cannot be cancelled. It continues by itself, and neither other calls nor the destructor wait for
// it.
TEST_F(HttpCallerTest, TheTimeLimitHoldsInNameResolution) {
  FakeResolver names;
  names.Hang("slow.test");
  MisbehavingServer server(AnswerWith(kGood));
  api::HttpCall call = CallTo("80", kLimit);
  call.host = "slow.test";
  auto hanging = Begin(*caller, call);
  EXPECT_EQ(Ask(*caller, CallTo(server.port())).body, "{}");
  ExpectTimedOut(Wait(hanging), "the name was still being looked up");
  EXPECT_EQ(Ask(*caller, CallTo(server.port())).body, "{}");
  call.timeout = kLongerThanAnyCall;
  hanging = Begin(*caller, call);
  while (names.asked().size() < 2) std::this_thread::yield();
  caller = nullptr;
  EXPECT_EQ(Wait(hanging).error, "the control plane is stopping");
}

TEST_F(HttpCallerTest, NamesAreResolvedAndTheirAddressesTriedInTurn) {
  FakeResolver names;
  names.Know("picker.test", {"127.0.0.9", "::1", "127.0.0.1"});
  MisbehavingServer server(AnswerWith(kGood));
  api::HttpCall call = CallTo(server.port());
  call.host = "picker.test";
  EXPECT_EQ(Ask(*caller, call).body, "{}");
  EXPECT_THAT(names.asked(), testing::ElementsAre("picker.test"));
  EXPECT_THAT(server.requests()[0], HasSubstr("\r\nHost: picker.test:" + server.port() + "\r\n"));
}

TEST_F(HttpCallerTest, ANameIsResolvedForEachCall) {
  FakeResolver names;
  MisbehavingServer here(AnswerWith(kGood)), there(AnswerWith(kGood), {.address = "127.0.0.2"});
  names.Know("picker.test", {"127.0.0.1"});
  api::HttpCall call = CallTo(here.port());
  call.host = "picker.test";
  EXPECT_EQ(Ask(*caller, call).body, "{}");
  names.Know("picker.test", {"127.0.0.2"});
  call.port = there.port();
  EXPECT_EQ(Ask(*caller, call).body, "{}");
  call.port = here.port();
  EXPECT_EQ(Ask(*caller, call).outcome, Outcome::kRefused);
  EXPECT_THAT(names.asked(), SizeIs(3));
}

TEST_F(HttpCallerTest, ANameWithoutAnAddress) {
  FakeResolver names;
  names.Know("unknown.test", {});
  api::HttpCall call = CallTo("80");
  call.host = "unknown.test";
  api::HttpAnswer answer = Ask(*caller, call);
  EXPECT_EQ(answer.outcome, Outcome::kUnknownHost);
  EXPECT_EQ(answer.error, "no address is known for unknown.test");
}

// On a machine without working name servers the lookup takes longer than the call's time limit.
TEST_F(HttpCallerTest, TheSystemKnowsNoNamesBelowInvalid) {
  api::HttpCall call = CallTo("80", 3s);
  call.host = "unknown.invalid";
  api::HttpAnswer answer = Ask(*caller, call);
  EXPECT_TRUE(answer.outcome == Outcome::kUnknownHost || answer.outcome == Outcome::kTimedOut)
      << answer.error;
}

// Even if the system resolves it differently.
TEST_F(HttpCallerTest, LocalhostIsLoopbackInBothFamiliesWithoutNameResolution) {
  FakeResolver names;
  names.Know("localhost", {"127.0.0.9"});
  for (const char* address : {"127.0.0.1", "::1"}) {
    MisbehavingServer server(AnswerWith(kGood), {.address = address});
    api::HttpCall call = CallTo(server.port());
    call.host = "localhost";
    EXPECT_EQ(Ask(*caller, call).body, "{}") << address;
    call.host = address;
    EXPECT_EQ(Ask(*caller, call).body, "{}") << address;
  }
  EXPECT_THAT(names.asked(), SizeIs(0));
}

TEST_F(HttpCallerTest, WhatMayNotBeCalledIsAnsweredWithoutACall) {
  MisbehavingServer server(AnswerWith(kGood));
  api::HttpAnswer no;
  no.outcome = Outcome::kNotAllowed;
  no.error = "no";
  auto strict = MakeCaller({.locate = [&](const api::HttpCall&) { return no; }});
  api::HttpAnswer answer = Ask(*strict, CallTo(server.port()));
  EXPECT_EQ(answer.outcome, Outcome::kNotAllowed);
  EXPECT_EQ(answer.error, "no");
  EXPECT_THAT(server.requests(), SizeIs(0));
}

TEST_F(HttpCallerTest, AHangingCallDoesNotBlockOthers) {
  MisbehavingServer hanging([](Connection& connection) { connection.WaitForClose(); });
  MisbehavingServer server(AnswerWith(kGood));
  auto hung = Begin(*caller, CallTo(hanging.port()));
  std::vector<std::future<api::HttpAnswer>> others;
  for (int i = 0; i < 100; ++i) others.push_back(Begin(*caller, CallTo(server.port())));
  for (auto& other : others) EXPECT_EQ(Wait(other).body, "{}");
  EXPECT_EQ(hung.wait_for(0s), std::future_status::timeout);
  EXPECT_THAT(server.requests(), SizeIs(100));
  caller = nullptr;
  EXPECT_EQ(Wait(hung).outcome, Outcome::kRefused);
}

TEST_F(HttpCallerTest, CallsUnderWayAreAnsweredBeforeTheCallerIsGone) {
  MisbehavingServer hanging([](Connection& connection) {
    connection.ReadRequest();
    connection.WaitForClose();
  });
  FullPort full;
  std::atomic<int> ended = 0;
  auto count = [&](api::HttpAnswer answer) {
    EXPECT_EQ(answer.outcome, Outcome::kRefused);
    EXPECT_EQ(answer.error, "the control plane is stopping");
    ++ended;
  };
  for (int i = 0; i < 10; ++i) {
    caller->Call(CallTo(hanging.port()), count);
    caller->Call(CallTo(full.port()), count);
  }
  caller = nullptr;
  EXPECT_EQ(ended, 20);
}

TEST_F(HttpCallerTest, ACallMayBeginWhereAnotherEnds) {
  MisbehavingServer server(AnswerWith(kGood));
  std::promise<api::HttpAnswer> second;
  caller->Call(CallTo(server.port()), [&](api::HttpAnswer) {
    caller->Call(CallTo(server.port()), [&](api::HttpAnswer answer) { second.set_value(std::move(answer)); });
  });
  auto future = second.get_future();
  EXPECT_EQ(Wait(future).body, "{}");
}

}  // namespace
}  // namespace terrarium::testbed

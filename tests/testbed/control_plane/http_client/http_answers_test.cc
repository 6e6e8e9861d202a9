// Responses of every form, split at every byte.

#include <random>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/testbed/control_plane/http_client/http_calls.h"
#include "tests/testbed/control_plane/http_client/misbehaving_server.h"

namespace terrarium::testbed {
namespace {

using testing::HasSubstr;
using Connection = MisbehavingServer::Connection;

constexpr std::size_t kBodyMax = 1000;
constexpr std::size_t kHeadBytesMax = 64 * 1024;

const std::string kByLength =
    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\ncontent-length:  2 \r\n\r\n{}";
const std::string kInChunks =
    "HTTP/1.1 201 Created\r\nTransfer-Encoding: Chunked\r\n\r\n"
    "3;a=b\r\nabc\r\n0A \r\n0123456789\r\n0\r\nX-Sum: 1\r\n\r\n";
const std::string kAfterInterim =
    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nContent-Type: x/y\r\n\r\n"
    "HTTP/1.1 404 Not Found\r\nContent-Length: 1\r\n\r\n!";

class HttpAnswersTest : public testing::Test {
 protected:
  static api::HttpCall Call(const MisbehavingServer& server) {
    api::HttpCall call = CallTo(server.port());
    call.answer_bytes_max = kBodyMax;
    return call;
  }
  api::HttpAnswer AskFor(MisbehavingServer::Script script) {
    MisbehavingServer server(std::move(script));
    return Ask(*caller, Call(server));
  }
  api::HttpAnswer AskFor(const std::string& text) { return AskFor(AnswerWith(text)); }
  // One call for each length from 0 on, with `send` called for that length; all in parallel.
  std::vector<api::HttpAnswer> AskForEach(std::size_t lengths,
                                          std::function<void(Connection&, std::size_t)> send) {
    std::atomic<std::size_t> next = 0;
    std::vector<api::HttpAnswer> answers;
    MisbehavingServer server([&](Connection& connection) {
      connection.ReadRequest();
      send(connection, next++);
    });
    std::vector<std::future<api::HttpAnswer>> calls;
    for (std::size_t i = 0; i < lengths; ++i) calls.push_back(Begin(*caller, Call(server)));
    for (auto& call : calls) answers.push_back(Wait(call));
    return answers;
  }
  void ExpectMalformed(const std::string& text, const std::string& shown) {
    api::HttpAnswer answer = AskFor(text);
    EXPECT_EQ(answer.outcome, Outcome::kMalformed) << shown << ": " << answer.error;
    EXPECT_THAT(answer.error, testing::StartsWith("the answer is not HTTP: ")) << shown;
    EXPECT_EQ(answer.body, "");
  }

  std::unique_ptr<api::HttpCaller> caller = MakeCaller({});
};

TEST_F(HttpAnswersTest, ACutAnywhereMakesNoDifference) {
  struct {
    const std::string& text;
    int status;
    const char *content_type, *body;
  } cases[] = {{kByLength, 200, "application/json", "{}"},
               {kInChunks, 201, "", "abc0123456789"},
               {kAfterInterim, 404, "", "!"}};
  for (const auto& each : cases) {
    auto answers = AskForEach(each.text.size(), [&](Connection& connection, std::size_t at) {
      connection.SendInTwo(each.text, at);
    });
    for (const api::HttpAnswer& answer : answers) {
      EXPECT_EQ(answer.outcome, Outcome::kAnswered) << answer.error;
      EXPECT_EQ(answer.status, each.status);
      EXPECT_EQ(answer.content_type, each.content_type);
      EXPECT_EQ(answer.body, each.body);
    }
  }
}

// Except for the very last line feed, which libcurl does not require.
TEST_F(HttpAnswersTest, AnEarlyEndAnywhereIsAFault) {
  for (const std::string& text : {kByLength, kInChunks, kAfterInterim}) {
    std::size_t lengths = text.ends_with('\n') ? text.size() - 1 : text.size();
    auto answers = AskForEach(lengths, [&](Connection& connection, std::size_t length) {
      connection.Send(std::string_view(text).substr(0, length));
    });
    for (const api::HttpAnswer& answer : answers) {
      EXPECT_EQ(answer.outcome, Outcome::kRefused) << answer.status << " " << answer.error;
      EXPECT_THAT(answer.error, testing::StartsWith("the connection "));
      EXPECT_EQ(answer.body, "");
    }
  }
}

TEST_F(HttpAnswersTest, AResetAnywhereIsAFault) {
  for (const std::string& text : {kByLength, kInChunks}) {
    auto answers = AskForEach(text.size(), [&](Connection& connection, std::size_t length) {
      connection.Send(std::string_view(text).substr(0, length));
      connection.Reset();
    });
    for (const api::HttpAnswer& answer : answers) {
      EXPECT_EQ(answer.outcome, Outcome::kRefused) << answer.status << " " << answer.error;
      EXPECT_EQ(answer.body, "");
    }
  }
}

TEST_F(HttpAnswersTest, WhatFollowsTheAnswerIsIgnored) {
  EXPECT_EQ(AskFor("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}HTTP/1.1 500 ...").body, "{}");
}

TEST_F(HttpAnswersTest, ManySmallChunksAreFine) {
  std::string text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (std::size_t i = 0; i < kBodyMax; ++i) text += "1;" + std::string(100, 'e') + "\r\nx\r\n";
  api::HttpAnswer answer = AskFor(text + "0\r\nTrailer: yes\r\n\r\n");
  EXPECT_EQ(answer.outcome, Outcome::kAnswered) << answer.error;
  EXPECT_EQ(answer.body, std::string(kBodyMax, 'x'));
}

TEST_F(HttpAnswersTest, SomeAnswersHaveNoBody) {
  for (const char* text :
       {"HTTP/1.1 204 No Content\r\n\r\n", "HTTP/1.1 304 Not Modified\r\nContent-Length: 99\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"}) {
    api::HttpAnswer answer = AskFor([text](Connection& connection) {
      connection.ReadRequest();
      connection.Send(text);
      connection.WaitForClose();  // the response ends before the connection does
    });
    EXPECT_EQ(answer.outcome, Outcome::kAnswered) << text << answer.error;
    EXPECT_EQ(answer.body, "");
  }
}

TEST_F(HttpAnswersTest, ReasonsAreOptionalAndLinesMayEndWithALineFeedAlone) {
  EXPECT_EQ(AskFor("HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n").status, 200);
  api::HttpAnswer answer = AskFor("HTTP/1.1 200 \nContent-Type: a/b\nContent-Length: 1\n\nx");
  EXPECT_EQ(answer.content_type, "a/b");
  EXPECT_EQ(answer.body, "x");
}

TEST_F(HttpAnswersTest, TheFirstContentTypeCounts) {
  EXPECT_EQ(AskFor("HTTP/1.1 204 X\r\nContent-Type: a/a\r\nContent-Type: b/b\r\n\r\n").content_type, "a/a");
}

TEST_F(HttpAnswersTest, CodingsThatWereNotAskedForAreLeftAlone) {
  api::HttpAnswer answer =
      AskFor("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 3\r\n\r\nabc");
  EXPECT_EQ(answer.outcome, Outcome::kAnswered) << answer.error;
  EXPECT_EQ(answer.body, "abc");
}

TEST_F(HttpAnswersTest, OtherFirstLinesAreMalformed) {
  for (const char* line : {"", " HTTP/1.1 200 OK", "HTTP/1.1 OK", "HTTP/1.1 20x OK", "HTTP/1.1 2000 OK",
                           "HTTP/1.x 200 OK", "HTTP/3.7 200 OK", "SSH-2.0-OpenSSH_9.2", "\x15\x03\x01"})
    ExpectMalformed(line + std::string("\r\n\r\n"), line);
}

TEST_F(HttpAnswersTest, AnAnswerWhoseEndIsAmbiguousIsMalformed) {
  for (const char* field :
       {"no colon", "Content-Length: -1", "Content-Length: many", "Content-Length: 1\r\nContent-Length: 2",
        "Transfer-Encoding: gzip", "Transfer-Encoding: gzip, chunked", "Transfer-Encoding: identity",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nContent-Length: 1", "Content-Length: 1\r\nTransfer-Encoding: chunked"})
    ExpectMalformed("HTTP/1.1 200 OK\r\n" + std::string(field) + "\r\n\r\n", field);
  ExpectMalformed("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\n", "101");
}

TEST_F(HttpAnswersTest, TheSameLengthTwiceIsOneLength) {
  EXPECT_EQ(AskFor("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx").body, "x");
}

TEST_F(HttpAnswersTest, ChunksThatAreNotFramedAreMalformed) {
  for (const char* chunks : {"x\r\n\r\n", "-1\r\n\r\n", "1\r\nab\r\n", "11111111111111111111\r\n"})
    ExpectMalformed("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + std::string(chunks), chunks);
}

TEST_F(HttpAnswersTest, ABodyAboveTheLimitIsSeenWhereItIsAnnounced) {
  std::string head = "HTTP/1.1 200 OK\r\n", half = "1f4\r\n" + std::string(500, 'x') + "\r\n";
  for (const std::string& text :
       {head + "Content-Length: 1001\r\n\r\n", head + "Content-Length: 18446744073709551616\r\n\r\n",
        head + "Transfer-Encoding: chunked\r\n\r\n" + half + half + "1\r\nx\r\n",
        head + "\r\n" + std::string(1001, 'x')}) {
    api::HttpAnswer answer = AskFor([&text](Connection& connection) {
      connection.ReadRequest();
      connection.Send(text);
      connection.WaitForClose();
    });
    EXPECT_EQ(answer.outcome, Outcome::kTooLarge) << text.substr(0, 60) << answer.error;
    EXPECT_EQ(answer.error, "the answer's body is above 1000 bytes");
    EXPECT_EQ(answer.status, 200);
    EXPECT_EQ(answer.body, "");
  }
  EXPECT_EQ(AskFor(head + "Transfer-Encoding: chunked\r\n\r\n" + half + half + "0\r\n\r\n").body.size(),
            1000u);
  EXPECT_EQ(AskFor(head + "\r\n" + std::string(1000, 'x')).body.size(), 1000u);
}

TEST_F(HttpAnswersTest, AHeadWithoutEndIsMalformed) {
  struct {
    std::string head, piece;
  } cases[] = {{"HTTP/1.1 200 OK\r\nA: ", std::string(1000, 'a')},
               {"HTTP/1.1 200 OK\r\n", "Some: value\r\n"},
               {"", "HTTP/1.1 100 Continue\r\n\r\n"},
               {"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", "Trailer: value\r\n"}};
  for (const auto& each : cases) {
    std::atomic<std::size_t> sent = 0;
    api::HttpAnswer answer = AskFor([&](Connection& connection) {
      connection.ReadRequest();
      connection.Send(each.head);
      while (connection.Send(each.piece)) sent += each.piece.size();
    });
    EXPECT_EQ(answer.outcome, Outcome::kMalformed) << each.piece.substr(0, 20) << answer.error;
    EXPECT_EQ(answer.error, "the answer is not HTTP: its header fields are too long");
    EXPECT_GT(sent + each.head.size(), kHeadBytesMax);
  }
  // All of 64 KiB is fine.
  std::string head = "HTTP/1.1 200 OK\r\nContent-Length: 1\r\nA: ";
  EXPECT_EQ(AskFor(head + std::string(kHeadBytesMax - head.size() - 4, 'a') + "\r\n\r\nx").body, "x");
}

TEST_F(HttpAnswersTest, SurvivesAnswersWithBytesChangedAtRandom) {
  std::mt19937 random(11);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < 500; ++i) {
    std::string text = i % 2 == 0 ? kInChunks : kByLength;
    for (unsigned n = random() % 4; n > 0; --n) text[random() % text.size()] = static_cast<char>(random());
    texts.push_back(std::move(text));
  }
  auto answers =
      AskForEach(texts.size(), [&](Connection& connection, std::size_t i) { connection.Send(texts[i]); });
  std::map<Outcome, int> seen;
  for (const api::HttpAnswer& answer : answers) {
    ++seen[answer.outcome];
    EXPECT_LE(answer.body.size(), kBodyMax);
  }
  EXPECT_GT(seen[Outcome::kAnswered], 0);
  EXPECT_GT(seen[Outcome::kMalformed], 0);
}

}  // namespace
}  // namespace terrarium::testbed

#include "testbed/http_caller/internal/answer_parser.h"

#include <gtest/gtest.h>

#include <random>
#include <string>

namespace terrarium::testbed::internal {
namespace {

using State = AnswerParser::State;

constexpr std::size_t kBodyMax = 1000;

struct Parsed {
  State state;
  int status;
  std::string content_type;
  std::string body;
  std::string error;

  bool operator==(const Parsed&) const = default;
};

Parsed Result(AnswerParser& parser, State state) {
  return {state, parser.status(), parser.content_type(), parser.body(), parser.error()};
}

Parsed ParseWhole(const std::string& text, bool end = false) {
  AnswerParser parser(kBodyMax);
  State state = parser.Feed(text);
  if (end) state = parser.End();
  return Result(parser, state);
}

// However the bytes are cut, they mean the same.
Parsed Parse(const std::string& text, bool end = false) {
  Parsed whole = ParseWhole(text, end);
  AnswerParser bytewise(kBodyMax);
  for (char c : text) bytewise.Feed({&c, 1});
  if (end) bytewise.End();
  EXPECT_EQ(Result(bytewise, bytewise.state()), whole) << text;
  std::mt19937 random(7);
  for (int round = 0; round < 20; ++round) {
    AnswerParser parser(kBodyMax);
    for (std::size_t at = 0; at < text.size();) {
      std::size_t length = 1 + random() % 40;
      parser.Feed(std::string_view(text).substr(at, length));
      at += length;
    }
    if (end) parser.End();
    EXPECT_EQ(Result(parser, parser.state()), whole) << text;
  }
  return whole;
}

TEST(AnswerParser, ABodyOfTheAnnouncedLength) {
  Parsed answer = Parse("HTTP/1.1 200 OK\r\nContent-Type: application/json\r\ncontent-length:  2 \r\n\r\n{}");
  EXPECT_EQ(answer, (Parsed{State::kDone, 200, "application/json", "{}", ""}));
}

TEST(AnswerParser, WhatFollowsTheAnswerIsNotLookedAt) {
  EXPECT_EQ(Parse("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}HTTP/1.1 500 ...").body, "{}");
}

TEST(AnswerParser, ABodyInChunksWithExtensionsAndTrailers) {
  Parsed answer = Parse(
      "HTTP/1.1 201 Created\r\nTransfer-Encoding: Chunked\r\n\r\n"
      "3;a=b\r\nabc\r\n0A \r\n0123456789\r\n0\r\nX-Sum: 1\r\n\r\n");
  EXPECT_EQ(answer, (Parsed{State::kDone, 201, "", "abc0123456789", ""}));
}

TEST(AnswerParser, ManySmallChunksAreFine) {
  std::string text = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (std::size_t i = 0; i < kBodyMax; ++i) text += "1;" + std::string(100, 'e') + "\r\nx\r\n";
  text += "0\r\nTrailer: yes\r\n\r\n";
  Parsed answer = Parse(text);
  EXPECT_EQ(answer.state, State::kDone);
  EXPECT_EQ(answer.body, std::string(kBodyMax, 'x'));
}

TEST(AnswerParser, ABodyThatEndsWithTheConnection) {
  EXPECT_EQ(Parse("HTTP/1.0 200 OK\r\n\r\n{\"a\":1}").state, State::kMore);
  EXPECT_EQ(Parse("HTTP/1.0 200 OK\r\n\r\n{\"a\":1}", true), (Parsed{State::kDone, 200, "", "{\"a\":1}", ""}));
}

TEST(AnswerParser, SomeAnswersHaveNoBodyWhateverTheySay) {
  EXPECT_EQ(Parse("HTTP/1.1 204 No Content\r\n\r\n").state, State::kDone);
  EXPECT_EQ(Parse("HTTP/1.1 304 Not Modified\r\nContent-Length: 99\r\n\r\n").state, State::kDone);
  EXPECT_EQ(Parse("HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n").state, State::kDone);
}

TEST(AnswerParser, ReasonsAreOptionalAndLinesMayEndWithALineFeedAlone) {
  EXPECT_EQ(Parse("HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n").status, 200);
  EXPECT_EQ(Parse("HTTP/1.1 200 \nContent-Type: a/b\nContent-Length: 1\n\nx"),
            (Parsed{State::kDone, 200, "a/b", "x", ""}));
}

TEST(AnswerParser, InterimAnswersComeBeforeTheAnswer) {
  Parsed answer = Parse(
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nContent-Type: x/y\r\n\r\n"
      "HTTP/1.1 404 Not Found\r\nContent-Length: 1\r\n\r\n!");
  EXPECT_EQ(answer, (Parsed{State::kDone, 404, "", "!", ""}));
}

TEST(AnswerParser, TheFirstContentTypeCounts) {
  EXPECT_EQ(Parse("HTTP/1.1 204 X\r\nContent-Type: \r\nContent-Type: b/b\r\n\r\n").content_type, "");
}

TEST(AnswerParser, WhatIsNoStatusLineIsMalformed) {
  for (const char* line : {"", " HTTP/1.1 200 OK", "HTTP/2 200 OK", "HTTP/1.1 OK", "HTTP/1.1  200 OK",
                           "HTTP/1.1 2000 OK", "HTTP/1.1 099 OK", "HTTP/1.1 20x OK", "http/1.1 200 OK", "HTTP/1.x 200 OK", "HTTP/1.1 200OK",
                           "SSH-2.0-OpenSSH_9.2", "\x15\x03\x01", "HTTP/1.1 200 O\x01K"})
    EXPECT_EQ(Parse(line + std::string("\r\n")).state, State::kMalformed) << line;
}

TEST(AnswerParser, FieldsThatCannotBeTrustedAreMalformed) {
  for (const char* field :
       {"no colon", ": no name", "Name : blank before the colon", " continued: line", "Na(me: x", "A: \x01",
        "A: b\rC: d", "Content-Length: -1", "Content-Length: +1", "Content-Length: 0x10", "Content-Length:",
        "Content-Length: 1, 1", "Content-Length: 18446744073709551616", "Content-Length: 1\r\nContent-Length: 2",
        "Transfer-Encoding: gzip", "Transfer-Encoding: gzip, chunked", "Transfer-Encoding: identity",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked", "Transfer-Encoding: chunked\r\nContent-Length: 1"})
    EXPECT_EQ(Parse("HTTP/1.1 200 OK\r\n" + std::string(field) + "\r\n\r\n").state, State::kMalformed) << field;
  EXPECT_EQ(Parse("HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n").state, State::kMalformed);
  EXPECT_EQ(Parse("HTTP/1.1 101 Switching Protocols\r\n\r\n").state, State::kMalformed);
}

TEST(AnswerParser, TheSameLengthTwiceIsOneLength) {
  EXPECT_EQ(Parse("HTTP/1.1 200 OK\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\nx").body, "x");
}

TEST(AnswerParser, ChunksThatAreNotFramedAreMalformed) {
  for (const char* chunks : {"\r\n", "x\r\n", "-1\r\n", "1\r\nab\r\n", "1 1\r\n", "0x1\r\n", "10000000000000000\r\n"})
    EXPECT_EQ(Parse("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n" + std::string(chunks)).state,
              State::kMalformed)
        << chunks;
}

TEST(AnswerParser, ABodyAboveTheLimitIsSeenWhereItIsAnnounced) {
  std::string head = "HTTP/1.1 200 OK\r\n";
  EXPECT_EQ(Parse(head + "Content-Length: 1001\r\n\r\n").state, State::kTooLarge);
  EXPECT_EQ(Parse(head + "Content-Length: 18446744073709551615\r\n\r\n").state, State::kTooLarge);
  std::string half = "1f4\r\n" + std::string(500, 'x') + "\r\n";
  EXPECT_EQ(Parse(head + "Transfer-Encoding: chunked\r\n\r\n" + half + half).state, State::kMore);
  EXPECT_EQ(Parse(head + "Transfer-Encoding: chunked\r\n\r\n" + half + half + "1\r\n").state, State::kTooLarge);
  EXPECT_EQ(Parse(head + "\r\n" + std::string(1000, 'x')).state, State::kMore);
  EXPECT_EQ(Parse(head + "\r\n" + std::string(1001, 'x')).state, State::kTooLarge);
  EXPECT_EQ(Parse(head + "Content-Length: 1000\r\n\r\n" + std::string(1000, 'x')).state, State::kDone);
}

TEST(AnswerParser, NothingIsKeptOfABodyThatIsTooLarge) {
  EXPECT_EQ(Parse("HTTP/1.1 200 OK\r\n\r\n" + std::string(1001, 'x')).body, "");
}

TEST(AnswerParser, AHeadWithoutEndIsMalformed) {
  EXPECT_EQ(Parse("HTTP/1.1 200 OK\r\nA: " + std::string(AnswerParser::kHeadBytesMax, 'a')).state, State::kMalformed);
  std::string many = "HTTP/1.1 200 OK\r\n";
  while (many.size() <= AnswerParser::kHeadBytesMax) many += "Some: value\r\n";
  EXPECT_EQ(Parse(many).state, State::kMalformed);
  std::string interim;
  while (interim.size() <= AnswerParser::kHeadBytesMax) interim += "HTTP/1.1 100 Continue\r\n\r\n";
  EXPECT_EQ(Parse(interim).state, State::kMalformed);
  std::string chunk = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;";
  EXPECT_EQ(Parse(chunk + std::string(AnswerParser::kHeadBytesMax, 'e')).state, State::kMalformed);
}

TEST(AnswerParser, AnAnswerThatIsCutOffIsNone) {
  EXPECT_EQ(Parse("", true).error, "the connection was closed without an answer");
  for (const char* text :
       {"HTTP/1.1", "HTTP/1.1 200 OK\r\nContent-Le", "HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\n{}",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n"}) {
    Parsed answer = Parse(text, true);
    EXPECT_EQ(answer.state, State::kCutOff) << text;
    EXPECT_EQ(answer.error, "the connection broke off in the middle of the answer");
    EXPECT_EQ(answer.body, "");
  }
}

// Whatever comes, it stays within its limits and does not fall over.
TEST(AnswerParser, SurvivesAnswersWithBytesChangedAtRandom) {
  const std::string good =
      "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n";
  std::mt19937 random(11);
  int states[5] = {};
  for (int round = 0; round < 20'000; ++round) {
    std::string text = good;
    for (unsigned n = random() % 3; n > 0; --n) text[random() % text.size()] = static_cast<char>(random());
    AnswerParser parser(kBodyMax);
    parser.Feed(text);
    ++states[static_cast<int>(parser.End())];
    EXPECT_LE(parser.body().size(), kBodyMax);
  }
  EXPECT_GT(states[static_cast<int>(State::kDone)], 0);
  EXPECT_GT(states[static_cast<int>(State::kMalformed)], 0);
  EXPECT_EQ(states[static_cast<int>(State::kMore)], 0);
}

}  // namespace
}  // namespace terrarium::testbed::internal

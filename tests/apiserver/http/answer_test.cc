// Response heads, warnings, and the frames of a stream.

#include <gtest/gtest.h>

#include "apiserver/http/bearer_token.h"
#include "apiserver/http/response_head.h"
#include "apiserver/http/stream_frames.h"
#include "apiserver/http/warning_header.h"

namespace terrarium::apiserver {
namespace {

using Headers = std::vector<std::string>;

TEST(WarningHeaders, AreQuoted) {
  EXPECT_EQ(WarningHeaders({"plain", R"(say "hi" \o/)"}),
            (Headers{R"(299 - "plain")", R"(299 - "say \"hi\" \\o/")"}));
}

TEST(WarningHeaders, ThoseThatCannotBeInAHeaderAreLeftOut) {
  EXPECT_EQ(WarningHeaders({"a\nb", "a\rb", std::string("a\0b", 3), "a\x7f", "a\xc2\x85", "a\xff",
                            "a\xed\xa0\x80", "a\xc3", "fine \xc3\xa9"}),
            (Headers{"299 - \"fine \xc3\xa9\""}));
}

TEST(ResponseHead, StatesHowTheBodyEnds) {
  Response response;
  response.warnings = {"one", "two"};
  response.headers = {{"ETag", "\"1\""}};
  EXPECT_EQ(FormatResponseHead(response, {.content_length = 5}),
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\n"
            "Content-Length: 5\r\nETag: \"1\"\r\nWarning: 299 - \"one\"\r\nWarning: 299 - \"two\"\r\n\r\n");
  EXPECT_EQ(FormatResponseHead(Response(), {.end = BodyEnd::kChunks, .close = true, .now = 784111777}),
            "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n"
            "Transfer-Encoding: chunked\r\nConnection: close\r\n\r\n");
  Response unchanged;
  unchanged.code = 304;
  EXPECT_EQ(FormatResponseHead(unchanged, {.end = BodyEnd::kNoBody, .minor_version = 0, .keep_alive = true}),
            "HTTP/1.0 304 Not Modified\r\nDate: Thu, 01 Jan 1970 00:00:00 GMT\r\n"
            "Connection: keep-alive\r\n\r\n");
}

TEST(BearerToken, IsReadAsKubernetesDoes) {
  EXPECT_EQ(BearerToken("Bearer abc"), "abc");
  EXPECT_EQ(BearerToken("bearer abc"), "abc");
  EXPECT_EQ(BearerToken("BEARER abc more"), "abc");
  EXPECT_EQ(BearerToken("Bearer "), std::nullopt);
  EXPECT_EQ(BearerToken("Bearer"), std::nullopt);
  EXPECT_EQ(BearerToken("Basic abc"), std::nullopt);
  EXPECT_EQ(BearerToken("Bearerabc def"), std::nullopt);
  EXPECT_EQ(BearerToken(""), std::nullopt);
}

class ListedStream : public ResponseStream {
 public:
  explicit ListedStream(std::vector<std::pair<std::string, State>> steps) : steps_(std::move(steps)) {}
  State Read(std::size_t, std::string& out) override {
    auto [text, state] = steps_.at(next_++);
    out += text;
    return state;
  }
  void SetWake(std::function<void()>) override {}

 private:
  std::vector<std::pair<std::string, State>> steps_;
  std::size_t next_ = 0;
};

using State = ResponseStream::State;

std::vector<std::string> FramesOf(std::vector<std::pair<std::string, State>> steps, StreamFraming framing) {
  std::size_t count = steps.size();
  StreamFrames frames(std::make_unique<ListedStream>(std::move(steps)), framing);
  std::vector<std::string> out;
  std::string buffer;
  for (std::size_t i = 0; i < count; ++i) {
    std::string_view frame;
    frames.Next(100, buffer, frame);
    out.emplace_back(frame);
  }
  return out;
}

TEST(StreamFrames, AreChunks) {
  const std::string letters(26, 'a');
  EXPECT_EQ(
      FramesOf({{"hello", State::kOpen}, {"", State::kOpen}, {letters, State::kEnd}}, StreamFraming::kChunks),
      (std::vector<std::string>{"5\r\nhello\r\n", "", "1a\r\n" + letters + "\r\n0\r\n\r\n"}));
  EXPECT_EQ(FramesOf({{"", State::kEnd}}, StreamFraming::kChunks), (std::vector<std::string>{"0\r\n\r\n"}));
}

TEST(StreamFrames, HaveNoLastChunkWhenTheyAreCut) {
  EXPECT_EQ(FramesOf({{"a", State::kCut}}, StreamFraming::kChunks), (std::vector<std::string>{"1\r\na\r\n"}));
}

TEST(StreamFrames, AreTheBytesThemselvesForOldClients) {
  EXPECT_EQ(FramesOf({{"hello", State::kOpen}, {"", State::kEnd}}, StreamFraming::kNone),
            (std::vector<std::string>{"hello", ""}));
}

TEST(StreamFrames, OfAWebsocketAreItsMessagesAndAClose) {
  const std::string close = "\x88\x02\x03\xe8";
  EXPECT_EQ(FramesOf({{"{}\n[1]\n", State::kOpen}, {"", State::kOpen}, {"{}\n", State::kEnd}},
                     StreamFraming::kWebsocketText),
            (std::vector<std::string>{"\x81\x03{}\n\x81\x04[1]\n", "", "\x81\x03{}\n" + close}));
  const std::string first("\0\0\0\x02k\n", 6), empty("\0\0\0\0", 4);
  EXPECT_EQ(FramesOf({{first + empty, State::kOpen}, {"", State::kEnd}}, StreamFraming::kWebsocketBinary),
            (std::vector<std::string>{std::string("\x82\x02k\n\x82\0", 6), close}));
}

TEST(StreamFrames, OfAWebsocketHaveNoCloseWhenTheyAreCut) {
  EXPECT_EQ(FramesOf({{"1\n", State::kCut}}, StreamFraming::kWebsocketText),
            (std::vector<std::string>{"\x81\x02"
                                      "1\n"}));
}

}  // namespace
}  // namespace terrarium::apiserver

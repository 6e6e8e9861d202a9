#include "apiserver/http/body_decoder.h"

#include <gtest/gtest.h>

namespace terrarium::apiserver {
namespace {

constexpr std::size_t kMax = 100;

// Feeds `text` in pieces of `step` bytes and returns how many bytes were consumed.
std::size_t Feed(BodyDecoder& decoder, std::string_view text, std::size_t step) {
  std::size_t taken = 0;
  while (taken < text.size() && !decoder.done() && !decoder.error())
    taken += decoder.Read(text.substr(taken, step));
  return taken;
}

int CodeOfChunks(std::string_view text) {
  BodyDecoder decoder = BodyDecoder::OfChunks(kMax);
  Feed(decoder, text, text.size());
  return decoder.error() ? decoder.error()->code : decoder.done() ? 200 : 0;
}

TEST(BodyDecoder, TakesExactlyTheLength) {
  BodyDecoder decoder = BodyDecoder::OfLength(5);
  EXPECT_EQ(decoder.Read("he"), 2U);
  EXPECT_FALSE(decoder.done());
  EXPECT_EQ(decoder.Read("lloGET /"), 3U);
  EXPECT_TRUE(decoder.done());
  EXPECT_EQ(decoder.Take(), "hello");
}

TEST(BodyDecoder, ChunksAreJoinedWhereverTheyAreSplit) {
  const std::string text = "5;name=value\r\nhello\r\nA\r\n, chunked.\r\n0\r\nTrailer: x\r\n\r\nGET /";
  for (std::size_t step = 1; step < text.size(); ++step) {
    BodyDecoder decoder = BodyDecoder::OfChunks(kMax);
    EXPECT_EQ(Feed(decoder, text, step), text.size() - 5) << step;
    ASSERT_TRUE(decoder.done()) << step;
    EXPECT_EQ(decoder.Take(), "hello, chunked.");
  }
}

TEST(BodyDecoder, MalformedChunksAreRefused) {
  for (const char* text :
       {"x\r\n", "\r\n", "-1\r\n", "+5\r\nhello\r\n", "5 5\r\n", "0x5\r\nhello\r\n", " 5\r\nhello\r\n",
        "5\nhello\r\n", "5\r\nhello!\r\n0\r\n\r\n", "fffffffffffffffff\r\n"})
    EXPECT_EQ(CodeOfChunks(text), 400) << text;
  EXPECT_EQ(CodeOfChunks("5\r\nhello\r\n0\r\n\r\n"), 200);
}

TEST(BodyDecoder, ChunksMayNotExceedTheLimit) {
  EXPECT_EQ(CodeOfChunks("64\r\n" + std::string(100, 'a') + "\r\n0\r\n\r\n"), 200);
  EXPECT_EQ(CodeOfChunks("65\r\n"), 413);
  EXPECT_EQ(CodeOfChunks("64\r\n" + std::string(100, 'a') + "\r\n1\r\n"), 413);
  EXPECT_EQ(CodeOfChunks("fffffffffffffff\r\n"), 413);
}

TEST(BodyDecoder, LinesAndTrailersAreBounded) {
  EXPECT_EQ(CodeOfChunks("5;" + std::string(5000, 'a')), 400);
  std::string trailer = "0\r\n";
  for (int i = 0; i < 1000; ++i) trailer += "Name: value of a trailer\r\n";
  EXPECT_EQ(CodeOfChunks(trailer), 400);
}

}  // namespace
}  // namespace terrarium::apiserver

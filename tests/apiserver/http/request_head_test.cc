#include "apiserver/http/request_head.h"

#include <gtest/gtest.h>

namespace terrarium::apiserver {
namespace {

std::string Head(const std::string& fields, const std::string& line = "POST /api HTTP/1.1") {
  return line + "\r\nHost: a\r\n" + fields + "\r\n";
}

int CodeOf(const std::string& text) {
  auto head = ParseRequestHead(text);
  return head ? 200 : head.status().code;
}

TEST(RequestHead, IsReadWhole) {
  auto head = ParseRequestHead(
      "GET /api/v1/pods%2Fa+b?watch=1&x=%20 HTTP/1.1\r\nHost: localhost:8080\r\n"
      "ACCEPT:  application/json \r\n\r\n");
  ASSERT_TRUE(head);
  EXPECT_EQ(head->method, "GET");
  EXPECT_EQ(head->path, "/api/v1/pods/a+b");
  EXPECT_EQ(head->query, "watch=1&x=%20");
  EXPECT_EQ(head->Header("accept"), "application/json");
  EXPECT_EQ(head->Header("host"), "localhost:8080");
  EXPECT_EQ(head->Header("origin"), "");
  EXPECT_TRUE(head->keep_alive);
  EXPECT_FALSE(head->HasBody());
}

TEST(RequestHead, EndsAtItsEmptyLine) {
  const std::string text = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
  EXPECT_EQ(FindHeadEnd(text + "more"), text.size());
  EXPECT_EQ(FindHeadEnd("GET / HTTP/1.1\nHost: a\n\nmore"), 24U);
  EXPECT_EQ(FindHeadEnd(text.substr(0, text.size() - 1)), std::string::npos);
}

TEST(RequestHead, EndIsFoundWhereverTheTextIsSplit) {
  const std::string text = "GET / HTTP/1.1\r\nHost: a\r\n\r\n";
  for (std::size_t split = 1; split < text.size(); ++split) {
    EXPECT_EQ(FindHeadEnd(text.substr(0, split)), std::string::npos) << split;
    EXPECT_EQ(FindHeadEnd(text, split < 2 ? 0 : split - 2), text.size()) << split;
  }
}

TEST(RequestHead, TheVersionDecidesWhetherTheConnectionIsKept) {
  auto keeps = [](const std::string& version, const std::string& connection) {
    auto head = ParseRequestHead("GET / " + version + "\r\nHost: a\r\n" + connection + "\r\n");
    return head && head->keep_alive;
  };
  EXPECT_TRUE(keeps("HTTP/1.1", ""));
  EXPECT_FALSE(keeps("HTTP/1.1", "Connection: close\r\n"));
  EXPECT_FALSE(keeps("HTTP/1.1", "Connection: Upgrade, Close\r\n"));
  EXPECT_FALSE(keeps("HTTP/1.0", ""));
  EXPECT_TRUE(keeps("HTTP/1.0", "Connection: Keep-Alive\r\n"));
}

TEST(RequestHead, BodiesHaveOneLength) {
  EXPECT_EQ(CodeOf(Head("Content-Length: 5\r\n")), 200);
  EXPECT_EQ(CodeOf(Head("Content-Length: 5\r\nContent-Length: 5\r\n")), 200);
  for (const char* fields :
       {"Content-Length: 5\r\nContent-Length: 6\r\n", "Content-Length: +5\r\n", "Content-Length: -5\r\n",
        "Content-Length: 5, 5\r\n", "Content-Length: 0x5\r\n", "Content-Length:\r\n",
        "Content-Length: 5 5\r\n", "Content-Length: 99999999999999999999\r\n",
        "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n",
        "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n"})
    EXPECT_EQ(CodeOf(Head(fields)), 400) << fields;
}

TEST(RequestHead, ChunkedIsReadInAnyCase) {
  for (const char* value : {"chunked", "Chunked", "CHUNKED"}) {
    auto head = ParseRequestHead(Head(std::string("Transfer-Encoding: ") + value + "\r\n"));
    ASSERT_TRUE(head) << value;
    EXPECT_TRUE(head->chunked);
    EXPECT_TRUE(head->HasBody());
  }
}

TEST(RequestHead, OtherTransferEncodingsAreNotImplemented) {
  EXPECT_EQ(CodeOf(Head("Transfer-Encoding: gzip\r\n")), 501);
  EXPECT_EQ(CodeOf(Head("Transfer-Encoding: gzip, chunked\r\n")), 501);
  EXPECT_EQ(CodeOf(Head("Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n")), 501);
  EXPECT_EQ(CodeOf(Head("Transfer-Encoding: chunked\r\n", "POST / HTTP/1.0")), 400);
}

TEST(RequestHead, Http11NeedsOneHost) {
  EXPECT_EQ(CodeOf("GET / HTTP/1.1\r\n\r\n"), 400);
  EXPECT_EQ(CodeOf("GET / HTTP/1.0\r\n\r\n"), 200);
  EXPECT_EQ(CodeOf(Head("Host: b\r\n")), 400);
}

TEST(RequestHead, MalformedLinesAreRefused) {
  const std::pair<const char*, int> table[] = {
      {"GET /\r\nHost: a\r\n\r\n", 400},
      {"GET  HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"G(T / HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"GET /a b HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"GET /%zz HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"GET /%4 HTTP/1.1\r\nHost: a\r\n\r\n", 400},
      {"GET / HTTP/2.0\r\nHost: a\r\n\r\n", 505},
      {"GET / HTTPS/1.1\r\nHost: a\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: a\r\nno colon\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: a\r\nName : v\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: a\r\n folded\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: a\r\nName: a\x01\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: a\r\nName: a\rb\r\n\r\n", 400},
      {"GET / HTTP/1.1\r\nHost: a\r\nExpect: a miracle\r\n\r\n", 417},
  };
  for (const auto& [text, code] : table) EXPECT_EQ(CodeOf(text), code) << text;
}

TEST(RequestHead, TheNumberOfFieldsIsBounded) {
  std::string fields;
  for (int i = 0; i < 999; ++i) fields += "a:b\r\n";
  EXPECT_EQ(CodeOf(Head(fields)), 200);
  EXPECT_EQ(CodeOf(Head(fields + "a:b\r\n")), 431);
}

TEST(RequestHead, DroppedFieldsTakeNoMemory) {
  const std::string large(10'000, 'a');
  auto head = ParseRequestHead("HEAD /" + large + "?" + large + " HTTP/1.0\r\nName: " + large + "\r\n\r\n");
  ASSERT_TRUE(head);
  head->DropFields();
  const std::size_t empty = std::string().capacity();
  EXPECT_EQ(head->path.capacity(), empty);
  EXPECT_EQ(head->query.capacity(), empty);
  EXPECT_EQ(head->headers.capacity(), 0U);
  EXPECT_EQ(head->method, "HEAD");
  EXPECT_EQ(head->minor_version, 0);
}

TEST(RequestHead, AnAbsoluteTargetIsItsPath) {
  auto head = ParseRequestHead("GET http://a:80/api?x=1 HTTP/1.1\r\nHost: a\r\n\r\n");
  ASSERT_TRUE(head);
  EXPECT_EQ(head->path, "/api");
  EXPECT_EQ(head->query, "x=1");
}

}  // namespace
}  // namespace terrarium::apiserver

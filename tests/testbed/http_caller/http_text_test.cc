#include "testbed/http_caller/internal/http_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace terrarium::testbed::internal {
namespace {

using testing::HasSubstr;
using testing::Not;

api::HttpCall Simple() {
  api::HttpCall call;
  call.host = "picker.default.svc";
  call.port = "8080";
  call.path = "/pick?x=1";
  call.body = "{}";
  return call;
}

TEST(RequestText, IsAPostOfJson) {
  EXPECT_EQ(*RequestText(Simple()),
            "POST /pick?x=1 HTTP/1.1\r\n"
            "Host: picker.default.svc:8080\r\n"
            "User-Agent: terrarium\r\n"
            "Content-Type: application/json\r\n"
            "Accept: application/json\r\n"
            "Accept-Encoding: identity\r\n"
            "Content-Length: 2\r\n"
            "Connection: close\r\n"
            "\r\n"
            "{}");
}

TEST(RequestText, TheHostIsWrittenAsInAUrl) {
  struct {
    bool tls;
    const char *host, *port, *written;
  } cases[] = {{false, "a.test", "80", "Host: a.test\r\n"},     {true, "a.test", "443", "Host: a.test\r\n"},
               {true, "a.test", "80", "Host: a.test:80\r\n"},   {false, "a.test", "http", "Host: a.test\r\n"},
               {false, "::1", "8080", "Host: [::1]:8080\r\n"},  {false, "[::1]", "80", "Host: [::1]\r\n"}};
  for (const auto& each : cases) {
    api::HttpCall call = Simple();
    call.tls = each.tls;
    call.host = each.host;
    call.port = each.port;
    EXPECT_THAT(*RequestText(call), HasSubstr(each.written));
  }
}

TEST(RequestText, TheUsersHeadersComeInTheirOrderAndInsteadOfOurs) {
  api::HttpCall call = Simple();
  call.headers = {{"X-Key", "a"}, {"host", "b.test"}, {"X-Key", ""}, {"ACCEPT", "*/*"}};
  std::string text = *RequestText(call);
  EXPECT_THAT(text, HasSubstr("X-Key: a\r\nhost: b.test\r\nX-Key: \r\nACCEPT: */*\r\n"));
  EXPECT_THAT(text, Not(HasSubstr("Host: ")));
  EXPECT_THAT(text, Not(HasSubstr("Accept: ")));
}

// A Secret that was made with `echo` ends with a line end.
TEST(RequestText, AValueThatWouldBeginANewHeaderIsNotSentNorRepeated) {
  for (const char* value : {"secret\n", "secret\r\nX-Other: y", "secret\x7f"}) {
    api::HttpCall call = Simple();
    call.headers = {{"Authorization", value}};
    auto text = RequestText(call);
    ASSERT_FALSE(text.ok());
    EXPECT_THAT(text.status().message, HasSubstr("Authorization"));
    EXPECT_THAT(text.status().message, Not(HasSubstr("secret")));
  }
}

TEST(RequestText, WhatCannotBeSentIsRefused) {
  for (const char* path : {"", "pick", "/a b", "/a\r\nX: y", "/a\x7f"}) {
    api::HttpCall call = Simple();
    call.path = path;
    EXPECT_FALSE(RequestText(call).ok()) << path;
  }
  for (const char* name : {"", "a b", "a:", "\xc3\xa4", "Content-Length", "transfer-encoding", "Connection"}) {
    api::HttpCall call = Simple();
    call.headers = {{name, "1"}};
    EXPECT_FALSE(RequestText(call).ok()) << name;
  }
  api::HttpCall call = Simple();
  call.host = "a b";
  EXPECT_FALSE(RequestText(call).ok());
}

}  // namespace
}  // namespace terrarium::testbed::internal

// The requests of the client: their text, and requests that it refuses to send.

#include <cstdlib>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "testbed/control_plane/http_client/http_url.h"
#include "tests/testbed/control_plane/http_client/http_calls.h"
#include "tests/testbed/control_plane/http_client/misbehaving_server.h"

namespace terrarium::testbed {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;

constexpr const char* kGood = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";

class HttpRequestsTest : public testing::Test {
 protected:
  // All calls go to the server, whatever host they name.
  std::unique_ptr<api::HttpCaller> Leading() {
    auto port = static_cast<std::uint16_t>(std::stoi(server.port()));
    return MakeCaller({.locate = [port](const api::HttpCall&) { return CallTarget{"127.0.0.1", port}; }});
  }
  std::string SentFor(const api::HttpCall& call) {
    std::size_t before = server.requests().size();
    api::HttpAnswer answer = Ask(*caller, call);
    EXPECT_EQ(answer.outcome, Outcome::kAnswered) << answer.error;
    auto requests = server.requests();
    EXPECT_EQ(requests.size(), before + 1);
    return requests.size() > before ? requests.back() : "";
  }
  void ExpectNotSent(const api::HttpCall& call, const std::string& what) {
    api::HttpAnswer answer = Ask(*caller, call);
    EXPECT_EQ(answer.outcome, Outcome::kMalformed) << what;
    EXPECT_THAT(answer.error, HasSubstr("cannot be"));
    EXPECT_THAT(server.requests(), SizeIs(0)) << what;
  }
  static api::HttpCall Simple() {
    api::HttpCall call = CallTo("8080");
    call.host = "picker.default.svc";
    call.path = "/pick?x=1";
    return call;
  }

  MisbehavingServer server{AnswerWith(kGood)};
  std::unique_ptr<api::HttpCaller> caller = Leading();
};

TEST_F(HttpRequestsTest, APostOfJson) {
  EXPECT_EQ(SentFor(Simple()),
            "POST /pick?x=1 HTTP/1.1\r\n"
            "Host: picker.default.svc:8080\r\n"
            "User-Agent: terrarium\r\n"
            "Content-Type: application/json\r\n"
            "Accept: application/json\r\n"
            "Accept-Encoding: identity\r\n"
            "Connection: close\r\n"
            "Content-Length: 2\r\n"
            "\r\n"
            "{}");
}

TEST_F(HttpRequestsTest, AGet) {
  api::HttpCall call = Simple();
  call.method = api::HttpCall::Method::kGet;
  call.body = "";
  EXPECT_EQ(SentFor(call),
            "GET /pick?x=1 HTTP/1.1\r\n"
            "Host: picker.default.svc:8080\r\n"
            "User-Agent: terrarium\r\n"
            "Accept: application/json\r\n"
            "Accept-Encoding: identity\r\n"
            "Connection: close\r\n"
            "\r\n");
}

TEST_F(HttpRequestsTest, ThePathIsSentAsItIs) {
  for (const char* path :
       {"/", "/a/../b/./c", "/a#b", "/a?b?c", "//a", "/a%2fb%zz", "/\xc3\xa4", "/a{b}[c]"}) {
    api::HttpCall call = Simple();
    call.path = path;
    EXPECT_THAT(SentFor(call), testing::StartsWith("POST " + std::string(path) + " HTTP/1.1\r\n"));
  }
}

TEST_F(HttpRequestsTest, TheHostIsWrittenAsInAUrl) {
  struct {
    const char *host, *port, *written;
  } cases[] = {{"a.test", "80", "Host: a.test\r\n"},       {"a.test", "443", "Host: a.test:443\r\n"},
               {"a.test", "http", "Host: a.test\r\n"},     {"::1", "8080", "Host: [::1]:8080\r\n"},
               {"[::1]", "80", "Host: [::1]\r\n"},         {"a.test.", "8080", "Host: a.test.:8080\r\n"},
               {"127.0.0.9", "1", "Host: 127.0.0.9:1\r\n"}};
  for (const auto& each : cases) {
    api::HttpCall call = Simple();
    call.host = each.host;
    call.port = each.port;
    EXPECT_THAT(SentFor(call), HasSubstr(each.written));
  }
}

TEST_F(HttpRequestsTest, TheUsersHeadersComeInTheirOrderAndInsteadOfOurs) {
  api::HttpCall call = Simple();
  call.headers = {{"X-Key", "a"}, {"host", "b.test"}, {"X-Key", ""}, {"ACCEPT", "*/*"}, {"User-Agent", "me"}};
  std::string text = SentFor(call);
  EXPECT_THAT(text, HasSubstr("\r\nX-Key: a\r\nX-Key:\r\nACCEPT: */*\r\nUser-Agent: me\r\n"));
  EXPECT_THAT(text, HasSubstr("\r\nHost: b.test\r\n"));
  EXPECT_THAT(text, Not(HasSubstr("picker.default.svc")));
  EXPECT_THAT(text, Not(HasSubstr("application/json\r\nAccept:")));
  EXPECT_THAT(text, Not(HasSubstr("terrarium")));
}

TEST_F(HttpRequestsTest, ALargeBodyIsSentWithoutAnExpectation) {
  api::HttpCall call = Simple();
  call.body = std::string(3'000'000, ' ');
  std::string text = SentFor(call);
  EXPECT_THAT(text, Not(HasSubstr("Expect")));
  EXPECT_EQ(text.size(), text.find("\r\n\r\n") + 4 + call.body.size());
}

// A Secret created with `echo` ends with a line feed.
TEST_F(HttpRequestsTest, AValueThatWouldBeginANewHeaderIsNeitherSentNorRepeated) {
  for (const char* value : {"secret\n", "secret\r\nX-Other: y", "secret\x7f"}) {
    api::HttpCall call = Simple();
    call.headers = {{"Authorization", value}};
    api::HttpAnswer answer = Ask(*caller, call);
    EXPECT_EQ(answer.outcome, Outcome::kMalformed);
    EXPECT_THAT(answer.error, HasSubstr("Authorization"));
    EXPECT_THAT(answer.error, Not(HasSubstr("secret")));
  }
  EXPECT_THAT(server.requests(), SizeIs(0));
}

TEST_F(HttpRequestsTest, WhatCannotBeSentIsRefused) {
  for (const char* path : {"", "pick", "/a b", "/a\r\nX: y", "/a\x7f"}) {
    api::HttpCall call = Simple();
    call.path = path;
    ExpectNotSent(call, path);
  }
  for (const char* name :
       {"", "a b", "a:", "\xc3\xa4", "Content-Length", "transfer-encoding", "Connection"}) {
    api::HttpCall call = Simple();
    call.headers = {{name, "1"}};
    ExpectNotSent(call, name);
  }
  for (const char* host : {"", "a b", "a/b", "user@a", "a?b", "a#b", "a\nb"}) {
    api::HttpCall call = Simple();
    call.host = host;
    ExpectNotSent(call, host);
  }
}

TEST_F(HttpRequestsTest, TheEnvironmentIsIgnored) {
  MisbehavingServer proxy(AnswerWith(kGood));
  std::string url = "http://127.0.0.1:" + proxy.port();
  for (const char* name : {"http_proxy", "https_proxy", "all_proxy", "HTTPS_PROXY", "ALL_PROXY"})
    setenv(name, url.c_str(), 1);
  SentFor(Simple());
  for (const char* name : {"http_proxy", "https_proxy", "all_proxy", "HTTPS_PROXY", "ALL_PROXY"})
    unsetenv(name);
  EXPECT_THAT(proxy.requests(), SizeIs(0));
}

TEST_F(HttpRequestsTest, NoCookiesAreKept) {
  MisbehavingServer setting(AnswerWith("HTTP/1.1 200 OK\r\nSet-Cookie: a=b\r\nContent-Length: 2\r\n\r\n{}"));
  auto same = MakeCaller({});
  Ask(*same, CallTo(setting.port()));
  Ask(*same, CallTo(setting.port()));
  ASSERT_THAT(setting.requests(), SizeIs(2));
  EXPECT_THAT(setting.requests()[1], Not(HasSubstr("Cookie")));
}

TEST(ParseHttpUrl, TakesHttpAndHttps) {
  struct {
    const char* url;
    bool tls;
    const char *host, *authority, *path;
  } cases[] = {{"http://127.0.0.1:8080", false, "127.0.0.1", "127.0.0.1:8080", ""},
               {"https://a.test", true, "a.test", "a.test:443", ""},
               {"http://a.test/", false, "a.test", "a.test:80", ""},
               {"https://[::1]:6443/clusters/a/", true, "::1", "[::1]:6443", "/clusters/a"}};
  for (const auto& each : cases) {
    auto url = ParseHttpUrl(each.url);
    ASSERT_TRUE(url.ok()) << each.url;
    EXPECT_EQ(url->tls, each.tls);
    EXPECT_EQ(url->host, each.host);
    EXPECT_EQ(url->Authority(), each.authority);
    EXPECT_EQ(url->path, each.path);
  }
  for (const char* url : {"", "a.test:80", "ftp://a.test", "file:///etc/hosts", "http://", "http://a:70000",
                          "http://a:0", "http://user:secret@a.test", "http://a.test/?x=1", "http://a b"})
    EXPECT_FALSE(ParseHttpUrl(url).ok()) << url;
}

}  // namespace
}  // namespace terrarium::testbed

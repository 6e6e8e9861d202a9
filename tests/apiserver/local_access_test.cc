#include "apiserver/local_access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace terrarium::apiserver {
namespace {

using ::testing::HasSubstr;

Request With(std::string host, std::string origin = "") {
  Request request;
  request.host = std::move(host);
  request.origin = std::move(origin);
  return request;
}

bool Passes(const LocalAccess& access, const Request& request) { return access.Check(request).ok(); }

TEST(LocalAccess, LoopbackHostsPassOnAnyPort) {
  for (const char* host : {"localhost", "localhost:8080", "LocalHost:1", "127.0.0.1", "127.0.0.1:8080",
                           "127.8.9.10:65535", "[::1]", "[::1]:8080", "[0:0:0:0:0:0:0:1]:8080"})
    EXPECT_TRUE(Passes({}, With(host))) << host;
}

TEST(LocalAccess, ARequestWithoutHostComesFromNoBrowser) { EXPECT_TRUE(Passes({}, With(""))); }

TEST(LocalAccess, EveryOtherHostIsRefused) {
  for (const char* host : {"evil.example",
                           "evil.example:8080",
                           "localhost.evil.example",
                           "127.0.0.1.evil.example",
                           "evil.example.localhost",
                           "10.0.0.1",
                           "128.0.0.1",
                           "0.0.0.0:8080",
                           "[::]:8080",
                           "[fe80::1]",
                           "[::ffff:10.0.0.1]",
                           "2130706433",
                           "0x7f000001",
                           "127.1",
                           "localhost:8080@evil.example",
                           "evil.example/localhost",
                           "[::1",
                           "[::1]x",
                           "localhost:",
                           "localhost:80x",
                           "localhost:123456",
                           ":8080",
                           " "}) {
    auto checked = LocalAccess{}.Check(With(host));
    ASSERT_FALSE(checked.ok()) << host;
    EXPECT_EQ(checked.status().code, 403);
    EXPECT_THAT(checked.status().message, HasSubstr("is not a loopback address"));
  }
}

TEST(LocalAccess, TheAddressThatTheServerListensOnPasses) {
  EXPECT_TRUE(Passes({.address = "fd00::7"}, With("[fd00::7]:8080")));
  EXPECT_FALSE(Passes({.address = "fd00::7"}, With("[fd00::8]:8080")));
}

TEST(LocalAccess, OnlyPagesOfTheServerItselfPass) {
  struct Case {
    const char* host;
    const char* origin;
    bool passes;
  };
  for (const Case& c : std::initializer_list<Case>{
           {"localhost:8080", "http://localhost:8080", true},
           {"127.0.0.1:8080", "http://127.0.0.1:8080", true},
           {"[::1]:8080", "http://[::1]:8080", true},
           {"localhost:8443", "https://localhost:8443", true},
           {"localhost", "http://localhost", true},
           {"localhost:80", "http://localhost", true},
           {"localhost", "http://localhost:80", true},
           {"localhost:8080", "http://LOCALHOST:8080", true},
           {"localhost:8080", "http://localhost:3000", false},  // another program on the same machine
           {"localhost:8080", "http://127.0.0.1:8080", false},
           {"localhost:8080", "http://localhost", false},
           {"localhost:8080", "http://evil.example", false},
           {"localhost:8080", "https://evil.example:8080", false},
           {"localhost:8080", "http://localhost:8080.evil.example", false},
           {"localhost:8080", "http://localhost:8080@evil.example", false},
           {"localhost:8080", "http://localhost:8080/", false},
           {"localhost:8080", "null", false},  // a sandboxed frame or a file
           {"localhost:8080", "file://", false},
           {"localhost:8080", "chrome-extension://localhost:8080", false},
           {"localhost:8080", "http://", false},
           {"", "http://localhost:8080", false},
       })
    EXPECT_EQ(Passes({}, With(c.host, c.origin)), c.passes) << c.host << " " << c.origin;
}

TEST(LocalAccess, CredentialsTakeThePlaceOfTheChecks) {
  const LocalAccess certificates{.check_host = false, .check_origin = true};
  EXPECT_TRUE(Passes(certificates, With("cluster.example:6443")));
  EXPECT_TRUE(Passes(certificates, With("cluster.example:6443", "https://cluster.example:6443")));
  EXPECT_FALSE(Passes(certificates, With("cluster.example:6443", "https://evil.example")));
  const LocalAccess tokens{.check_host = false, .check_origin = false};
  EXPECT_TRUE(Passes(tokens, With("cluster.example:6443", "https://evil.example")));
}

}  // namespace
}  // namespace terrarium::apiserver

#include "testbed/control_plane/host_allow_list.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace terrarium::testbed {
namespace {

using testing::HasSubstr;

bool Allows(std::string_view list, std::string_view host, std::optional<std::uint16_t> port = 80) {
  auto parsed = HostAllowList::Parse(list);
  EXPECT_TRUE(parsed.ok()) << list;
  return parsed->Allows(host, port);
}

TEST(HostAllowList, ByDefaultLoopbackAndServices) {
  for (const char* host : {"localhost", "LOCALHOST", "localhost.", "127.0.0.1", "127.255.255.254", "::1",
                           "[::1]", "::ffff:127.0.0.1", "0:0:0:0:0:0:0:1", "picker.default.svc",
                           "picker.default.svc.cluster.local", "Picker.Default.SVC."}) {
    EXPECT_TRUE(HostAllowList::Default().Allows(host, 80)) << host;
    EXPECT_TRUE(HostAllowList::Default().Allows(host, std::nullopt)) << host;
  }
  for (const char* host : {"",
                           "example.com",
                           "128.0.0.1",
                           "126.255.255.255",
                           "10.0.0.1",
                           "169.254.169.254",
                           "0.0.0.0",
                           "::",
                           "::2",
                           "::ffff:10.0.0.1",
                           "svc",
                           ".svc",
                           "picker.default.svc.example.com",
                           "xsvc",
                           "a.localhost",
                           "localhost.example.com",
                           "127.0.0.1.example.com",
                           "2130706433",
                           "127.1",
                           "0x7f.0.0.1"})
    EXPECT_FALSE(HostAllowList::Default().Allows(host, 80)) << host;
}

TEST(HostAllowList, ANameIsThatNameAlone) {
  EXPECT_TRUE(Allows("picker.example.com", "Picker.Example.COM."));
  EXPECT_FALSE(Allows("picker.example.com", "a.picker.example.com"));
  EXPECT_FALSE(Allows("picker.example.com", "example.com"));
}

TEST(HostAllowList, ASuffixIsEveryNameBelowAndNotItself) {
  EXPECT_TRUE(Allows("*.example.com", "a.example.com"));
  EXPECT_TRUE(Allows("*.example.com", "b.a.example.com"));
  EXPECT_FALSE(Allows("*.example.com", "example.com"));
  EXPECT_FALSE(Allows("*.example.com", "aexample.com"));
}

TEST(HostAllowList, Networks) {
  EXPECT_TRUE(Allows("10.0.0.0/8", "10.255.0.1"));
  EXPECT_FALSE(Allows("10.0.0.0/8", "11.0.0.1"));
  EXPECT_TRUE(Allows("10.1.2.128/25", "10.1.2.200"));
  EXPECT_FALSE(Allows("10.1.2.128/25", "10.1.2.100"));
  EXPECT_TRUE(Allows("0.0.0.0/0", "8.8.8.8"));
  EXPECT_FALSE(Allows("0.0.0.0/0", "::1"));
  EXPECT_TRUE(Allows("fd00::/8", "fdff::1"));
  EXPECT_FALSE(Allows("fd00::/8", "fe80::1"));
  EXPECT_TRUE(Allows("192.168.1.7", "192.168.1.7"));
  EXPECT_FALSE(Allows("192.168.1.7", "192.168.1.8"));
}

TEST(HostAllowList, AnItemWithAPortIsForThatPortAlone) {
  EXPECT_TRUE(Allows("a.test:443", "a.test", 443));
  EXPECT_FALSE(Allows("a.test:443", "a.test", 80));
  EXPECT_FALSE(Allows("a.test:443", "a.test", std::nullopt));
  EXPECT_TRUE(Allows("a.test:443, a.test:80", "a.test", 80));
  EXPECT_TRUE(Allows("[::1]:443", "::1", 443));
  EXPECT_FALSE(Allows("[::1]:443", "::1", 80));
  EXPECT_TRUE(Allows("10.0.0.0/8:443", "10.1.1.1", 443));
  EXPECT_TRUE(Allows("[fd00::/8]:443", "fd00::1", 443));
  EXPECT_TRUE(Allows("*.test:443", "a.test", 443));
}

TEST(HostAllowList, EverythingAndNothing) {
  EXPECT_TRUE(Allows("*", "anything.example.com"));
  EXPECT_TRUE(Allows("*", "169.254.169.254"));
  EXPECT_FALSE(Allows("", "localhost"));
  EXPECT_FALSE(Allows("  ", "localhost"));
}

TEST(HostAllowList, MalformedItemsAreRefusedByName) {
  for (const char* item : {"a b", "a.test:0", "a.test:65536", "a.test:http", "a.test:", "*a.test", "a.*.test",
                           "*.", "10.0.0.0/33", "10.0.0.0/", "10.0.0.0/-1", "10.0.0.0/x", "fd00::/129",
                           "http://a.test", "a.test/x", "[::1]:x"}) {
    auto parsed = HostAllowList::Parse("localhost," + std::string(item));
    ASSERT_FALSE(parsed.ok()) << item;
    EXPECT_THAT(parsed.status().message, HasSubstr(item));
  }
  EXPECT_FALSE(HostAllowList::Parse("a.test,").ok());
  EXPECT_FALSE(HostAllowList::Parse(",a.test").ok());
}

}  // namespace
}  // namespace terrarium::testbed

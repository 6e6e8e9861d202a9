#include "apiserver/validation/formats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/apiserver/pod_fixture.h"

namespace terrarium::apiserver {
namespace {

using api::Path;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::Texts;

TEST(Formats, DnsNames) {
  EXPECT_THAT(IsDns1123Label("a-1"), IsEmpty());
  EXPECT_THAT(IsDns1123Label("a.b"), ElementsAre("must not contain dots"));
  EXPECT_THAT(IsDns1123Label("A_b"), ElementsAre("a lowercase RFC 1123 label must consist of lower case "
                                                 "alphanumeric characters or '-', and must start "
                                                 "and end with an alphanumeric character (e.g. 'my-name',  "
                                                 "or '123-abc', regex used for validation is "
                                                 "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"));
  EXPECT_EQ(IsDns1123Label(std::string(64, 'a')).size(), 1u);
  EXPECT_EQ(IsDns1123Label("").size(), 1u);
  EXPECT_THAT(IsDns1123Subdomain("a.b-c.d"), IsEmpty());
  for (const char* bad : {"", ".a", "a.", "a..b", "a_b", "-a", "a-.b"})
    EXPECT_EQ(IsDns1123Subdomain(bad).size(), 1u) << bad;
  EXPECT_THAT(IsDns1123SubdomainWithUnderscore("_a.b_c"), IsEmpty());
  EXPECT_EQ(IsDns1123SubdomainWithUnderscore("a_").size(), 1u);
  EXPECT_THAT(IsDns1035Label("a1"), IsEmpty());
  EXPECT_EQ(IsDns1035Label("1a").size(), 1u);
}

TEST(Formats, PathSegments) {
  EXPECT_THAT(IsValidPathSegmentName("a:b"), IsEmpty());
  EXPECT_THAT(IsValidPathSegmentName(".."), ElementsAre("may not be '..'"));
  EXPECT_THAT(IsValidPathSegmentName("a/%"), ElementsAre("may not contain '/'", "may not contain '%'"));
}

TEST(Formats, Ports) {
  EXPECT_THAT(IsValidPortName("http-2"), IsEmpty());
  EXPECT_THAT(IsValidPortName("80"), ElementsAre("must contain at least one letter (a-z)"));
  EXPECT_THAT(IsValidPortName("-a--b"),
              ElementsAre("must not contain consecutive hyphens", "must not begin or end with a hyphen"));
  EXPECT_THAT(IsValidPortNum(65535), IsEmpty());
  EXPECT_THAT(IsValidPortNum(65536), ElementsAre("must be between 1 and 65535, inclusive"));
  EXPECT_THAT(Texts(ValidatePortNumOrName(Json("web"), Path("p"))), IsEmpty());
  EXPECT_THAT(Texts(ValidatePortNumOrName(Json(), Path("p"))),
              ElementsAre("p: Invalid value: 0: must be between 1 and 65535, inclusive"));
}

TEST(Formats, EnvironmentAndConfigKeys) {
  EXPECT_THAT(IsEnvVarName("9 lives!"), IsEmpty());
  EXPECT_EQ(IsEnvVarName("a=b").size(), 1u);
  EXPECT_EQ(IsEnvVarName("\xc3\xa9").size(), 1u);
  EXPECT_THAT(IsConfigMapKey("a.b-c_D"), IsEmpty());
  EXPECT_THAT(IsConfigMapKey("..a"), ElementsAre("must not start with '..'"));
  EXPECT_EQ(IsConfigMapKey("a/b").size(), 1u);
  EXPECT_THAT(IsCIdentifier("_a9"), IsEmpty());
  EXPECT_EQ(IsCIdentifier("9a").size(), 1u);
}

TEST(Formats, NumbersOrPercentages) {
  EXPECT_THAT(Texts(ValidatePositiveIntOrPercent(Json("30%"), Path("x"))), IsEmpty());
  EXPECT_THAT(Texts(ValidatePositiveIntOrPercent(Json(-1), Path("x"))),
              ElementsAre("x: Invalid value: -1: must be greater than or equal to 0"));
  EXPECT_EQ(ValidatePositiveIntOrPercent(Json("-3%"), Path("x")).size(), 1u);
  EXPECT_THAT(Texts(IsNotMoreThan100Percent(Json("100%"), Path("x"))), IsEmpty());
  EXPECT_THAT(Texts(IsNotMoreThan100Percent(Json("99999999999999999999%"), Path("x"))),
              ElementsAre("x: Invalid value: \"99999999999999999999%\": must not be greater than 100%"));
  EXPECT_THAT(Texts(IsNotMoreThan100Percent(Json(500), Path("x"))), IsEmpty());
}

TEST(Formats, DomainPrefixedPaths) {
  EXPECT_THAT(Texts(IsDomainPrefixedPath("acme.io/foo/bar", Path("x"))), IsEmpty());
  EXPECT_THAT(
      Texts(IsDomainPrefixedPath("me", Path("x"))),
      ElementsAre("x: Invalid value: \"me\": must be a domain-prefixed path (such as \"acme.io/foo\")"));
  EXPECT_THAT(Texts(IsDomainPrefixedPath("", Path("x"))), ElementsAre("x: Required value"));
  EXPECT_THAT(Texts(IsDomainPrefixedPath("a.io/b c", Path("x"))),
              ElementsAre(R"(x: Invalid value: "b c": Invalid path (regex used for validation is )"
                          R"('[A-Za-z0-9/\-._~%!$&'()*+,;=:]+'))"));
}

TEST(IpAddresses, AreReadAsGoReadsThem) {
  for (const char* good : {"10.9.8.7", "0.0.0.0", "::", "::1", "2001:db8::ffff", "1:2:3:4:5:6:7:8",
                           "::1.2.3.4", "1:2:3:4:5:6:1.2.3.4", "1::8"}) {
    EXPECT_THAT(Texts(IsValidIp(good, Path("ip"))), IsEmpty()) << good;
  }
  for (const char* bad : {"", "1.2.3", "1.2.3.4.5", "256.1.1.1", "1:2:3:4:5:6:7", "1:2:3:4:5:6:7:8:9",
                          "1::2::3", ":1", "1:", "12345::", "g::", "fe80::1%eth0", "1:2:3:4:5:6:7::8"}) {
    EXPECT_THAT(Texts(IsValidIp(bad, Path("ip"))),
                ElementsAre("ip: Invalid value: " + api::Quote(bad) +
                            ": must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)"))
        << bad;
  }
}

TEST(IpAddresses, StrictFormIsAskedFor) {
  EXPECT_THAT(Texts(IsValidIp("010.1.1.1", Path("ip"))),
              ElementsAre("ip: Invalid value: \"010.1.1.1\": must not have leading 0s"));
  EXPECT_THAT(Texts(IsValidIp("::ffff:1.2.3.4", Path("ip"))),
              ElementsAre("ip: Invalid value: \"::ffff:1.2.3.4\": must not be an IPv4-mapped IPv6 address"));
}

TEST(IpAddresses, Ipv6IsBestWrittenCanonically) {
  EXPECT_THAT(IpWarnings("2001:db8::1", Path("ip")), IsEmpty());
  EXPECT_THAT(IpWarnings("2001:DB8:0:0:0:0:0:1", Path("ip")),
              ElementsAre("ip: IPv6 address \"2001:DB8:0:0:0:0:0:1\" should be in RFC 5952 canonical format "
                          "(\"2001:db8::1\")"));
  EXPECT_THAT(IpWarnings("1:0:0:2:0:0:0:3", Path("ip")).at(0), ::testing::HasSubstr("(\"1:0:0:2::3\")"));
  EXPECT_EQ(IpFamily("1.2.3.4"), 4);
  EXPECT_EQ(IpFamily("::1"), 6);
  EXPECT_EQ(IpFamily("x"), std::nullopt);
}

}  // namespace
}  // namespace terrarium::apiserver

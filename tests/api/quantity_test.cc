#include "api/base/quantity.h"

#include <gtest/gtest.h>

namespace terrarium::api {
namespace {

Quantity Q(std::string_view text) {
  std::string error;
  const auto q = Quantity::Parse(text, &error);
  EXPECT_TRUE(q.has_value()) << text << ": " << error;
  return q.value_or(Quantity());
}

std::string Why(std::string_view text) {
  std::string error;
  EXPECT_FALSE(Quantity::Parse(text, &error).has_value()) << text;
  return error;
}

// Left: the input. Right: what Kubernetes 1.36 (resource.ParseQuantity and String) prints for it.
TEST(Quantity, PrintsTheCanonicalForm) {
  const std::pair<const char*, const char*> cases[] = {
      {"0", "0"},
      {"0m", "0"},
      {"0Mi", "0"},
      {"00", "0"},
      {"-0", "0"},
      {"0.0", "0"},
      {"1", "1"},
      {"+1", "+1"},
      {"-1", "-1"},
      {"007", "007"},
      {"1000m", "1"},
      {"1500m", "1500m"},
      {"0.5", "500m"},
      {"0.1", "100m"},
      {"1.5", "1500m"},
      {"1.0", "1"},
      {"1.500", "1.500"},
      {"1.", "1."},
      {".5", "500m"},
      {"2.000", "2"},
      {"1000", "1k"},
      {"1500", "1500"},
      {"10000", "10k"},
      {"1000000", "1M"},
      {"100k", "100k"},
      {"1000k", "1M"},
      {"1024Mi", "1Gi"},
      {"1000Mi", "1000Mi"},
      {"100Mi", "100Mi"},
      {"1Ki", "1Ki"},
      {"1023Mi", "1023Mi"},
      {"0.5Ki", "512"},
      {"1.5Gi", "1536Mi"},
      {"0.5Gi", "512Mi"},
      {"8Ki", "8Ki"},
      {"16Gi", "16Gi"},
      {"1.1Ki", "1126400m"},
      {"1e3", "1e3"},
      {"1E3", "1E3"},
      {"1e0", "1e0"},
      {"1000e0", "1e3"},
      {"12e6", "12e6"},
      {"1e2", "100"},
      {"1.5e3", "1500"},
      {"1E", "1E"},
      {"100E", "100E"},
      {"1n", "1n"},
      {"0.1n", "1n"},
      {"1e-10", "1e-9"},
      {"1e-4", "100e-6"},
      {"1u", "1u"},
      {"0.0000000001", "1n"},
      {"123456789", "123456789"},
      {"123456789000", "123456789k"},
      {"9223372036854775807", "9223372036854775807"},
      {"9Ei", "9223372036854775807"},
      {"7Ei", "7Ei"},
      {"1234567890123456789012", "1234567890123456789012"},
  };
  for (const auto& [text, want] : cases) EXPECT_EQ(Q(text).ToString(), want) << text;
}

// 36 digits are kept. The zeros after them must not be lost with the suffix.
TEST(Quantity, APrintedQuantityOfManyDigitsHasTheSameValue) {
  const std::string digits(36, '7');
  for (const std::string zeros : {"", "0", "00", "000", "0000", "00000"}) {
    const Quantity quantity = Q(digits + zeros);
    EXPECT_EQ(Q(quantity.ToString()), quantity) << quantity.ToString();
  }
  EXPECT_EQ(Q(digits + "00000").ToString(), digits + "00k");
  EXPECT_EQ(Q("1" + std::string(200, '0')).ToString(), "100e198");
}

TEST(Quantity, RefusesWhatKubernetesRefuses) {
  const std::string format =
      "quantities must match the regular expression '^([+-]?[0-9.]+)([eEinumkKMGTP]*[-+]?[0-9]*)$'";
  for (const char* text : {"", "abc", "1x", "1 ", "1.2.3", "one", "1Gx", "0x10", "1gi", "1KI"}) {
    EXPECT_EQ(Why(text), format) << text;
  }
  for (const char* text : {"1mm", "1e", "1Kii", "e"}) {
    EXPECT_EQ(Why(text), "unable to parse quantity's suffix") << text;
  }
}

TEST(Quantity, AnExponentBeyondAnyNumberIsRefused) {
  EXPECT_EQ(Why("1e-2147483648"), "unable to parse quantity's suffix");
  EXPECT_EQ(Why("1e2147483647"), "unable to parse quantity's suffix");
  EXPECT_EQ(Why("1000e1000000"), "unable to parse quantity's suffix");
  EXPECT_EQ(Q("1000e999990").ToString(), "1e999993");
  EXPECT_EQ(Q("0e1000000").ToString(), "0");
}

TEST(Quantity, ComparesByValue) {
  EXPECT_EQ(Q("1"), Q("1000m"));
  EXPECT_EQ(Q("1Gi"), Q("1024Mi"));
  EXPECT_LT(Q("999m"), Q("1"));
  EXPECT_LT(Q("-2"), Q("-1"));
  EXPECT_LT(Q("-1"), Q("0"));
  EXPECT_GT(Q("1Gi"), Q("1G"));
  EXPECT_LT(Q("1e300"), Q("1e301"));
  EXPECT_GT(Q("1e300"), Q("1n"));
}

TEST(Quantity, AddsAndSubtracts) {
  Quantity sum;
  sum.Add(Q("512Mi"));
  sum.Add(Q("512Mi"));
  EXPECT_EQ(sum.ToString(), "1Gi");
  sum.Sub(Q("1Gi"));
  EXPECT_EQ(sum.Sign(), 0);
  EXPECT_EQ(sum.ToString(), "0");
  Quantity cpu = Q("1");
  cpu.Add(Q("250m"));
  EXPECT_EQ(cpu.ToString(), "1250m");
  cpu.Sub(Q("2"));
  EXPECT_EQ(cpu.ToString(), "-750m");
}

TEST(Quantity, RoundsUpAndConverts) {
  Quantity q = Q("1u");
  q.RoundUp(-3);
  EXPECT_EQ(q.ToString(), "1m");
  EXPECT_EQ(Q("1500m").Value(), 2);
  EXPECT_EQ(Q("1500m").MilliValue(), 1500);
  EXPECT_EQ(Q("-1500m").Value(), -2);
  EXPECT_EQ(Q("1Gi").Value(), 1073741824);
  EXPECT_EQ(Q("1e40").Value(), std::numeric_limits<std::int64_t>::max());
}

// A binary quantity that no power of 1024 divides has no suffix, and its text is then read as a decimal one.
TEST(Quantity, PrintsAnUnevenBinaryQuantityWithoutSuffix) {
  EXPECT_EQ(Q("1000.9765625Ki").ToString(), "1025000");
  EXPECT_EQ(Q("1025000").ToString(), "1025k");
}

}  // namespace
}  // namespace terrarium::api

#include <gtest/gtest.h>

#include "apiserver/internal/quota.h"

namespace terrarium::apiserver {
namespace {

using Kind = QuotaVerdict::Kind;

Json Pod(const char* resources) {
  return {{"spec", {{"containers", {{{"name", "c"}, {"resources", Json::parse(resources)}}}}}},
          {"status", {{"qosClass", "Burstable"}}}};
}

QuotaVerdict Judge(const char* quota, const Json& pod) {
  Json document = Json::parse(quota);
  document["metadata"] = {{"name", "q"}};
  return JudgeQuota(document, api::QuotaSubjectOf({"", "pods"}, pod, {}));
}

constexpr const char* kNothing = "{}";
constexpr const char* kHalfACpu = R"({"requests":{"cpu":"500m"}})";

TEST(QuotaVerdict, WhatFitsIsReserved) {
  const QuotaVerdict verdict = Judge(
      R"({"status":{"hard":{"pods":"2","requests.cpu":"1"},"used":{"pods":"1","requests.cpu":"500m"}}})",
      Pod(kHalfACpu));
  EXPECT_EQ(verdict.kind, Kind::kFits);
  EXPECT_EQ(api::WriteResourceList(verdict.taken).dump(), R"({"pods":"1","requests.cpu":"500m"})");
}

TEST(QuotaVerdict, WhatDoesNotFitIsRefusedWithTheResourcesThatAreExceeded) {
  const QuotaVerdict verdict = Judge(
      R"({"status":{"hard":{"pods":"2","requests.cpu":"1"},"used":{"pods":"2","requests.cpu":"500m"}}})",
      Pod(kHalfACpu));
  EXPECT_EQ(verdict.kind, Kind::kExceeded);
  EXPECT_EQ(verdict.why, "exceeded quota: q, requested: pods=1, used: pods=2, limited: pods=2");
}

TEST(QuotaVerdict, SeveralResourcesAreNamedInOrder) {
  EXPECT_EQ(
      Judge(
          R"({"status":{"hard":{"requests.cpu":"1","pods":"0"},"used":{"requests.cpu":"600m","pods":"0"}}})",
          Pod(kHalfACpu))
          .why,
      "exceeded quota: q, requested: pods=1,requests.cpu=500m, used: pods=0,requests.cpu=600m, limited: "
      "pods=0,requests.cpu=1");
}

TEST(QuotaVerdict, EveryContainerMustSpecifyCpuAndMemory) {
  const QuotaVerdict verdict =
      Judge(R"({"status":{"hard":{"limits.cpu":"1","requests.memory":"1Gi"},"used":{}}})", Pod(kNothing));
  EXPECT_EQ(verdict.kind, Kind::kRefused);
  EXPECT_EQ(verdict.why, "failed quota: q: must specify limits.cpu for: c; requests.memory for: c");
  EXPECT_EQ(
      Judge(R"({"status":{"hard":{"limits.ephemeral-storage":"1"},"used":{"limits.ephemeral-storage":"0"}}})",
            Pod(kNothing))
          .kind,
      Kind::kNotCounted);
}

TEST(QuotaVerdict, NothingIsAdmittedBeforeTheControllerHasCounted) {
  const QuotaVerdict verdict =
      Judge(R"({"status":{"hard":{"pods":"2","count/pods":"2"},"used":{"pods":"0"}}})", Pod(kNothing));
  EXPECT_EQ(verdict.kind, Kind::kRefused);
  EXPECT_EQ(verdict.why, "status unknown for quota: q, resources: count/pods,pods");
}

TEST(QuotaVerdict, LimitsThatTheControllerHasNotSeenAreNotKept) {
  EXPECT_EQ(Judge(R"({"spec":{"hard":{"pods":"0"}},"status":{}})", Pod(kNothing)).kind, Kind::kNotCounted);
}

TEST(QuotaVerdict, OtherScopesAndOtherResourcesDoNotConcernIt) {
  EXPECT_EQ(Judge(R"({"spec":{"scopes":["BestEffort"]},"status":{"hard":{"pods":"0"},"used":{"pods":"0"}}})",
                  Pod(kNothing))
                .kind,
            Kind::kNotCounted);
  EXPECT_EQ(Judge(R"({"status":{"hard":{"secrets":"0"},"used":{"secrets":"0"}}})", Pod(kNothing)).kind,
            Kind::kNotCounted);
}

// An exhausted resource stays exhausted, and does not reject a request that needs none of it.
TEST(QuotaVerdict, AnExceededResourceRefusesOnlyRequestsThatUseIt) {
  const char* quota = R"({"status":{"hard":{"pods":"9","requests.ephemeral-storage":"1"},
                                    "used":{"pods":"1","requests.ephemeral-storage":"5"}}})";
  EXPECT_EQ(Judge(quota, Pod(kNothing)).kind, Kind::kFits);
  EXPECT_EQ(Judge(quota, Pod(R"({"requests":{"ephemeral-storage":"1"}})")).kind, Kind::kExceeded);
}

}  // namespace
}  // namespace terrarium::apiserver

#include "controllers/resource_quota/internal/usage_ledger.h"

#include <gtest/gtest.h>

namespace terrarium::controllers::resource_quota {
namespace {

using api::Json;

constexpr std::size_t kPods = 0;
constexpr std::size_t kSecrets = 1;

class Ledger : public testing::Test {
 protected:
  static api::QuotaSubject Pod(const char* cpu, const char* phase = "Running", bool best_effort = false) {
    Json pod = {{"spec", {{"containers", {{{"name", "c"}, {"resources", {{"requests", {{"cpu", cpu}}}}}}}}}},
                {"status", {{"phase", phase}, {"qosClass", best_effort ? "BestEffort" : "Burstable"}}}};
    return api::QuotaSubjectOf({"", "pods"}, pod, {});
  }
  static api::QuotaSubject Secret() { return api::QuotaSubjectOf({"", "secrets"}, Json::object(), {}); }
  std::string Counted(const char* quota) { return Text(ledger_.Find({"ns", quota})->counted); }
  std::string Released(const char* quota) { return Text(ledger_.Find({"ns", quota})->released); }
  static std::string Text(const ResourceList& list) { return api::WriteResourceList(list).dump(); }

  UsageLedger ledger_{{{"", "pods"}, {"", "secrets"}}};
};

TEST_F(Ledger, CountsUnderTheNamesOfTheLimitsThatMeanSomethingHere) {
  ledger_.PutQuota({"ns", "q"},
                   Json::parse(R"({"hard":{"pods":"2","requests.cpu":"1","count/widgets.example":"1"}})"));
  EXPECT_EQ(Counted("q"), R"({"pods":"0","requests.cpu":"0"})");
  EXPECT_TRUE(ledger_.Counts("ns", kPods));
  EXPECT_FALSE(ledger_.Counts("ns", kSecrets));
  EXPECT_FALSE(ledger_.Counts("other", kPods));
  EXPECT_EQ(ledger_.Put(kPods, {"ns", "a"}, Pod("500m")), (std::vector<ObjectName>{{"ns", "q"}}));
  ledger_.Put(kPods, {"ns", "b"}, Pod("250m"));
  EXPECT_EQ(Counted("q"), R"({"pods":"2","requests.cpu":"750m"})");
  EXPECT_EQ(Released("q"), "{}");
}

TEST_F(Ledger, WhatGoesAndWhatEndsIsReleased) {
  ledger_.PutQuota({"ns", "q"}, Json::parse(R"({"hard":{"pods":"2","count/pods":"9"}})"));
  ledger_.Put(kPods, {"ns", "a"}, Pod("1"));
  ledger_.Put(kPods, {"ns", "b"}, Pod("1"));
  EXPECT_TRUE(ledger_.Put(kPods, {"ns", "b"}, Pod("1")).empty());
  EXPECT_EQ(ledger_.Put(kPods, {"ns", "b"}, Pod("1", "Failed")).size(), 1u);
  EXPECT_EQ(Counted("q"), R"({"count/pods":"2","pods":"1"})");
  EXPECT_EQ(Released("q"), R"({"pods":"1"})");
  ledger_.Remove(kPods, {"ns", "a"});
  EXPECT_EQ(Counted("q"), R"({"count/pods":"1","pods":"0"})");
  EXPECT_EQ(Released("q"), R"({"count/pods":"1","pods":"2"})");
  EXPECT_TRUE(ledger_.Remove(kPods, {"ns", "a"}).empty());
}

TEST_F(Ledger, AQuotaCountsOnlyWhatIsInItsScopes) {
  ledger_.PutQuota({"ns", "idle"}, Json::parse(R"({"hard":{"pods":"2"},"scopes":["BestEffort"]})"));
  ledger_.PutQuota({"ns", "all"}, Json::parse(R"({"hard":{"pods":"2"}})"));
  EXPECT_EQ(ledger_.Put(kPods, {"ns", "a"}, Pod("1")), (std::vector<ObjectName>{{"ns", "all"}}));
  EXPECT_EQ(ledger_.Put(kPods, {"ns", "b"}, Pod("0", "Running", true)),
            (std::vector<ObjectName>{{"ns", "all"}, {"ns", "idle"}}));
  EXPECT_EQ(Counted("idle"), R"({"pods":"1"})");
}

TEST_F(Ledger, ALaterQuotaAndOtherLimitsCountWhatIsKnown) {
  ledger_.PutQuota({"ns", "q"}, Json::parse(R"({"hard":{"pods":"2"}})"));
  ledger_.Put(kPods, {"ns", "a"}, Pod("1"));
  ledger_.PutQuota({"ns", "late"}, Json::parse(R"({"hard":{"requests.cpu":"2"}})"));
  EXPECT_EQ(Counted("late"), R"({"requests.cpu":"1"})");
  ledger_.PutQuota({"ns", "q"}, Json::parse(R"({"hard":{"pods":"3","secrets":"1"}})"));
  ledger_.Put(kSecrets, {"ns", "s"}, Secret());
  EXPECT_EQ(Counted("q"), R"({"pods":"1","secrets":"1"})");
}

TEST_F(Ledger, OnlyAnotherChoiceOfObjectsAsksForARecount) {
  const ObjectName q{"ns", "q"};
  EXPECT_TRUE(ledger_.PutQuota(q, Json::parse(R"({"hard":{"pods":"2"}})")).recount);
  ledger_.Find(q)->recount = false;
  EXPECT_FALSE(ledger_.PutQuota(q, Json::parse(R"({"hard":{"pods":"3"}})")).recount);
  EXPECT_TRUE(ledger_
                  .PutQuota(q, Json::parse(R"({"hard":{"pods":"3"},"scopeSelector":{"matchExpressions":[
                                       {"scopeName":"BestEffort","operator":"Exists"}]}})"))
                  .recount);
}

TEST_F(Ledger, ANamespaceIsForgottenWithItsLastQuota) {
  ledger_.PutQuota({"ns", "a"}, Json::parse(R"({"hard":{"pods":"2"}})"));
  ledger_.PutQuota({"ns", "b"}, Json::parse(R"({"hard":{"pods":"2"}})"));
  ledger_.RemoveQuota({"ns", "a"});
  EXPECT_EQ(ledger_.Quotas(), (std::vector<ObjectName>{{"ns", "b"}}));
  ledger_.RemoveQuota({"ns", "b"});
  EXPECT_FALSE(ledger_.Counts("ns", kPods));
  EXPECT_EQ(ledger_.Find({"ns", "b"}), nullptr);
}

}  // namespace
}  // namespace terrarium::controllers::resource_quota

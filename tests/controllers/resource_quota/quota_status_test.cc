#include "controllers/resource_quota/internal/quota_status.h"

#include <gtest/gtest.h>

namespace terrarium::controllers::resource_quota {
namespace {

using api::Json;

ResourceList List(const char* text) { return api::ReadResourceList(Json::parse(text)); }

QuotaAccount Account(const char* hard, const char* counted, const char* released = "{}",
                     bool recount = false) {
  QuotaAccount account;
  account.spec = {{"hard", Json::parse(hard)}};
  account.hard = List(hard);
  account.counted = List(counted);
  account.released = List(released);
  account.recount = recount;
  return account;
}

// The status, or "same".
std::string Next(const char* status, const QuotaAccount& account) {
  auto next = NextStatus({{"spec", account.spec}, {"status", Json::parse(status)}}, account);
  return next ? next->dump() : "same";
}

TEST(QuotaStatus, ANewQuotaIsCounted) {
  EXPECT_EQ(Next("{}", Account(R"({"pods":"2"})", R"({"pods":"1"})", "{}", true)),
            R"({"hard":{"pods":"2"},"used":{"pods":"1"}})");
}

TEST(QuotaStatus, ACorrectStatusIsNotWritten) {
  const char* status = R"({"hard":{"requests.cpu":"1"},"used":{"requests.cpu":"500m"}})";
  EXPECT_EQ(Next(status, Account(R"({"requests.cpu":"1"})", R"({"requests.cpu":"500m"})")), "same");
  // In every notation.
  EXPECT_EQ(Next(status, Account(R"({"requests.cpu":"1000m"})", R"({"requests.cpu":"0.5"})")), "same");
  EXPECT_EQ(Next("{}", Account("{}", "{}", "{}", true)), "same");
}

TEST(QuotaStatus, DeletedObjectsAreReleased) {
  EXPECT_EQ(Next(R"({"hard":{"pods":"2"},"used":{"pods":"2"}})",
                 Account(R"({"pods":"2"})", R"({"pods":"1"})", R"({"pods":"1"})")),
            R"({"hard":{"pods":"2"},"used":{"pods":"1"}})");
}

TEST(QuotaStatus, AReservationForAnObjectInFlightIsKept) {
  EXPECT_EQ(
      Next(R"({"hard":{"pods":"2"},"used":{"pods":"2"}})", Account(R"({"pods":"2"})", R"({"pods":"1"})")),
      "same");
  EXPECT_EQ(Next(R"({"hard":{"pods":"2"},"used":{"pods":"2"}})",
                 Account(R"({"pods":"2"})", R"({"pods":"0"})", R"({"pods":"1"})")),
            R"({"hard":{"pods":"2"},"used":{"pods":"1"}})");
}

TEST(QuotaStatus, ExistingObjectsAreCountedWithoutAReservation) {
  EXPECT_EQ(
      Next(R"({"hard":{"pods":"2"},"used":{"pods":"1"}})", Account(R"({"pods":"2"})", R"({"pods":"3"})")),
      R"({"hard":{"pods":"2"},"used":{"pods":"3"}})");
}

TEST(QuotaStatus, ARecountDropsReservations) {
  EXPECT_EQ(Next(R"({"hard":{"pods":"2"},"used":{"pods":"2"}})",
                 Account(R"({"pods":"2"})", R"({"pods":"1"})", "{}", true)),
            R"({"hard":{"pods":"2"},"used":{"pods":"1"}})");
}

TEST(QuotaStatus, LimitsThatComeAndGoTakeTheirUsageAlong) {
  EXPECT_EQ(Next(R"({"hard":{"pods":"2","secrets":"1"},"used":{"pods":"1","secrets":"1"}})",
                 Account(R"({"pods":"5","configmaps":"3"})", R"({"pods":"1","configmaps":"2"})")),
            R"({"hard":{"configmaps":"3","pods":"5"},"used":{"configmaps":"2","pods":"1"}})");
}

TEST(QuotaStatus, UsageOfUnsupportedResourcesIsKept) {
  EXPECT_EQ(
      Next(R"({"used":{"count/widgets.example":"4"}})", Account(R"({"count/widgets.example":"9"})", "{}")),
      R"({"hard":{"count/widgets.example":"9"},"used":{"count/widgets.example":"4"}})");
  EXPECT_EQ(Next("{}", Account(R"({"count/widgets.example":"9"})", "{}", "{}", true)),
            R"({"hard":{"count/widgets.example":"9"},"used":{}})");
}

}  // namespace
}  // namespace terrarium::controllers::resource_quota

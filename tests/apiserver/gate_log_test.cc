#include "apiserver/gate_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace terrarium::apiserver {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kGate = "DeploymentPodReplacementPolicy";

api::FeatureGates Gates(const char* text) { return *api::FeatureGates().With(text); }

class GateLogTest : public testing::Test {
 protected:
  void Note(GatedField what, std::int64_t revision, const std::string& uid = "u1",
            const std::string& writer = "me") {
    log.Note({api::Time{}, revision, "deployments", {"default", "web-" + uid}, uid, writer},
             {{what, "spec.podReplacementPolicy", kGate}});
  }
  void Change(const char* from, const char* to) {
    log.Change(api::Time{}, 7, "apiserver", Gates(from), Gates(to));
  }
  std::vector<std::string> Recorded(const GateLog::Query& query = {}) const {
    std::vector<std::string> out;
    for (const GateRecord& record : log.Fields(query))
      out.push_back(record.what + " " + std::to_string(record.revision) + " x" +
                    std::to_string(record.times));
    return out;
  }

  GateLog log;
};

TEST_F(GateLogTest, AChangeNamesOnlyTheGatesThatChanged) {
  Change("", "JobSuccessPolicy=false");
  Change("JobSuccessPolicy=false", "JobSuccessPolicy=false");
  ASSERT_THAT(log.Changes(), SizeIs(1));
  const api::Json change = log.Changes()[0].ToJson();
  EXPECT_EQ(change["component"], "apiserver");
  EXPECT_EQ(change["revision"], 7);
  EXPECT_EQ(change["from"], (api::Json{{"JobSuccessPolicy", true}}));
  EXPECT_EQ(change["to"], (api::Json{{"JobSuccessPolicy", false}}));
}

TEST_F(GateLogTest, ARepeatedChangeIsRecordedOnceUntilGatesChange) {
  Note(GatedField::kKept, 10);
  Note(GatedField::kKept, 11);
  Note(GatedField::kKept, 12, "u2");
  EXPECT_THAT(Recorded(), ElementsAre("kept 10 x2", "kept 12 x1"));
  EXPECT_EQ(log.Fields()[0].last_revision, 11);
  Change("", "JobSuccessPolicy=false");
  Note(GatedField::kKept, 13);
  EXPECT_THAT(Recorded(), ElementsAre("kept 10 x2", "kept 12 x1", "kept 13 x1"));
}

TEST_F(GateLogTest, AFieldComesBackOnlyIfItHadGone) {
  Note(GatedField::kAppeared, 10);
  EXPECT_THAT(Recorded(), IsEmpty());
  Note(GatedField::kVanished, 11);
  Note(GatedField::kAppeared, 12);
  Note(GatedField::kDropped, 13, "u2");
  Note(GatedField::kAppeared, 14, "u2");
  Note(GatedField::kKept, 15, "u3");
  Note(GatedField::kAppeared, 16, "u3");
  EXPECT_THAT(Recorded(), ElementsAre("vanished 11 x1", "came-back 12 x1", "dropped 13 x1", "came-back 14 x1",
                                      "kept 15 x1"));
}

TEST_F(GateLogTest, QueriesFilterByComponentGateAndObject) {
  Note(GatedField::kKept, 10, "u1", "controller-manager");
  Note(GatedField::kKept, 11, "u2");
  EXPECT_THAT(Recorded({.component = "controller-manager"}), ElementsAre("kept 10 x1"));
  EXPECT_THAT(Recorded({.resource = "deployments", .object = {"default", "web-u2"}}),
              ElementsAre("kept 11 x1"));
  EXPECT_THAT(Recorded({.gate = kGate}), SizeIs(2));
  EXPECT_THAT(Recorded({.gate = "JobSuccessPolicy"}), IsEmpty());
}

TEST_F(GateLogTest, OnlyTheNewestAreKept) {
  const auto most = static_cast<std::int64_t>(GateLog::kRecordsMax);
  for (std::int64_t i = 0; i < most + 5; ++i) Note(GatedField::kDropped, i, "u" + std::to_string(i));
  EXPECT_THAT(log.Fields(), SizeIs(GateLog::kRecordsMax));
  EXPECT_EQ(log.Fields()[0].revision, 5);
  Note(GatedField::kDropped, most + 5, "u5");  // still in the log: counted
  EXPECT_EQ(log.Fields()[0].times, 2);
  Note(GatedField::kDropped, most + 6, "u0");  // evicted from the log: recorded again
  EXPECT_EQ(log.Fields().back().revision, most + 6);
}

}  // namespace
}  // namespace terrarium::apiserver

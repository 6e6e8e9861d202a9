#include "controllers/runtime/why.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace terrarium::controllers {
namespace {

using api::Json;
using api::ObjectName;
using testing::ElementsAre;
using testing::IsEmpty;

WhyRecord Record(const std::string& pod, const std::string& set) {
  WhyRecord record;
  record.resource = "pods";
  record.object = {"default", pod};
  record.owner_resource = "replicasets";
  record.owner = {"default", set};
  return record;
}

std::vector<std::string> PodsOf(const std::vector<WhyRecord>& records) {
  std::vector<std::string> names;
  for (const WhyRecord& record : records) names.push_back(record.object.name);
  return names;
}

TEST(WhyLog, GivesAllRecordsOldestFirst) {
  WhyLog log;
  EXPECT_THAT(log.Find(), IsEmpty());
  log.Record(Record("b", "web"));
  log.Record(Record("a", "web"));
  EXPECT_THAT(PodsOf(log.Find()), ElementsAre("b", "a"));
}

TEST(WhyLog, FindsWhatWasDoneToAnObjectAndOnItsBehalf) {
  WhyLog log;
  log.Record(Record("a", "web"));
  log.Record(Record("b", "other"));
  EXPECT_THAT(PodsOf(log.Find("pods", {"default", "a"})), ElementsAre("a"));
  EXPECT_THAT(PodsOf(log.Find("replicasets", {"default", "other"})), ElementsAre("b"));
  EXPECT_THAT(log.Find("replicasets", {"default", "a"}), IsEmpty()) << "the name alone is not enough";
  EXPECT_THAT(log.Find("pods", {"elsewhere", "a"}), IsEmpty());
}

TEST(WhyLog, KeepsTheNewest) {
  WhyLog log;
  for (std::size_t i = 0; i < WhyLog::kRecordsMax + 2; ++i) log.Record(Record(std::to_string(i), "web"));
  std::vector<WhyRecord> records = log.Find();
  ASSERT_EQ(records.size(), WhyLog::kRecordsMax);
  EXPECT_EQ(records.front().object.name, "2");
  EXPECT_EQ(records.back().object.name, std::to_string(WhyLog::kRecordsMax + 1));
}

TEST(WhyRecord, IsShownWithoutWhatItDoesNotHave) {
  WhyRecord record;
  record.action = "delete";
  record.resource = "nodes";
  record.object = {"", "node-1"};
  EXPECT_EQ(ToJson(record), (Json{{"time", "1970-01-01T00:00:00.000000Z"},
                                  {"revision", 0},
                                  {"controller", ""},
                                  {"action", "delete"},
                                  {"resource", "nodes"},
                                  {"name", "node-1"},
                                  {"rule", ""}}));
}

TEST(WhyRecord, IsShownWithItsOwnerAndWhatTheControllerSaw) {
  WhyRecord record = Record("a", "web");
  record.saw = std::make_shared<const Json>(Json{{"live", 2}});
  Json shown = ToJson(record);
  EXPECT_EQ(shown["owner"], (Json{{"resource", "replicasets"}, {"namespace", "default"}, {"name", "web"}}));
  EXPECT_EQ(shown["namespace"], "default");
  EXPECT_EQ(shown["saw"], (Json{{"live", 2}}));
}

}  // namespace
}  // namespace terrarium::controllers

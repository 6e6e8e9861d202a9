#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apiserver/strategies.h"
#include "apiserver/strategy/event_conversion.h"
#include "tests/apiserver/strategy_testing.h"

namespace terrarium::apiserver {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::Kind;

Kind CoreEvent() { return Kind(EventStrategy(), "core.v1.Event"); }
Kind NewEvent() { return Kind(EventsV1Strategy(), "core.v1.Event"); }

constexpr const char* kOld =
    R"({"metadata":{"name":"e"},"involvedObject":{"kind":"Pod","namespace":"ns","name":"p"},
    "reason":"R","message":"m","type":"Normal","count":2,"source":{"component":"c"}})";
constexpr const char* kNew =
    R"({"metadata":{"name":"e"},"involvedObject":{"kind":"Pod","namespace":"ns","name":"p"},
    "reason":"R","message":"m","type":"Normal","action":"A","eventTime":"2026-01-01T00:00:00.000001Z",
    "reportingComponent":"c","reportingInstance":"i"})";

TEST(EventConversion, FieldsAreRenamedBothWays) {
  Json event = Json::parse(kOld);
  event["firstTimestamp"] = "2026-01-01T00:00:00Z";
  event["reportingComponent"] = "r";
  const Json core = event;
  EventToEventsV1(event);
  EXPECT_EQ(event["regarding"]["name"], "p");
  EXPECT_EQ(event["note"], "m");
  EXPECT_EQ(event["deprecatedCount"], 2);
  EXPECT_EQ(event["deprecatedSource"]["component"], "c");
  EXPECT_EQ(event["deprecatedFirstTimestamp"], "2026-01-01T00:00:00Z");
  EXPECT_EQ(event["reportingController"], "r");
  EXPECT_FALSE(event.contains("message"));
  EXPECT_FALSE(event.contains("involvedObject"));
  EventToCore(event);
  EXPECT_EQ(event, core);
}

TEST(EventStrategy, OldEventsNeedOnlyTheRightNamespace) {
  EXPECT_THAT(CoreEvent().CreateErrors(kOld), IsEmpty());
  EXPECT_THAT(
      CoreEvent().CreateErrors(R"({"metadata":{"name":"e"},"involvedObject":{"namespace":"other"}})"),
      ElementsAre("involvedObject.namespace: Invalid value: \"other\": does not match event.namespace"));
}

TEST(EventStrategy, EventTimeMakesTheNewFieldsRequired) {
  EXPECT_THAT(CoreEvent().CreateErrors(kNew), IsEmpty());
  EXPECT_THAT(
      CoreEvent().CreateErrors(
          R"({"metadata":{"name":"e"},"involvedObject":{"namespace":"ns"},"eventTime":"2026-01-01T00:00:00.000001Z",
                      "reportingComponent":"c"})"),
      ElementsAre("reportingInstance: Required value", "action: Required value", "reason: Required value"));
}

TEST(EventStrategy, TheNewGroupIsStricter) {
  EXPECT_THAT(NewEvent().CreateErrors(kNew), IsEmpty());
  EXPECT_THAT(NewEvent().CreateErrors(kOld),
              ElementsAre("eventTime: Required value", "count: Invalid value: \"\": needs to be unset",
                          "source: Invalid value: \"\": needs to be unset"));
}

TEST(EventStrategy, TheNewGroupChangesOnlyTheSeries) {
  const Json old = NewEvent().New(kNew);
  EXPECT_THAT(NewEvent().UpdateErrors(
                  old, R"({"series":{"count":2,"lastObservedTime":"2026-01-01T00:00:01.000000Z"}})"),
              IsEmpty());
  EXPECT_THAT(NewEvent().UpdateErrors(old, R"({"message":"other","reportingComponent":"d"})"),
              ElementsAre("message: Invalid value: \"other\": field is immutable",
                          "reportingController: Invalid value: \"d\": field is immutable"));
  EXPECT_THAT(CoreEvent().UpdateErrors(old, R"({"message":"other"})"), IsEmpty());
}

TEST(EventStrategy, BothGroupsSelectTheSameFieldsInOneOrder) {
  const auto core = EventStrategy().SelectableFields();
  const auto other = EventsV1Strategy().SelectableFields();
  ASSERT_EQ(core.size(), other.size() + 1);
  const Json event = CoreEvent().New(kOld);
  for (std::size_t i = 0; i < other.size(); ++i)
    EXPECT_EQ(core[i].value(event), other[i].value(event)) << core[i].label;
  EXPECT_EQ(core.back().label, "source");
  EXPECT_EQ(core.back().value(event), "c");
}

}  // namespace
}  // namespace terrarium::apiserver

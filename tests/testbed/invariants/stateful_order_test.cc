#include "testbed/invariants/stateful_order.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/testbed/invariants/rule_stage.h"

namespace terrarium::testbed::invariants {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

RuleStage Stage() {
  return RuleStage([](Report report) { return MakeStatefulOrder(std::move(report)); });
}

StatefulSetFacts Web(std::int64_t start = 0, bool ordered = true) {
  StatefulSetFacts set;
  set.header = HeaderNamed("web");
  set.start = start;
  set.ordered = ordered;
  return set;
}

TEST(StatefulOrder, AllowsPodsInOrder) {
  RuleStage stage = Stage();
  stage.Put(Web());
  stage.Put(LivePod("web-0", "web"));
  stage.Put(ReadyPod("web-0", "web"));
  stage.Put(LivePod("web-1", "web"));
  stage.Put(ReadyPod("web-1", "web"));
  // A pod that was ready may have changed unseen.
  stage.Put(LivePod("web-0", "web"));
  stage.Put(LivePod("web-2", "web"));
  EXPECT_THAT(stage.Take(), IsEmpty());
}

TEST(StatefulOrder, ReportsAPodBeforeThePreviousOneIsReady) {
  RuleStage stage = Stage();
  stage.Put(Web());
  stage.Put(LivePod("web-0", "web"));
  stage.Put(LivePod("web-1", "web"));
  EXPECT_THAT(stage.Take(),
              ElementsAre("at revision 103 statefulsets default/web creates pod web-1 though the pod of "
                          "ordinal 0 has never been ready"));
  EXPECT_EQ(stage.violations().front().rule, "stateful-order");
}

TEST(StatefulOrder, ReportsAPodWithoutAPreviousOne) {
  RuleStage stage = Stage();
  stage.Put(Web());
  stage.Put(LivePod("web-1", "web"));
  EXPECT_THAT(stage.Take(), ElementsAre(HasSubstr("ordinal 0 has no pod")));
}

TEST(StatefulOrder, BeginsAtTheFirstOrdinal) {
  RuleStage stage = Stage();
  stage.Put(Web(5));
  stage.Put(LivePod("web-5", "web"));
  EXPECT_THAT(stage.Take(), IsEmpty());
  // The controller may not have seen the change.
  stage.Put(ReadyPod("web-5", "web"));
  stage.Put(Web(3));
  stage.Put(LivePod("web-6", "web"));
  EXPECT_THAT(stage.Take(), IsEmpty());
  stage.Idle();
  stage.Put(LivePod("web-4", "web"));
  EXPECT_THAT(stage.Take(), ElementsAre(HasSubstr("ordinal 3 has no pod")));
}

TEST(StatefulOrder, ARemovedPodIsExemptUntilIdle) {
  RuleStage stage = Stage();
  stage.Put(Web());
  stage.Put(ReadyPod("web-0", "web"));
  stage.RemovePod("web-0");
  stage.Put(LivePod("web-1", "web"));
  EXPECT_THAT(stage.Take(), IsEmpty());
  stage.RemovePod("web-1");
  stage.Idle();
  stage.Put(LivePod("web-1", "web"));
  EXPECT_THAT(stage.Take(), SizeIs(1));
}

TEST(StatefulOrder, ParallelSetsAndOtherWritersAreExempt) {
  RuleStage stage = Stage();
  stage.Put(Web(0, false));
  stage.Put(LivePod("web-3", "web"));
  stage.Put(Web());
  stage.writer = "";
  stage.Put(LivePod("web-7", "web"));
  stage.writer = kControllerManager;
  stage.Put(LivePod("other-2", "web"));
  EXPECT_THAT(stage.Take(), IsEmpty());
}

}  // namespace
}  // namespace terrarium::testbed::invariants

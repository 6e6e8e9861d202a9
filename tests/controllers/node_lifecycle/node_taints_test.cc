#include "controllers/node_lifecycle/internal/node_taints.h"

#include <gtest/gtest.h>

#include "api/json_access.h"

namespace terrarium::controllers {
namespace {

using api::Json;

const api::Time kNow = *api::ParseTime("2026-01-01T00:00:00Z");

Json Condition(const char* type, const char* status) { return {{"type", type}, {"status", status}}; }
Json Taint(const char* key, const char* effect) { return {{"key", key}, {"effect", effect}}; }

Json Node(Json conditions, Json taints, bool unschedulable = false) {
  return {{"metadata", {{"name", "a"}, {"resourceVersion", "5"}}},
          {"spec", {{"taints", std::move(taints)}, {"unschedulable", unschedulable}}},
          {"status", {{"conditions", std::move(conditions)}}}};
}

struct NoScheduleCase {
  const char* name;
  Json node;
  std::vector<std::string> add;
  std::vector<std::string> remove;
};

std::vector<std::string> Keys(const std::vector<TaintName>& taints) {
  std::vector<std::string> keys;
  for (const TaintName& taint : taints) {
    EXPECT_EQ(taint.effect, "NoSchedule");
    keys.emplace_back(taint.key);
  }
  return keys;
}

TEST(NoScheduleTaints, FollowConditionsAndCordon) {
  const Json none = Json::array();
  const NoScheduleCase cases[] = {
      {"a healthy node has none",
       Node({Condition("Ready", "True"), Condition("DiskPressure", "False")}, none),
       {},
       {}},
      {"a node that has become ready loses not-ready",
       Node({Condition("Ready", "True")}, {Taint("node.kubernetes.io/not-ready", "NoSchedule")}),
       {},
       {"node.kubernetes.io/not-ready"}},
      {"not ready", Node({Condition("Ready", "False")}, none), {"node.kubernetes.io/not-ready"}, {}},
      {"unknown takes the place of not ready",
       Node({Condition("Ready", "Unknown")}, {Taint("node.kubernetes.io/not-ready", "NoSchedule")}),
       {"node.kubernetes.io/unreachable"},
       {"node.kubernetes.io/not-ready"}},
      {"pressures",
       Node({Condition("MemoryPressure", "True"), Condition("DiskPressure", "True"),
             Condition("PIDPressure", "True"), Condition("NetworkUnavailable", "True")},
            none),
       {"node.kubernetes.io/memory-pressure", "node.kubernetes.io/disk-pressure",
        "node.kubernetes.io/pid-pressure", "node.kubernetes.io/network-unavailable"},
       {}},
      {"an unknown pressure is none", Node({Condition("MemoryPressure", "Unknown")}, none), {}, {}},
      {"cordoned", Node({Condition("Ready", "True")}, none, true), {"node.kubernetes.io/unschedulable"}, {}},
      {"uncordoned",
       Node({Condition("Ready", "True")}, {Taint("node.kubernetes.io/unschedulable", "NoSchedule")}),
       {},
       {"node.kubernetes.io/unschedulable"}},
      {"other people's taints and other effects are left alone",
       Node({Condition("Ready", "True")},
            {Taint("mine", "NoSchedule"), Taint("node.kubernetes.io/unreachable", "NoExecute")}),
       {},
       {}},
  };
  for (const NoScheduleCase& c : cases) {
    SCOPED_TRACE(c.name);
    TaintChange change = NoScheduleChange(c.node);
    EXPECT_EQ(Keys(change.add), c.add);
    EXPECT_EQ(Keys(change.remove), c.remove);
  }
}

TEST(NoExecuteTaints, NotReadyAndUnreachableExcludeEachOther) {
  const TaintName not_ready{"node.kubernetes.io/not-ready", "NoExecute"};
  const TaintName unreachable{"node.kubernetes.io/unreachable", "NoExecute"};
  EXPECT_EQ(NoExecuteChange(Ready::kFalse).add, std::vector{not_ready});
  EXPECT_EQ(NoExecuteChange(Ready::kFalse).remove, std::vector{unreachable});
  EXPECT_EQ(NoExecuteChange(Ready::kUnknown).add, std::vector{unreachable});
  EXPECT_EQ(NoExecuteChange(Ready::kUnknown).remove, std::vector{not_ready});
  EXPECT_EQ(NoExecuteChange(Ready::kTrue).add.size(), 0u);
  EXPECT_EQ(NoExecuteChange(Ready::kTrue).remove.size(), 2u);
}

TEST(TaintPatch, KeepsTheOthersAndIsBoundToTheVersion) {
  Json node =
      Node(Json::array(), {Taint("mine", "NoSchedule"), Taint("node.kubernetes.io/not-ready", "NoExecute")});
  Json patch = *TaintPatch(node, NoExecuteChange(Ready::kUnknown), kNow);
  EXPECT_EQ(patch["metadata"]["resourceVersion"], "5");
  ASSERT_EQ(patch["spec"]["taints"].size(), 2u);
  EXPECT_EQ(patch["spec"]["taints"][0], Taint("mine", "NoSchedule"));
  EXPECT_EQ(patch["spec"]["taints"][1]["key"], "node.kubernetes.io/unreachable");
  EXPECT_EQ(patch["spec"]["taints"][1]["timeAdded"], "2026-01-01T00:00:00Z");
}

TEST(TaintPatch, TheLastTaintLeavesNoList) {
  Json node = Node(Json::array(), {Taint("node.kubernetes.io/not-ready", "NoExecute")});
  EXPECT_TRUE((*TaintPatch(node, NoExecuteChange(Ready::kTrue), kNow))["spec"]["taints"].is_null());
}

TEST(TaintPatch, WithoutAChangeThereIsNone) {
  Json node = Node(Json::array(), {Taint("node.kubernetes.io/unreachable", "NoExecute")});
  EXPECT_FALSE(TaintPatch(node, NoExecuteChange(Ready::kUnknown), kNow));
  EXPECT_FALSE(TaintPatch(node, {}, kNow));
}

TEST(LabelPatch, OldLabelsFollowTheNewOnes) {
  Json node = {{"metadata",
                {{"labels",
                  {{"kubernetes.io/os", "linux"},
                   {"beta.kubernetes.io/os", "other"},
                   {"kubernetes.io/arch", "arm64"}}}}}};
  Json labels = (*LabelPatch(node))["metadata"]["labels"];
  EXPECT_EQ(labels, (Json{{"beta.kubernetes.io/os", "linux"}, {"beta.kubernetes.io/arch", "arm64"}}));
  node["metadata"]["labels"].update(labels);
  EXPECT_FALSE(LabelPatch(node));
  EXPECT_FALSE(LabelPatch(Json{{"metadata", {{"labels", {{"beta.kubernetes.io/os", "linux"}}}}}}));
}

}  // namespace
}  // namespace terrarium::controllers

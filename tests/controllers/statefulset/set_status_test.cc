#include "controllers/statefulset/internal/set_status.h"

#include <gtest/gtest.h>

#include "tests/controllers/statefulset/rules_testing.h"

namespace terrarium::controllers::statefulset {
namespace {

using api::Json;

SetStatus Counted(const std::string& states, const SetSpec& spec = {}) {
  SetStatus status;
  status.current_revision = "old";
  status.update_revision = "new";
  CountPods(status, spec, PodsOf(states), kNow);
  return status;
}

// replicas ready available current updated
std::string Text(const SetStatus& status) {
  std::string text;
  for (int count : {status.replicas, status.ready, status.available, status.current, status.updated})
    text += std::to_string(count) + " ";
  text.pop_back();
  return text;
}

TEST(SetStatus, CountsPods) {
  EXPECT_EQ(Text(Counted("rrr")), "3 3 3 3 0");
  EXPECT_EQ(Text(Counted("rnR")), "3 2 2 2 1");
  // Terminating pods count as replicas, and as ready while they are, and are of no revision.
  EXPECT_EQ(Text(Counted("rtT")), "3 3 3 1 0");
  EXPECT_EQ(Text(Counted("fsp-")), "3 0 0 3 0");
  EXPECT_EQ(Text(Counted("")), "0 0 0 0 0");
}

TEST(SetStatus, AvailableAfterMinReadySeconds) {
  SetSpec spec;
  spec.min_ready = std::chrono::seconds(10);  // as long as the pods are ready
  EXPECT_EQ(Text(Counted("rr", spec)), "2 2 2 2 0");
  spec.min_ready = std::chrono::seconds(11);
  EXPECT_EQ(Text(Counted("rr", spec)), "2 2 0 2 0");
}

TEST(SetStatus, AnUpdateIsCompleteWhenAllPodsAreReadyAndNew) {
  SetSpec spec;
  spec.replicas = 3;
  struct Case {
    const char* states;
    const char* current_revision;
  };
  const Case cases[] = {{"RRR", "new"},  {"rRR", "old"}, {"RRN", "old"}, {"RRRr", "old"},
                        {"RRRR", "old"}, {"RR", "old"},  {"RRT", "old"}};
  for (const Case& each : cases) {
    SetStatus status = Counted(each.states);
    CompleteUpdate(status, spec);
    EXPECT_EQ(status.current_revision, each.current_revision) << each.states;
    if (status.current_revision == "new") {
      EXPECT_EQ(status.current, 3);
    }
  }
  SetStatus status = Counted("RRR");
  spec.on_delete = true;
  CompleteUpdate(status, spec);
  EXPECT_EQ(status.current_revision, "old");
}

TEST(SetStatus, HasTheFieldsOfKubernetes) {
  SetStatus status = Counted("rnR");
  status.observed_generation = 4;
  EXPECT_EQ(ToJson(status), Json::parse(R"({"observedGeneration": 4, "replicas": 3, "readyReplicas": 2,
      "availableReplicas": 2, "currentReplicas": 2, "updatedReplicas": 1, "currentRevision": "old",
      "updateRevision": "new", "collisionCount": 0})"));
  EXPECT_EQ(ToJson(SetStatus{}),
            Json::parse(R"({"replicas": 0, "availableReplicas": 0, "collisionCount": 0})"));
}

TEST(SetStatus, IsWrittenWhenACountARevisionOrTheGenerationChanges) {
  SetStatus status = Counted("rnR");
  status.observed_generation = 4;
  const Json stored = ToJson(status);
  EXPECT_FALSE(MustWrite(stored, status));
  SetStatus changed = status;
  changed.available = 1;
  EXPECT_TRUE(MustWrite(stored, changed));
  changed = status;
  changed.update_revision = "newer";
  EXPECT_TRUE(MustWrite(stored, changed));
  changed = status;
  changed.observed_generation = 5;
  EXPECT_TRUE(MustWrite(stored, changed));
  changed = status;
  changed.collision_count = 1;
  EXPECT_FALSE(MustWrite(stored, changed));
}

}  // namespace
}  // namespace terrarium::controllers::statefulset

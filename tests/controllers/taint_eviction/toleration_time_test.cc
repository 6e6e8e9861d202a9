#include "controllers/taint_eviction/internal/toleration_time.h"

#include <gtest/gtest.h>

#include "api/core_v1/taint.h"

namespace terrarium::controllers {
namespace {

using api::Json;
using namespace std::chrono_literals;

Json Taint(const char* key, const char* value = "") {
  return {{"key", key}, {"value", value}, {"effect", "NoExecute"}};
}

TEST(Tolerates, ByKeyValueEffectAndOperator) {
  const Json taint = Taint("a", "x");
  EXPECT_TRUE(api::Tolerates({{"key", "a"}, {"value", "x"}, {"effect", "NoExecute"}}, taint));
  EXPECT_TRUE(api::Tolerates({{"key", "a"}, {"operator", "Equal"}, {"value", "x"}}, taint));
  EXPECT_FALSE(api::Tolerates({{"key", "a"}, {"value", "y"}}, taint));
  EXPECT_FALSE(api::Tolerates({{"key", "a"}, {"value", "x"}, {"effect", "NoSchedule"}}, taint));
  EXPECT_TRUE(api::Tolerates({{"key", "a"}, {"operator", "Exists"}}, taint));
  EXPECT_FALSE(api::Tolerates({{"key", "b"}, {"operator", "Exists"}}, taint));
  EXPECT_TRUE(api::Tolerates({{"operator", "Exists"}}, taint));
  EXPECT_FALSE(api::Tolerates(Json::object(), taint));
}

TEST(NoExecuteTaints, LeaveOutTheOtherEffects) {
  Json node = {
      {"spec", {{"taints", Json::array({Taint("a"), Json{{"key", "b"}, {"effect", "NoSchedule"}}})}}}};
  EXPECT_EQ(NoExecuteTaints(node), Json::array({Taint("a")}));
  EXPECT_TRUE(NoExecuteTaints(Json::object()).empty());
}

struct TimeCase {
  const char* name;
  Json tolerations;
  Json taints;
  std::optional<api::Duration> time;
};

TEST(TolerationTime, IsTheShortestOfTheTolerationsInUse) {
  const Json forever = {{"key", "a"}, {"operator", "Exists"}};
  const Json for_300 = {{"key", "a"}, {"operator", "Exists"}, {"tolerationSeconds", 300}};
  const Json for_60 = {{"key", "b"}, {"operator", "Exists"}, {"tolerationSeconds", 60}};
  const TimeCase cases[] = {
      {"nothing to tolerate", Json::array({for_300}), Json::array(), std::nullopt},
      {"not tolerated", Json::array({for_60}), Json::array({Taint("a")}), 0s},
      {"no tolerations at all", Json::array(), Json::array({Taint("a")}), 0s},
      {"tolerated indefinitely", Json::array({forever}), Json::array({Taint("a")}), std::nullopt},
      {"tolerated for a time", Json::array({for_300}), Json::array({Taint("a")}), 300s},
      {"the shorter of two", Json::array({for_300, for_60}), Json::array({Taint("a"), Taint("b")}), 60s},
      {"one of two not tolerated", Json::array({for_300}), Json::array({Taint("a"), Taint("b")}), 0s},
      {"indefinitely beside a time", Json::array({forever, for_60}), Json::array({Taint("a"), Taint("b")}),
       60s},
      {"the first that fits counts", Json::array({forever, for_300}), Json::array({Taint("a")}),
       std::nullopt},
      {"an unused one does not count", Json::array({for_300, for_60}), Json::array({Taint("a")}), 300s},
      {"no time at all", Json::array({Json{{"key", "a"}, {"operator", "Exists"}, {"tolerationSeconds", 0}}}),
       Json::array({Taint("a")}), 0s},
      {"a negative time is none",
       Json::array({Json{{"key", "a"}, {"operator", "Exists"}, {"tolerationSeconds", -5}}}),
       Json::array({Taint("a")}), 0s},
  };
  for (const TimeCase& c : cases) EXPECT_EQ(TolerationTime(c.tolerations, c.taints), c.time) << c.name;
}

}  // namespace
}  // namespace terrarium::controllers

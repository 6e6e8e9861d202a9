#include "kubelet-fake/scheduler/internal/taints.h"

#include <gtest/gtest.h>

namespace terrarium::kubelet_fake::scheduling {
namespace {

using api::Json;

TEST(Taints, AreToleratedAsInKubernetes) {
  const Taint taint{"dedicated", "gpu", TaintEffect::kNoSchedule};
  struct Case {
    const char* name;
    Json toleration;
    bool tolerated;
  };
  const Case cases[] = {
      {"equal",
       {{"key", "dedicated"}, {"operator", "Equal"}, {"value", "gpu"}, {"effect", "NoSchedule"}},
       true},
      {"equal is what no operator means", {{"key", "dedicated"}, {"value", "gpu"}}, true},
      {"another value", {{"key", "dedicated"}, {"operator", "Equal"}, {"value", "cpu"}}, false},
      {"no value", {{"key", "dedicated"}, {"operator", "Equal"}}, false},
      {"any value", {{"key", "dedicated"}, {"operator", "Exists"}}, true},
      {"another key", {{"key", "other"}, {"operator", "Exists"}}, false},
      {"everything", {{"operator", "Exists"}}, true},
      {"another effect", {{"operator", "Exists"}, {"effect", "NoExecute"}}, false},
      {"an operator behind a gate", {{"key", "dedicated"}, {"operator", "Gt"}, {"value", "1"}}, false},
  };
  for (const Case& c : cases) {
    Json spec;
    spec["tolerations"].push_back(c.toleration);
    EXPECT_EQ(Tolerated(taint, TolerationsOf(spec)), c.tolerated) << c.name;
  }
}

TEST(Taints, AnyTolerationIsEnough) {
  Json spec;
  spec["tolerations"].push_back({{"key", "a"}, {"operator", "Exists"}});
  spec["tolerations"].push_back({{"key", "b"}, {"operator", "Exists"}});
  EXPECT_TRUE(Tolerated({"b", "", TaintEffect::kNoExecute}, TolerationsOf(spec)));
  EXPECT_FALSE(Tolerated({"c", "", TaintEffect::kNoExecute}, TolerationsOf(spec)));
  EXPECT_FALSE(Tolerated({"c", "", TaintEffect::kNoExecute}, {}));
}

}  // namespace
}  // namespace terrarium::kubelet_fake::scheduling

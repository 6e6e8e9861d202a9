#include "controllers/pod_gc/internal/ended_pods.h"

#include <gtest/gtest.h>

namespace terrarium::controllers {
namespace {

using api::Json;
using Names = std::vector<api::ObjectName>;

api::ObjectPtr Pod(const std::string& ns, const std::string& name, const std::string& phase,
                   const std::string& created, const std::string& reason = "") {
  api::ObjectHeader header;
  header.ns = ns;
  header.name = name;
  header.node_name = "node-0";
  header.phase = api::MemberName(phase);
  return api::Object::Make(
      header, {{"metadata", {{"creationTimestamp", created}}}, {"status", {{"reason", reason}}}});
}

TEST(EndedPods, AreOrderedByEvictionThenAgeThenName) {
  EndedPods pods;
  pods.Update(*Pod("x", "young", "Succeeded", "2026-01-03T00:00:00Z"));
  pods.Update(*Pod("x", "old-b", "Failed", "2026-01-01T00:00:00Z"));
  pods.Update(*Pod("y", "old-a", "Succeeded", "2026-01-01T00:00:00Z"));
  pods.Update(*Pod("x", "evicted", "Failed", "2026-01-09T00:00:00Z", "Evicted"));
  pods.Update(*Pod("x", "running", "Running", "2025-01-01T00:00:00Z"));
  EXPECT_EQ(pods.size(), 4u);
  EXPECT_EQ(pods.First(3), (Names{{"x", "evicted"}, {"y", "old-a"}, {"x", "old-b"}}));
  EXPECT_EQ(pods.First(9).size(), 4u);
}

TEST(EndedPods, OnePodCountsOnceAndGoesWhenItGoes) {
  EndedPods pods;
  pods.Update(*Pod("x", "a", "Failed", "2026-01-01T00:00:00Z"));
  pods.Update(*Pod("x", "a", "Failed", "2026-01-01T00:00:00Z"));
  EXPECT_EQ(pods.size(), 1u);
  pods.Remove({"x", "a"});
  pods.Remove({"x", "a"});
  EXPECT_EQ(pods.size(), 0u);
}

}  // namespace
}  // namespace terrarium::controllers

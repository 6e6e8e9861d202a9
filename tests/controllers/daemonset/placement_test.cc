#include "controllers/daemonset/internal/placement.h"

#include <gtest/gtest.h>

#include "tests/controllers/runtime/fake_client.h"

namespace terrarium::controllers::daemonset {
namespace {

using api::Json;

Json Taint(const char* key, const char* effect) { return {{"key", key}, {"effect", effect}}; }

// TestNodeShouldRunDaemonPod of Kubernetes, and the tolerations of daemon pods.
TEST(Placement, FitsAsInKubernetes) {
  const Json label_a = {{"nodeSelector", {{"zone", "a"}}}};
  auto named = [](const char* node) {
    return Json::parse(
        R"({"affinity": {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
            {"nodeSelectorTerms": [{"matchFields": [
                {"key": "metadata.name", "operator": "In", "values": [")" +
        std::string(node) + R"("]}]}]}}}})");
  };
  const Json tolerates_all = {{"tolerations", {{{"operator", "Exists"}}}}};
  struct Case {
    const char* name;
    Json spec;
    Json taints;
    bool should_run;
    bool may_stay;
  };
  const Case cases[] = {
      {"any node", Json::object(), Json::array(), true, true},
      {"this node's name", {{"nodeName", "node-1"}}, Json::array(), true, true},
      {"another node's name", {{"nodeName", "node-2"}}, Json::array(), false, false},
      {"a selector that matches", label_a, Json::array(), true, true},
      {"a selector that does not", {{"nodeSelector", {{"zone", "b"}}}}, Json::array(), false, false},
      {"affinity to this node", named("node-1"), Json::array(), true, true},
      {"affinity to another node", named("node-2"), Json::array(), false, false},
      {"NoSchedule", Json::object(), {Taint("dedicated", "NoSchedule")}, false, true},
      {"NoExecute", Json::object(), {Taint("dedicated", "NoExecute")}, false, false},
      {"both", Json::object(), {Taint("a", "NoSchedule"), Taint("b", "NoExecute")}, false, false},
      {"PreferNoSchedule", Json::object(), {Taint("dedicated", "PreferNoSchedule")}, true, true},
      {"a tolerated taint", tolerates_all, {Taint("dedicated", "NoExecute")}, true, true},
      {"a taint on another selector",
       {{"nodeSelector", {{"zone", "b"}}}},
       {Taint("a", "NoSchedule")},
       false,
       false},
      {"not ready", Json::object(), {Taint("node.kubernetes.io/not-ready", "NoExecute")}, true, true},
      {"not ready, NoSchedule",
       Json::object(),
       {Taint("node.kubernetes.io/not-ready", "NoSchedule")},
       false,
       true},
      {"unreachable", Json::object(), {Taint("node.kubernetes.io/unreachable", "NoExecute")}, true, true},
      {"cordoned", Json::object(), {Taint("node.kubernetes.io/unschedulable", "NoSchedule")}, true, true},
      {"memory pressure",
       Json::object(),
       {Taint("node.kubernetes.io/memory-pressure", "NoSchedule")},
       true,
       true},
      {"no network",
       Json::object(),
       {Taint("node.kubernetes.io/network-unavailable", "NoSchedule")},
       false,
       true},
      {"no network needed",
       {{"hostNetwork", true}},
       {Taint("node.kubernetes.io/network-unavailable", "NoSchedule")},
       true,
       true},
      {"out of service",
       Json::object(),
       {Taint("node.kubernetes.io/out-of-service", "NoExecute")},
       false,
       false},
  };
  api::ObjectPtr node =
      controllers_testing::MakeObject({{"metadata", {{"name", "node-1"}, {"labels", {{"zone", "a"}}}}}});
  for (const Case& c : cases) {
    const Json pod_template = {{"spec", c.spec}};
    const NodeFit fit = Placement(pod_template).Fit(node->header(), c.taints);
    EXPECT_EQ(fit.should_run, c.should_run) << c.name;
    EXPECT_EQ(fit.may_stay, c.may_stay) << c.name;
  }
}

}  // namespace
}  // namespace terrarium::controllers::daemonset

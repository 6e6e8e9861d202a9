#include "api/core_v1/node_affinity.h"

#include <gtest/gtest.h>

#include "tests/kubelet-fake/scheduler/objects.h"

namespace terrarium::kubelet_fake::scheduling {
namespace {

using api::Json;
using api::NodeAffinity;
using api::NodeAffinityOf;

Json Expression(const char* key, const char* op, std::vector<std::string> values = {}) {
  return {{"key", key}, {"operator", op}, {"values", std::move(values)}};
}

Json Terms(std::vector<Json> terms) {
  return {
      {"affinity",
       {{"nodeAffinity",
         {{"requiredDuringSchedulingIgnoredDuringExecution", {{"nodeSelectorTerms", std::move(terms)}}}}}}}};
}

Json Labels(std::vector<Json> expressions) { return {{"matchExpressions", std::move(expressions)}}; }
Json Names(std::vector<Json> expressions) { return {{"matchFields", std::move(expressions)}}; }

TEST(NodeAffinity, RequiredTermsMatchAsInKubernetes) {
  const auto node =
      Node("node-1", {{"metadata", {{"labels", {{"zone", "a"}, {"cores", "16"}, {"kind", "big"}}}}}});
  struct Case {
    const char* name;
    Json spec;
    bool matches;
  };
  const Case cases[] = {
      {"no wish", Json::object(), true},
      {"a selector that matches", {{"nodeSelector", {{"zone", "a"}}}}, true},
      {"a selector with another value", {{"nodeSelector", {{"zone", "b"}}}}, false},
      {"a selector on a label that is not there", {{"nodeSelector", {{"rack", "1"}}}}, false},
      {"In", Terms({Labels({Expression("zone", "In", {"b", "a"})})}), true},
      {"In with other values", Terms({Labels({Expression("zone", "In", {"b"})})}), false},
      {"NotIn", Terms({Labels({Expression("zone", "NotIn", {"b"})})}), true},
      {"NotIn holds without the label", Terms({Labels({Expression("rack", "NotIn", {"1"})})}), true},
      {"Exists", Terms({Labels({Expression("zone", "Exists")})}), true},
      {"DoesNotExist", Terms({Labels({Expression("zone", "DoesNotExist")})}), false},
      {"Gt", Terms({Labels({Expression("cores", "Gt", {"15"})})}), true},
      {"Gt the same number", Terms({Labels({Expression("cores", "Gt", {"16"})})}), false},
      {"Lt", Terms({Labels({Expression("cores", "Lt", {"17"})})}), true},
      {"Lt on a label that is not a number", Terms({Labels({Expression("zone", "Lt", {"17"})})}), false},
      {"expressions of a term all hold",
       Terms({Labels({Expression("zone", "In", {"a"}), Expression("kind", "In", {"small"})})}), false},
      {"one of the terms is enough",
       Terms({Labels({Expression("zone", "In", {"b"})}), Labels({Expression("kind", "In", {"big"})})}), true},
      {"by name", Terms({Names({Expression("metadata.name", "In", {"node-1"})})}), true},
      {"by another name", Terms({Names({Expression("metadata.name", "In", {"node-2"})})}), false},
      {"not by name", Terms({Names({Expression("metadata.name", "NotIn", {"node-1"})})}), false},
      {"an empty term matches nothing", Terms({Json::object()}), false},
      {"no terms match nothing", Terms({}), false},
  };
  for (const Case& c : cases) EXPECT_EQ(NodeAffinityOf(c.spec).Matches(node->header()), c.matches) << c.name;
}

TEST(NodeAffinity, SelectorAndTermsBothHold) {
  const auto node = Node("node-1", {{"metadata", {{"labels", {{"zone", "a"}}}}}});
  Json spec = Terms({Labels({Expression("zone", "Exists")})});
  spec["nodeSelector"] = {{"disk", "ssd"}};
  EXPECT_FALSE(NodeAffinityOf(spec).Matches(node->header()));
}

TEST(NodeAffinity, NodesAreNamedOnlyWhenEveryTermNamesThem) {
  const auto named = [](std::vector<std::string> values) {
    return Expression("metadata.name", "In", std::move(values));
  };
  EXPECT_EQ(NodeAffinityOf(Terms({Names({named({"b"})}), Names({named({"a"})})})).node_names,
            (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(NodeAffinityOf(Terms({Names({named({"a", "b"}), named({"b", "c"})})})).node_names,
            (std::vector<std::string>{"b"}));
  EXPECT_EQ(NodeAffinityOf(Terms({Names({named({"a"}), named({"b"})})})).node_names,
            std::vector<std::string>());
  EXPECT_EQ(NodeAffinityOf(Terms({Names({named({"a"})}), Labels({Expression("zone", "Exists")})})).node_names,
            std::nullopt);
}

TEST(NodeAffinity, PreferredTermsAddTheirWeights) {
  std::vector<Json> preferences = {
      {{"weight", 10}, {"preference", Labels({Expression("zone", "In", {"a"})})}},
      {{"weight", 5}, {"preference", Labels({Expression("kind", "Exists")})}},
      {{"weight", 70}, {"preference", Labels({Expression("zone", "In", {"b"})})}},
  };
  const NodeAffinity affinity = NodeAffinityOf(
      {{"affinity", {{"nodeAffinity", {{"preferredDuringSchedulingIgnoredDuringExecution", preferences}}}}}});
  EXPECT_EQ(affinity.Score(Node("n", {{"metadata", {{"labels", {{"zone", "a"}, {"kind", "x"}}}}}})->header()),
            15);
  EXPECT_EQ(affinity.Score(Node("n")->header()), 0);
}

}  // namespace
}  // namespace terrarium::kubelet_fake::scheduling

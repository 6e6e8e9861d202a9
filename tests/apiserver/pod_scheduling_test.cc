// Fields of a pod that restrict its nodes.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/apiserver/pod_fixture.h"

namespace terrarium::apiserver::testing {
namespace {

using ::testing::ElementsAreArray;

void RunCases(const std::vector<PodCase>& cases) {
  for (const PodCase& test : cases) {
    EXPECT_THAT(CreateErrors(test.pod), ElementsAreArray(test.errors)) << test.name;
  }
}

Json PodWithToleration(const Json& toleration) {
  return PodWithSpec({{"tolerations", Json::array({toleration})}});
}
Json PodWithSpread(const Json& constraints) {
  return PodWithSpec({{"topologySpreadConstraints", constraints}});
}

TEST(PodTolerations, OperatorsAndEffects) {
  const std::string path = "spec.tolerations[0].";
  RunCases({
      {"Exists has no value",
       PodWithToleration({{"key", "k"}, {"operator", "Exists"}, {"value", "v"}}),
       {path + "operator: Invalid value: \"v\": value must be empty when `operator` is 'Exists'"}},
      {"only Exists goes without a key",
       PodWithToleration({{"value", "v"}}),
       {path +
        "operator: Invalid value: \"\": operator must be Exists when `key` is empty, which means \"match all "
        "values and all keys\""}},
      {"seconds are for NoExecute",
       PodWithToleration(
           {{"key", "k"}, {"operator", "Exists"}, {"effect", "NoSchedule"}, {"tolerationSeconds", 1}}),
       {path +
        "effect: Invalid value: \"NoSchedule\": effect must be 'NoExecute' when `tolerationSeconds` is set"}},
      {"unknown operator and effect",
       PodWithToleration({{"key", "k"}, {"operator", "Like"}, {"effect", "Cold"}}),
       {path + "operator: Unsupported value: \"Like\": supported values: \"Equal\", \"Exists\"",
        path + "effect: Unsupported value: \"Cold\": supported values: \"NoSchedule\", \"PreferNoSchedule\", "
               "\"NoExecute\""}},
  });
}

TEST(PodAffinity, NodeTerms) {
  const auto pod = [](const Json& affinity) {
    return PodWithSpec({{"affinity", {{"nodeAffinity", affinity}}}});
  };
  const std::string path = "spec.affinity.nodeAffinity.";
  RunCases({
      {"no terms",
       pod({{"requiredDuringSchedulingIgnoredDuringExecution", {{"nodeSelectorTerms", Json::array()}}}}),
       {path + "requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms: Required value: must have "
               "at least one "
               "node selector term"}},
      {"operators",
       pod({{"requiredDuringSchedulingIgnoredDuringExecution",
             {{"nodeSelectorTerms",
               Json::array({Json{
                   {"matchExpressions",
                    Json::array({Json{{"key", "a"}, {"operator", "Gt"}, {"values", {"1", "2"}}},
                                 Json{{"key", "a"}, {"operator", "Like"}}})},
                   {"matchFields",
                    Json::array({Json{{"key", "spec.x"}, {"operator", "In"}, {"values", {"n"}}}})}}})}}}}),
       {path + "requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[0]."
               "values: Required "
               "value: must be specified single value when `operator` is 'Lt' or 'Gt'",
        path + "requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchExpressions[1]."
               "operator: Invalid "
               "value: \"Like\": not a valid selector operator",
        path + "requiredDuringSchedulingIgnoredDuringExecution.nodeSelectorTerms[0].matchFields[0].key: "
               "Invalid value: "
               "\"spec.x\": not a valid field selector key"}},
      {"weight",
       pod({{"preferredDuringSchedulingIgnoredDuringExecution",
             Json::array({Json{{"weight", 101}, {"preference", Json::object()}}})}}),
       {path +
        "preferredDuringSchedulingIgnoredDuringExecution[0].weight: Invalid value: 101: must be in the range "
        "1-100"}},
  });
}

TEST(PodAffinity, PodTerms) {
  const Json selector = {{"matchLabels", {{"app", "x"}}}};
  const auto pod = [](const Json& term) {
    return PodWithSpec(
        {{"affinity",
          {{"podAntiAffinity", {{"requiredDuringSchedulingIgnoredDuringExecution", Json::array({term})}}}}}});
  };
  const std::string path = "spec.affinity.podAntiAffinity.requiredDuringSchedulingIgnoredDuringExecution[0]";
  RunCases({
      {"fine", pod({{"topologyKey", "zone"}, {"labelSelector", selector}}), {}},
      {"no topology key",
       pod({{"labelSelector", selector}}),
       {path + ".topologyKey: Required value: can not be empty",
        path + ".topologyKey: Invalid value: \"\": name part must be non-empty",
        path + ".topologyKey: Invalid value: \"\": name part must consist of alphanumeric characters, '-', "
               "'_' or '.', and "
               "must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or "
               "'123-abc', regex "
               "used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"}},
      {"label keys without a selector",
       pod({{"topologyKey", "zone"}, {"matchLabelKeys", {"a"}}}),
       {path + ".matchLabelKeys: Forbidden: must not be specified when labelSelector is not set"}},
      {"a key both ways",
       pod({{"topologyKey", "zone"},
            {"labelSelector", selector},
            {"matchLabelKeys", {"a"}},
            {"mismatchLabelKeys", {"a"}}}),
       {path +
        ".matchLabelKeys[0]: Invalid value: \"a\": exists in both matchLabelKeys and mismatchLabelKeys"}},
  });
}

TEST(PodTopologySpread, Constraints) {
  const Json selector = {{"matchLabels", {{"app", "x"}}}};
  const Json good = {{"maxSkew", 1},
                     {"topologyKey", "zone"},
                     {"whenUnsatisfiable", "ScheduleAnyway"},
                     {"labelSelector", selector}};
  Json domains = good;
  domains["minDomains"] = 2;
  const std::string path = "spec.topologySpreadConstraints[0].";
  RunCases({
      {"fine", PodWithSpread(Json::array({good})), {}},
      {"nothing filled in",
       PodWithSpread(Json::array({Json{{"maxSkew", 0}}})),
       {path + "maxSkew: Invalid value: 0: must be greater than zero",
        path + "topologyKey: Required value: can not be empty",
        path + "whenUnsatisfiable: Unsupported value: \"\": supported values: \"DoNotSchedule\", "
               "\"ScheduleAnyway\""}},
      {"twice the same",
       PodWithSpread(Json::array({good, good})),
       {path + "{topologyKey, whenUnsatisfiable}: Duplicate value: \"{zone, ScheduleAnyway}\""}},
      {"minDomains",
       PodWithSpread(Json::array({domains})),
       {path +
        "minDomains: Invalid value: 2: can only use minDomains if whenUnsatisfiable=DoNotSchedule, not "
        "ScheduleAnyway"}},
  });
}

TEST(PodSchedulingGates, KeepAPodOffItsNode) {
  RunCases({
      {"twice the same",
       PodWithSpec({{"schedulingGates", Json::array({Json{{"name", "a"}}, Json{{"name", "a"}}})}}),
       {"spec.schedulingGates[1]: Duplicate value: \"a\""}},
      {"with a node",
       PodWithSpec({{"nodeName", "n"}, {"schedulingGates", Json::array({Json{{"name", "a"}}})}}),
       {"spec.nodeName: Forbidden: cannot be set until all schedulingGates have been cleared"}},
  });
}

TEST(PodNodeSelector, IsMadeOfLabels) {
  RunCases({{"bad value",
             PodWithSpec({{"nodeSelector", {{"a", "-"}}}}),
             {"spec.nodeSelector: Invalid value: \"-\": a valid label must be an empty string or consist of "
              "alphanumeric "
              "characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. "
              "'MyValue',  or "
              "'my_value',  or '12345', regex used for validation is "
              "'(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')"}}});
}

}  // namespace
}  // namespace terrarium::apiserver::testing

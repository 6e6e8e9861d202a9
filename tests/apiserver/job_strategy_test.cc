#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apiserver/strategies.h"
#include "tests/apiserver/strategy_testing.h"

namespace terrarium::apiserver {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using testing::Kind;
using testing::kJobTemplate;
using ::testing::StartsWith;
using testing::WithSpec;

Kind Job() { return Kind(JobStrategy(), "batch.v1.Job"); }

std::string JobSpec(std::string_view fields = "") {
  return fields.empty() ? WithSpec({kJobTemplate}) : WithSpec({kJobTemplate, fields});
}
constexpr const char* kIndexed = R"("completionMode":"Indexed","completions":3,"parallelism":3)";

TEST(JobStrategy, UidBecomesSelectorAndLabelsOfTemplateAndJob) {
  const Json job = Job().New(JobSpec());
  const Json labels = Json::parse(
      R"({"app":"x","batch.kubernetes.io/controller-uid":"u-1","batch.kubernetes.io/job-name":"n","controller-uid":"u-1","job-name":"n"})");
  EXPECT_EQ(job["spec"]["template"]["metadata"]["labels"], labels);
  EXPECT_EQ(job["metadata"]["labels"], labels);
  EXPECT_EQ(job["spec"]["selector"],
            Json::parse(R"({"matchLabels":{"batch.kubernetes.io/controller-uid":"u-1"}})"));
  EXPECT_THAT(Job().CreateErrors(JobSpec()), IsEmpty());
}

TEST(JobStrategy, OwnLabelsAreNotMixedWithGeneratedOnes) {
  const Json job = Job().New(R"({"metadata":{"name":"n","labels":{"mine":"1"}},"spec":{)" +
                             std::string(kJobTemplate) + "}}");
  EXPECT_EQ(job["metadata"]["labels"], Json::parse(R"({"mine":"1"})"));
}

TEST(JobStrategy, CompletionsIsDefaultedOnlyTogetherWithParallelism) {
  EXPECT_EQ(Job().New(JobSpec())["spec"]["completions"], 1);
  EXPECT_FALSE(Job().New(JobSpec(R"("parallelism":2)"))["spec"].contains("completions"));
  EXPECT_FALSE(Job().New(JobSpec(R"("parallelism":1)"))["spec"].contains("completions"));
  EXPECT_EQ(Job().New(JobSpec(R"("completions":4)"))["spec"]["parallelism"], 1);
}

TEST(JobStrategy, DependentDefaultsFollowTheirPolicies) {
  EXPECT_EQ(Job().New(JobSpec())["spec"]["podReplacementPolicy"], "TerminatingOrFailed");
  EXPECT_EQ(Job().New(JobSpec())["spec"]["backoffLimit"], 6);
  const Json with_policy = Job().New(JobSpec(
      R"("podFailurePolicy":{"rules":[{"action":"Ignore","onPodConditions":[{"type":"DisruptionTarget"}]}]})"));
  EXPECT_EQ(with_policy["spec"]["podReplacementPolicy"], "Failed");
  EXPECT_EQ(with_policy["spec"]["podFailurePolicy"]["rules"][0]["onPodConditions"][0]["status"], "True");
  EXPECT_EQ(
      Job().New(JobSpec(
          R"("completionMode":"Indexed","completions":4,"backoffLimitPerIndex":1)"))["spec"]["backoffLimit"],
      2147483647);
}

TEST(JobStrategy, FailIndexRulesGoWithTheirGate) {
  const std::string rules =
      R"("podFailurePolicy":{"rules":[{"action":"FailIndex","onExitCodes":{"operator":"In","values":[1]}},)"
      R"({"action":"FailJob","onExitCodes":{"operator":"In","values":[2]}}]})";
  const Json job = Job().Gates("JobBackoffLimitPerIndex=false").New(JobSpec(rules));
  ASSERT_EQ(job["spec"]["podFailurePolicy"]["rules"].size(), 1u);
  EXPECT_EQ(job["spec"]["podFailurePolicy"]["rules"][0]["action"], "FailJob");
}

struct Case {
  const char* name;
  std::string spec;
  const char* error;
};

TEST(JobStrategy, SpecRules) {
  const Case cases[] = {
      {"negative parallelism", R"("parallelism":-1)",
       "spec.parallelism: Invalid value: -1: must be greater than or equal to 0"},
      {"unknown completion mode", R"("completionMode":"X")",
       R"(spec.completionMode: Unsupported value: "X": supported values: "NonIndexed", "Indexed")"},
      {"per-index limit of a plain job", R"("backoffLimitPerIndex":1)",
       "spec.backoffLimitPerIndex: Invalid value: 1: requires indexed completion mode"},
      {"failed indexes without limit", R"("completionMode":"Indexed","completions":3,"maxFailedIndexes":1)",
       "spec.backoffLimitPerIndex: Required value: when maxFailedIndexes is specified"},
      {"more failed indexes than completions",
       R"("completionMode":"Indexed","completions":3,"backoffLimitPerIndex":1,"maxFailedIndexes":4)",
       "spec.maxFailedIndexes: Invalid value: 4: must be less than or equal to completions"},
      {"many completions need a limit of failures",
       R"("completionMode":"Indexed","completions":100001,"backoffLimitPerIndex":1)",
       "spec.maxFailedIndexes: Required value: must be specified when completions is above 100000"},
      {"managedBy", R"("managedBy":"me")",
       R"(spec.managedBy: Invalid value: "me": must be a domain-prefixed path (such as "acme.io/foo"))"},
      {"replacement policy", R"("podReplacementPolicy":"Later")",
       R"(spec.podReplacementPolicy: Unsupported value: "Later": supported values: "Failed", "TerminatingOrFailed")"},
      {"replacement policy beside a failure policy",
       R"("podReplacementPolicy":"TerminatingOrFailed","podFailurePolicy":{"rules":[]})",
       R"(spec.podReplacementPolicy: Unsupported value: "TerminatingOrFailed": supported values: "Failed")"},
      {"rule without a test", R"("podFailurePolicy":{"rules":[{"action":"FailJob"}]})",
       "spec.podFailurePolicy.rules[0]: Invalid value: specifying one of OnExitCodes and OnPodConditions is "
       "required"},
      {"unordered exit codes",
       R"("podFailurePolicy":{"rules":[{"action":"FailJob","onExitCodes":{"operator":"In","values":[3,1]}}]})",
       "spec.podFailurePolicy.rules[0].onExitCodes.values: Invalid value: [3,1]: must be ordered"},
      {"repeated exit code",
       R"("podFailurePolicy":{"rules":[{"action":"FailJob","onExitCodes":{"operator":"NotIn","values":[1,1]}}]})",
       "spec.podFailurePolicy.rules[0].onExitCodes.values[1]: Duplicate value: 1"},
      {"no operator",
       R"("podFailurePolicy":{"rules":[{"action":"FailJob","onExitCodes":{"operator":"","values":[1]}}]})",
       R"(spec.podFailurePolicy.rules[0].onExitCodes.operator: Required value: valid values: ["In" "NotIn"])"},
      {"FailIndex without limit",
       R"("podFailurePolicy":{"rules":[{"action":"FailIndex","onExitCodes":{"operator":"In","values":[1]}}]})",
       R"(spec.podFailurePolicy.rules[0].action: Invalid value: "FailIndex": requires the backoffLimitPerIndex to be set)"},
      {"success policy without rules",
       R"("completionMode":"Indexed","completions":2,"successPolicy":{"rules":[]})",
       "spec.successPolicy.rules: Required value: at least one rules must be specified when the "
       "successPolicy is specified"},
      {"success of an index that there is not",
       R"("completionMode":"Indexed","completions":3,"successPolicy":{"rules":[{"succeededIndexes":"1-9"}]})",
       R"(spec.successPolicy.rules[0].succeededIndexes: Invalid value: "1-9": error parsing succeededIndexes: too large index: "9")"},
      {"more successes than named",
       R"("completionMode":"Indexed","completions":3,"successPolicy":{"rules":[{"succeededIndexes":"0-1","succeededCount":3}]})",
       "spec.successPolicy.rules[0].succeededCount: Invalid value: 3: must be less than or equal to 2 (the "
       "number of indexes "
       "in the specified succeededIndexes field)"},
  };
  for (const Case& c : cases) {
    EXPECT_THAT(Job().CreateErrors(JobSpec(c.spec)), ElementsAre(c.error)) << c.name;
  }
}

TEST(JobStrategy, RestartPolicyAlwaysIsRequiredToBeChosen) {
  EXPECT_THAT(
      Job().CreateErrors(WithSpec({testing::kTemplate})),
      ElementsAre(R"(spec.template.spec.restartPolicy: Required value: valid values: "OnFailure", "Never")"));
}

TEST(JobStrategy, ForeignSelectorIsRefused) {
  EXPECT_THAT(Job().CreateErrors(JobSpec(R"("selector":{"matchLabels":{"a":"b"}})")),
              ElementsAre(StartsWith("spec.selector: Invalid value: {\"matchLabels\":{\"a\":\"b\""),
                          StartsWith("spec.template.metadata.labels: Invalid value: {\"app\":\"x\"")));
}

TEST(JobStrategy, ManualSelectorGeneratesNothing) {
  const std::string spec = JobSpec(R"("manualSelector":true,"selector":{"matchLabels":{"app":"x"}})");
  EXPECT_EQ(Job().New(spec)["spec"]["template"]["metadata"]["labels"], Json::parse(R"({"app":"x"})"));
  EXPECT_THAT(Job().CreateErrors(spec), IsEmpty());
}

TEST(JobStrategy, HostnamesOfIndexesMustFit) {
  const std::string name(62, 'a');
  EXPECT_THAT(Job().CreateErrors(R"({"metadata":{"name":")" + name + R"("},"spec":{)" +
                                 std::string(kJobTemplate) + "," + kIndexed + "}}"),
              ElementsAre("metadata.name: Invalid value: \"" + name +
                          "\": will not able to create pod with invalid DNS label: " + name + "-2"));
}

TEST(JobStrategy, PlainJobsKeepTheirCompletions) {
  const Json old = Job().New(JobSpec(R"("completions":2)"));
  EXPECT_THAT(Job().UpdateErrors(old, R"({"spec":{"completions":3}})"),
              ElementsAre("spec.completions: Invalid value: 3: field is immutable"));
  EXPECT_THAT(Job().UpdateErrors(old, R"({"spec":{"parallelism":2,"podReplacementPolicy":"Failed"}})"),
              IsEmpty());
}

TEST(JobStrategy, IndexedJobsScaleInTandem) {
  const Json old = Job().New(JobSpec(kIndexed));
  EXPECT_THAT(Job().UpdateErrors(old, R"({"spec":{"completions":5,"parallelism":5}})"), IsEmpty());
  EXPECT_THAT(
      Job().UpdateErrors(old, R"({"spec":{"completions":5}})"),
      ElementsAre(
          "spec.completions: Invalid value: 5: can only be modified in tandem with spec.parallelism"));
  EXPECT_THAT(Job()
                  .Gates("ElasticIndexedJob=false")
                  .UpdateErrors(old, R"({"spec":{"completions":5,"parallelism":5}})"),
              ElementsAre("spec.completions: Invalid value: 5: field is immutable"));
}

TEST(JobStrategy, TemplateOfARunningJobIsFixed) {
  const Json old = Job().New(JobSpec());
  EXPECT_THAT(Job().UpdateErrors(old, R"({"spec":{"template":{"spec":{"nodeSelector":{"a":"b"}}}}})"),
              ElementsAre(StartsWith("spec.template: Invalid value: ")));
}

TEST(JobStrategy, SuspendedJobMayChangeWhereAndWithWhatItRuns) {
  Json old = Job().New(JobSpec(R"("suspend":true)"));
  EXPECT_THAT(Job().UpdateErrors(old, R"({"spec":{"template":{"metadata":{"annotations":{"a":"b"}},"spec":{
      "nodeSelector":{"a":"b"},"affinity":{"nodeAffinity":{"requiredDuringSchedulingIgnoredDuringExecution":
      {"nodeSelectorTerms":[{"matchExpressions":[{"key":"k","operator":"Exists"}]}]}}},
      "containers":[{"name":"c","image":"nginx:1","resources":{"requests":{"cpu":"1"}}}]}}}})"),
              IsEmpty());
  EXPECT_THAT(Job().UpdateErrors(
                  old, R"({"spec":{"template":{"spec":{"containers":[{"name":"c","image":"nginx:2"}]}}}})"),
              ElementsAre(StartsWith("spec.template.spec: Invalid value: ")));
  old["status"] = Json::parse(R"({"startTime":"2026-01-01T00:00:00Z"})");
  EXPECT_THAT(Job().UpdateErrors(old, R"({"spec":{"template":{"spec":{"nodeSelector":{"a":"b"}}}}})"),
              ElementsAre(StartsWith("spec.template: Invalid value: ")));
}

TEST(JobStrategy, PoliciesAreImmutable) {
  const Json old = Job().New(JobSpec());
  EXPECT_THAT(
      Job().UpdateErrors(
          old,
          R"({"spec":{"podReplacementPolicy":"Failed","managedBy":"a.b/c","podFailurePolicy":{"rules":[{"action":"Ignore","onPodConditions":[{"type":"X"}]}]}}})"),
      ElementsAre(StartsWith("spec.podFailurePolicy: Invalid value: "),
                  "spec.managedBy: Invalid value: \"a.b/c\": field is immutable"));
}

TEST(JobStrategy, DependentsAreOrphanedByDefault) { EXPECT_TRUE(JobStrategy().OrphansDependentsByDefault()); }

}  // namespace
}  // namespace terrarium::apiserver

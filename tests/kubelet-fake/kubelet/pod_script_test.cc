#include "api/pod_script/pod_script.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/base/feature_gates.h"
#include "apiserver/strategies.h"
#include "tests/kubelet-fake/kubelet/life_player.h"

namespace terrarium::kubelet_fake::testing {
namespace {

using api::PodScript;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> Texts(const api::FieldErrors& errors) {
  std::vector<std::string> out;
  for (const api::FieldError& error : errors) out.push_back(error.field + ": " + error.message);
  return out;
}

std::vector<std::string> ErrorsOf(const Json& script) {
  const Json pod = BoundPod(script);
  PodScript out;
  const api::Path path("metadata.annotations");
  return Texts(api::ParsePodScript(pod["metadata"]["annotations"], pod["spec"], path, &out));
}

TEST(PodScript, ReadsEveryKey) {
  const Json pod = BoundPod({{"start-delay", "1h30m"},
                             {"ready-delay", "250ms"},
                             {"run-for", "1.5s"},
                             {"exit-code", "3"},
                             {"exit-reason", "OOMKilled"},
                             {"stop-after", "0"},
                             {"stop-exit-code", "143"},
                             {"ignore-sigterm", "true"},
                             {"hang", "false"},
                             {"never-ready", "true"},
                             {"readiness", "10s:false,25s:true"},
                             {"liveness", "40s:false"},
                             {"log", "hello\n"},
                             {"hold", "terminating"},
                             {"exit-code.web", "4"}});
  const Json& annotations = pod["metadata"]["annotations"];
  PodScript script;
  ASSERT_THAT(Texts(api::ParsePodScript(annotations, pod["spec"], api::Path("a"), &script)), IsEmpty());
  EXPECT_EQ(script.all.start_delay, 90min);
  EXPECT_EQ(script.all.ready_delay, 250ms);
  EXPECT_EQ(script.all.run_for, 1500ms);
  EXPECT_EQ(script.all.exit_code, 3);
  EXPECT_EQ(script.all.exit_reason, "OOMKilled");
  EXPECT_EQ(script.all.stop_after, 0s);
  EXPECT_EQ(script.all.stop_exit_code, 143);
  EXPECT_EQ(script.all.ignore_sigterm, true);
  EXPECT_EQ(script.all.hang, false);
  EXPECT_EQ(script.all.never_ready, true);
  EXPECT_THAT(*script.all.readiness, ElementsAre(api::ProbeFlip{10s, false}, api::ProbeFlip{25s, true}));
  EXPECT_EQ(script.all.liveness, 40s);
  EXPECT_EQ(script.all.log, "hello\n");
  EXPECT_EQ(script.hold, (api::HoldPoints{.ready = false, .terminating = true}));
  EXPECT_EQ(*script.Find("web", &api::ContainerScript::exit_code), 4);
  EXPECT_EQ(*script.Find("other", &api::ContainerScript::exit_code), 3);
}

TEST(PodScript, LeavesAnnotationsOfOthersAlone) {
  Json pod = BoundPod();
  pod["metadata"]["annotations"] = {{"example.com/run-for", "soon"}, {"terrarium.devil/x", "y"}};
  EXPECT_FALSE(api::HasPodScript(pod["metadata"]["annotations"]));
  PodScript script;
  EXPECT_THAT(api::ParsePodScript(pod["metadata"]["annotations"], pod["spec"], api::Path("a"), &script),
              IsEmpty());
}

TEST(PodScript, ReportsErrorsWithTheirKey) {
  const std::string at = "metadata.annotations[terrarium.dev/";
  EXPECT_THAT(ErrorsOf({{"run-for", "90"}}),
              ElementsAre(at + "run-for]: Invalid value: \"90\": time: missing unit in duration \"90\""));
  EXPECT_THAT(ErrorsOf({{"stop-after", "-1s"}}),
              ElementsAre(at + "stop-after]: Invalid value: \"-1s\": must be greater than or equal to 0"));
  EXPECT_THAT(ErrorsOf({{"exit-code", "256"}}),
              ElementsAre(at + "exit-code]: Invalid value: \"256\": must be between 0 and 255, inclusive"));
  EXPECT_THAT(ErrorsOf({{"exit-code", "one"}}),
              ElementsAre(at + "exit-code]: Invalid value: \"one\": must be an integer"));
  EXPECT_THAT(ErrorsOf({{"hang", "yes"}}),
              ElementsAre(at + "hang]: Unsupported value: \"yes\": supported values: \"false\", \"true\""));
  EXPECT_THAT(ErrorsOf({{"hold", "never"}}),
              ElementsAre(at + "hold]: Unsupported value: \"never\": supported values: \"none\", \"ready\", "
                               "\"ready,terminating\", \"terminating\""));
  EXPECT_THAT(ErrorsOf({{"exit-code.wbe", "1"}}),
              ElementsAre(at + "exit-code.wbe]: Invalid value: \"wbe\": container not found"));
  EXPECT_THAT(
      ErrorsOf({{"runfor", "1s"}}),
      ElementsAre(
          at +
          "runfor]: Unsupported value: \"runfor\": supported values: \"cpu\", \"exit-code\", "
          "\"exit-reason\", \"hang\", \"hold\", \"ignore-sigterm\", \"liveness\", \"log\", \"log-every\", "
          "\"memory\", \"never-ready\", \"readiness\", \"ready-delay\", \"run-for\", \"start-delay\", "
          "\"stop-after\", \"stop-exit-code\""));
}

TEST(PodScript, ProbeScriptsHaveAGrammar) {
  EXPECT_THAT(ErrorsOf({{"readiness", "0s:false"}}), IsEmpty());
  for (const char* bad : {"", "10s", "10s:no", "10s:false,", "false"}) {
    EXPECT_EQ(ErrorsOf({{"readiness", bad}}).size(), 1U) << bad;
  }
  EXPECT_THAT(ErrorsOf({{"readiness", "10s:false,10s:true"}}),
              ElementsAre(::testing::HasSubstr("must be in ascending order of time")));
  for (const char* bad : {"40s", "40s:true", "1s:false,2s:false", "x:false"}) {
    EXPECT_EQ(ErrorsOf({{"liveness", bad}}).size(), 1U) << bad;
  }
}

TEST(PodScript, WhatIsLaidOnTopWinsEvenOverTheMoreSpecific) {
  PodScript base, over;
  const Json below = {{"run-for", "1s"}, {"exit-code.web", 1}, {"stop-after.web", "9s"}};
  const Json above = {{"exit-code", 2}, {"hang.web", true}};
  ASSERT_THAT(api::ParseScriptKeys(below, api::Path("s"), &base), IsEmpty());
  ASSERT_THAT(api::ParseScriptKeys(above, api::Path("s"), &over), IsEmpty());
  Overlay(base, over);
  EXPECT_EQ(*base.Find("web", &api::ContainerScript::exit_code), 2);
  EXPECT_EQ(*base.Find("web", &api::ContainerScript::run_for), 1s);
  EXPECT_EQ(*base.Find("web", &api::ContainerScript::stop_after), 9s);
  EXPECT_EQ(*base.Find("web", &api::ContainerScript::hang), true);
}

TEST(PodScriptAdmission, RefusesABadScriptOfAPod) {
  const api::FeatureGates gates;
  const apiserver::StrategyContext context{gates, kBeginning};
  const Json pod = BoundPod({{"run-for", "soon"}});
  EXPECT_THAT(Texts(apiserver::PodStrategy().Validate(context, pod)),
              ::testing::Contains(
                  "metadata.annotations[terrarium.dev/run-for]: Invalid value: \"soon\": time: invalid "
                  "duration \"soon\""));
  EXPECT_THAT(Texts(apiserver::PodStrategy().ValidateUpdate(context, pod, BoundPod())),
              ::testing::Contains(
                  ::testing::HasSubstr("metadata.annotations[terrarium.dev/run-for]: Invalid value")));
}

TEST(PodScriptAdmission, RefusesABadScriptOfATemplate) {
  const api::FeatureGates gates;
  const Json pod = BoundPod({{"run-for", "soon"}});
  const Json deployment = {{"metadata", {{"name", "d"}, {"namespace", "ns"}}},
                           {"spec", {{"template", {{"metadata", pod["metadata"]}, {"spec", pod["spec"]}}}}}};
  EXPECT_THAT(Texts(apiserver::DeploymentStrategy().Validate({gates, kBeginning}, deployment)),
              ::testing::Contains(::testing::HasSubstr(
                  "spec.template.metadata.annotations[terrarium.dev/run-for]: Invalid value: \"soon\"")));
}

}  // namespace
}  // namespace terrarium::kubelet_fake::testing

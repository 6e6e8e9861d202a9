// Creation, update and status update of pods.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/json_access.h"
#include "api/selector/field_selector.h"
#include "apiserver/header.h"
#include "apiserver/validation/pod_template.h"
#include "tests/apiserver/pod_fixture.h"

namespace terrarium::apiserver::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::StartsWith;
using ::testing::UnorderedElementsAre;

std::vector<std::string> StatusErrors(Json pod, const Json& old) {
  PodStrategy().PrepareForStatusUpdate(Context(DefaultGates()), pod, old);
  return Texts(PodStrategy().ValidateStatusUpdate(Context(DefaultGates()), pod, old));
}

std::vector<std::string> CreateWarnings(Json pod) {
  PodStrategy().PrepareForCreate(Context(DefaultGates()), pod);
  return PodStrategy().Warnings(Context(DefaultGates()), pod, nullptr);
}

Json ContainerOf(const Json& pod) { return pod.at("spec").at("containers").at(0); }

TEST(PodDefaults, PullPolicyFollowsTheImage) {
  const std::string digest = "@sha256:" + std::string(64, 'a');
  for (const auto& [image, policy] : std::vector<std::pair<std::string, std::string>>{
           {"nginx", "Always"},
           {"nginx:latest", "Always"},
           {"nginx:1", "IfNotPresent"},
           {"localhost:5000/nginx", "Always"},
           {"registry.example.com/a/b:latest", "Always"},
           {"Registry/a", "Always"},
           {"nginx" + digest, "IfNotPresent"},
           {"nginx:latest" + digest, "Always"},
           {"Nginx", "IfNotPresent"},  // not an image reference
           {"a__b/c--d.e", "Always"},
           {"a___b", "IfNotPresent"},
           {std::string(64, 'a'), "IfNotPresent"},
       }) {
    EXPECT_EQ(ContainerOf(PodWithContainer({{"image", image}})).at("imagePullPolicy"), policy) << image;
  }
}

TEST(PodDefaults, AVolumeWithoutASourceIsEmpty) {
  EXPECT_EQ(PodWithSpec({{"volumes", Json::array({Json{{"name", "v"}}})}}).at("spec").at("volumes"),
            Json::parse(R"([{"name":"v","emptyDir":{}}])"));
}

TEST(PodDefaults, RequestsComeFromLimitsInPodsButNotInTemplates) {
  const Json limits = {
      {"resources", {{"limits", {{"cpu", "1"}, {"memory", "1Gi"}}}, {"requests", {{"cpu", "500m"}}}}}};
  EXPECT_EQ(ContainerOf(PodWithContainer(limits)).at("resources").at("requests"),
            Json::parse(R"({"cpu":"500m","memory":"1Gi"})"));
  Json spec = {
      {"containers", Json::array({Json{{"name", "c"}, {"image", "i"}, {"resources", limits["resources"]}}})}};
  DefaultPodSpec(spec);
  EXPECT_EQ(spec["containers"][0]["resources"], limits["resources"]);
}

TEST(PodDefaults, AmountsAreRoundedUpToAThousandth) {
  EXPECT_EQ(ContainerOf(PodWithContainer({{"resources", {{"requests", {{"cpu", "100u"}}}}}})).at("resources"),
            Json::parse(R"({"requests":{"cpu":"1m"}})"));
}

TEST(PodDefaults, HostNetworkTakesHostPorts) {
  const Json ports = Json::array({Json{{"containerPort", 80}}});
  const Json container = {{"name", "c"}, {"image", "i"}, {"ports", ports}};
  const Json pod = PodWithSpec({{"hostNetwork", true}, {"containers", Json::array({container})}});
  EXPECT_EQ(ContainerOf(pod).at("ports"),
            Json::parse(R"([{"containerPort":80,"hostPort":80,"protocol":"TCP"}])"));
  Json spec = {{"hostNetwork", true}, {"containers", Json::array({container})}};
  DefaultPodSpec(spec);
  EXPECT_EQ(spec["containers"][0]["ports"], ports);
}

TEST(PodDefaults, ServiceAccountHasTwoNames) {
  EXPECT_EQ(
      PodWithSpec({{"serviceAccountName", "a"}, {"serviceAccount", "b"}}).at("spec").at("serviceAccount"),
      "a");
  EXPECT_EQ(PodWithSpec({{"serviceAccount", "b"}}).at("spec").at("serviceAccountName"), "b");
  EXPECT_FALSE(MakePod().at("spec").contains("serviceAccountName"));
}

TEST(PodDefaults, NegativeGraceIsOneSecond) {
  EXPECT_EQ(
      PodWithSpec({{"terminationGracePeriodSeconds", -5}}).at("spec").at("terminationGracePeriodSeconds"), 1);
}

TEST(PodDefaults, FieldsOfFeaturesThatAreOffAreDropped) {
  const Json pod = PodWithSpec(
      {{"schedulingGroup", {{"podGroupName", "g"}}},
       {"containers",
        Json::array({Json{{"name", "c"}, {"image", "i"}, {"lifecycle", {{"stopSignal", "SIGUSR1"}}}}})}});
  EXPECT_FALSE(pod.at("spec").contains("schedulingGroup"));
  EXPECT_FALSE(ContainerOf(pod).at("lifecycle").contains("stopSignal"));
}

TEST(PodCreate, StartsPendingWithItsClassOfService) {
  EXPECT_EQ(StoredPod().at("status"), Json::parse(R"({"phase":"Pending","qosClass":"BestEffort"})"));
  const Json both = {{"cpu", "1"}, {"memory", "1Gi"}};
  const auto pod = [](const Json& resources) {
    return StoredPod(
        {{"spec",
          {{"containers", Json::array({Json{{"name", "c"}, {"image", "i"}, {"resources", resources}}})}}}});
  };
  EXPECT_EQ(pod({{"limits", both}}).at("status").at("qosClass"), "Guaranteed");
  EXPECT_EQ(pod({{"requests", both}}).at("status").at("qosClass"), "Burstable");
  EXPECT_EQ(pod({{"limits", {{"cpu", "1"}}}}).at("status").at("qosClass"), "Burstable");
  EXPECT_EQ(pod({{"limits", {{"cpu", "0"}}}}).at("status").at("qosClass"), "BestEffort");
}

TEST(PodCreate, GetsTolerationsForBrokenNodes) {
  EXPECT_EQ(StoredPod().at("spec").at("tolerations"),
            Json::parse(R"([{"key":"node.kubernetes.io/not-ready","operator":"Exists","effect":"NoExecute",
                             "tolerationSeconds":300},
                            {"key":"node.kubernetes.io/unreachable","operator":"Exists","effect":"NoExecute",
                             "tolerationSeconds":300}])"));
  const Json all = Json::array({Json{{"operator", "Exists"}}});
  EXPECT_EQ(StoredPod({{"spec", {{"tolerations", all}}}}).at("spec").at("tolerations"), all);
}

TEST(PodCreate, AGatedPodHasASchedulingGatedCondition) {
  const Json pod = StoredPod({{"spec", {{"schedulingGates", Json::array({Json{{"name", "a"}}})}}}});
  EXPECT_EQ(
      pod.at("status").at("conditions"),
      Json::parse(R"([{"type":"PodScheduled","status":"False","reason":"SchedulingGated","lastProbeTime":null,
                             "lastTransitionTime":"1970-01-01T01:00:00Z",
                             "message":"Scheduling is blocked due to non-empty scheduling gates"}])"));
}

TEST(PodCreate, MatchLabelKeysBecomeRequirements) {
  const Json constraint = {{"maxSkew", 1},
                           {"topologyKey", "zone"},
                           {"whenUnsatisfiable", "DoNotSchedule"},
                           {"labelSelector", {{"matchLabels", {{"app", "x"}}}}},
                           {"matchLabelKeys", {"hash", "absent"}}};
  const Json pod = StoredPod({{"metadata", {{"labels", {{"app", "x"}, {"hash", "1"}}}}},
                              {"spec", {{"topologySpreadConstraints", Json::array({constraint})}}}});
  EXPECT_EQ(pod.at("spec").at("topologySpreadConstraints").at(0).at("labelSelector").at("matchExpressions"),
            Json::parse(R"([{"key":"hash","operator":"In","values":["1"]}])"));
  EXPECT_THAT(UpdateErrors(pod, pod), IsEmpty());
}

TEST(PodUpdate, AnUnchangedPodIsFine) { EXPECT_THAT(UpdateErrors(StoredPod(), StoredPod()), IsEmpty()); }

TEST(PodUpdate, AReplacementThatOmitsWhatTheServerAddedIsFine) {
  Json pod = MakePod();
  pod["metadata"]["resourceVersion"] = "1";
  pod["metadata"]["generation"] = 1;
  EXPECT_THAT(UpdateErrors(pod, StoredPod()), IsEmpty());
}

TEST(PodUpdate, ImagesLabelsAndDeadlinesMayChange) {
  Json pod = StoredPod();
  pod["spec"]["containers"][0]["image"] = "other";
  pod["spec"]["activeDeadlineSeconds"] = 10;
  pod["metadata"]["labels"] = {{"a", "b"}};
  pod["spec"]["tolerations"].push_back({{"key", "k"}, {"operator", "Exists"}});
  pod["spec"]["tolerations"][0]["tolerationSeconds"] = 5;
  EXPECT_THAT(UpdateErrors(pod, StoredPod()), IsEmpty());
  EXPECT_TRUE(PodStrategy().BumpsGeneration(pod, StoredPod()));
}

TEST(PodUpdate, TheRestOfTheSpecMayNot) {
  Json pod = StoredPod({{"spec", {{"nodeName", "n2"}}}});
  const auto errors = UpdateErrors(pod, StoredPod({{"spec", {{"nodeName", "n1"}}}}));
  EXPECT_THAT(
      errors,
      ElementsAre(
          "spec: Forbidden: pod updates may not change fields other than "
          "`spec.containers[*].image`,`spec.initContainers[*].image`,`spec.activeDeadlineSeconds`,"
          "`spec.tolerations` (only additions to existing tolerations),`spec.terminationGracePeriodSeconds` "
          "(allow it to be set to 1 if it was previously negative)\n- \"nodeName\": \"n1\"\n+ \"nodeName\": "
          "\"n2\"\n"));
}

TEST(PodUpdate, ContainersStay) {
  Json pod = StoredPod();
  pod["spec"]["containers"].push_back(pod["spec"]["containers"][0]);
  pod["spec"]["containers"][1]["name"] = "d";
  EXPECT_THAT(UpdateErrors(pod, StoredPod()),
              ElementsAre("spec.containers: Forbidden: pod updates may not add or remove containers"));
}

TEST(PodUpdate, DeadlinesOnlyShrink) {
  const Json old = StoredPod({{"spec", {{"activeDeadlineSeconds", 10}}}});
  Json pod = old;
  pod["spec"]["activeDeadlineSeconds"] = 11;
  EXPECT_THAT(
      UpdateErrors(pod, old),
      ElementsAre(
          "spec.activeDeadlineSeconds: Invalid value: 11: must be less than or equal to previous value"));
  pod["spec"].erase("activeDeadlineSeconds");
  EXPECT_THAT(UpdateErrors(pod, old),
              ElementsAre("spec.activeDeadlineSeconds: Invalid value: null: must not update from "
                          "a positive integer to nil value"));
}

TEST(PodUpdate, TolerationsAreOnlyAdded) {
  Json pod = StoredPod({{"spec", {{"tolerations", Json::array({Json{{"operator", "Exists"}}})}}}});
  EXPECT_THAT(UpdateErrors(pod, StoredPod()),
              ElementsAre("spec.tolerations: Forbidden: existing toleration can not be modified except its "
                          "tolerationSeconds"));
}

TEST(PodUpdate, WhileGatedAPodMayBeNarrowed) {
  const Json old = StoredPod({{"spec",
                               {{"schedulingGates", Json::array({Json{{"name", "a"}}, Json{{"name", "b"}}})},
                                {"nodeSelector", {{"zone", "1"}}}}}});
  Json pod = old;
  pod["spec"]["schedulingGates"].erase(1);
  pod["spec"]["nodeSelector"]["disk"] = "ssd";
  pod["spec"]["affinity"]["nodeAffinity"]["requiredDuringSchedulingIgnoredDuringExecution"]
     ["nodeSelectorTerms"] = Json::parse(R"([{"matchExpressions":[{"key":"a","operator":"Exists"}]}])");
  EXPECT_THAT(UpdateErrors(pod, old), IsEmpty());
  pod["spec"]["nodeSelector"]["zone"] = "2";
  pod["spec"]["schedulingGates"].push_back({{"name", "c"}});
  EXPECT_THAT(
      UpdateErrors(pod, old),
      ElementsAre(
          "spec.schedulingGates[1].name: Forbidden: only deletion is allowed, but found new scheduling "
          "gate 'c'",
          "spec.nodeSelector: Invalid value: {\"disk\":\"ssd\",\"zone\":\"2\"}: only additions to "
          "spec.nodeSelector are allowed (no mutations or deletions)"));
}

TEST(PodUpdate, ABadDeletionCostIsReportedTwiceAndMayStay) {
  const Json annotations = {{"controller.kubernetes.io/pod-deletion-cost", "x"}};
  Json pod = StoredPod({{"metadata", {{"annotations", annotations}}}});
  EXPECT_EQ(UpdateErrors(pod, StoredPod()).size(), 2u);
  EXPECT_THAT(UpdateErrors(pod, pod), IsEmpty());
}

TEST(PodUpdate, MirrorAnnotationStays) {
  Json pod = StoredPod({{"spec", {{"nodeName", "n"}}}});
  const Json old = pod;
  pod["metadata"]["annotations"]["kubernetes.io/config.mirror"] = "x";
  EXPECT_THAT(UpdateErrors(pod, old),
              ElementsAre("metadata.annotations[kubernetes.io/config.mirror]: Forbidden: may not "
                          "add mirror pod annotation"));
}

TEST(PodStatus, KeepsWhatItOmits) {
  Json old = StoredPod();
  old["status"]["observedGeneration"] = 4;
  Json pod = old;
  pod["status"] = {{"phase", "Running"}};
  PodStrategy().PrepareForStatusUpdate(Context(DefaultGates()), pod, old);
  EXPECT_EQ(pod["status"],
            Json::parse(R"({"phase":"Running","qosClass":"BestEffort","observedGeneration":4})"));
}

TEST(PodStatus, ClassOfServiceIsImmutable) {
  Json pod = StoredPod();
  pod["status"]["qosClass"] = "Guaranteed";
  EXPECT_THAT(StatusErrors(pod, StoredPod()),
              ElementsAre("status.qosClass: Invalid value: \"Guaranteed\": field is immutable"));
}

TEST(PodStatus, AnEndedContainerStaysEndedUnlessItRestarts) {
  const auto with = [](const char* restart_policy, const Json& state) {
    Json pod = StoredPod({{"spec", {{"restartPolicy", restart_policy}}}});
    pod["status"]["containerStatuses"] = Json::array({Json{{"name", "c"}, {"state", state}}});
    return pod;
  };
  const Json running = {{"running", Json::object()}};
  const Json failed = {{"terminated", {{"exitCode", 1}}}};
  const Json succeeded = {{"terminated", {{"exitCode", 0}}}};
  EXPECT_THAT(StatusErrors(with("Always", running), with("Always", succeeded)), IsEmpty());
  EXPECT_THAT(StatusErrors(with("OnFailure", running), with("OnFailure", failed)), IsEmpty());
  for (const auto& [policy, state] :
       std::vector<std::pair<const char*, Json>>{{"OnFailure", succeeded}, {"Never", failed}}) {
    EXPECT_THAT(
        StatusErrors(with(policy, running), with(policy, state)),
        ElementsAre("status.containerStatuses[0].state: Forbidden: may not be transitioned to non-terminated "
                    "state"));
  }
}

TEST(PodStatus, AddressesComeInPairs) {
  Json pod = StoredPod();
  pod["status"]["podIP"] = "10.0.0.1";
  PodStrategy().Default(pod);
  EXPECT_EQ(pod["status"]["podIPs"], Json::parse(R"([{"ip":"10.0.0.1"}])"));
  EXPECT_THAT(StatusErrors(pod, StoredPod()), IsEmpty());
  pod["status"]["podIPs"] = Json::parse(R"([{"ip":"10.0.0.1"},{"ip":"10.0.0.2"}])");
  EXPECT_THAT(StatusErrors(pod, StoredPod()).at(0),
              ::testing::EndsWith("may specify no more than one IP for each IP family"));
  pod["status"]["podIPs"] = Json::parse(R"([{"ip":"10.0.0.1"},{"ip":"::1"}])");
  EXPECT_THAT(StatusErrors(pod, StoredPod()), IsEmpty());
}

TEST(PodSelectableFields, HaveKubernetesNamesAndValues) {
  Json pod = StoredPod({{"spec", {{"nodeName", "n"}, {"hostNetwork", true}}}});
  pod["status"]["podIPs"] = Json::parse(R"([{"ip":"10.0.0.1"}])");
  const api::ObjectHeader header = DeriveHeaderOfStored("pods", pod);
  std::vector<std::string> got = {"spec.nodeName=" + header.node_name, "status.phase=" + header.phase.text()};
  std::vector<std::string_view> labels;
  for (const SelectableField& field : PodStrategy().SelectableFields()) {
    got.push_back(std::string(field.label) + "=" + field.value(pod));
    labels.push_back(field.label);
  }
  EXPECT_THAT(got, UnorderedElementsAre(
                       "spec.nodeName=n", "spec.restartPolicy=Always", "spec.schedulerName=default-scheduler",
                       "spec.serviceAccountName=", "spec.hostNetwork=true", "status.phase=Pending",
                       "status.podIP=10.0.0.1", "status.podIPs=", "status.nominatedNodeName="));
  for (const std::string& term : got) {
    auto selector = api::FieldSelector::Parse(term, {"", "Pod", labels});
    ASSERT_TRUE(selector.ok()) << term;
    EXPECT_TRUE(selector->Matches(header)) << term;
  }
}

TEST(PodWarnings, NoneForAPlainPod) { EXPECT_THAT(CreateWarnings(MakePod()), IsEmpty()); }

TEST(PodWarnings, NamesThatAreNotHostnames) {
  EXPECT_THAT(
      CreateWarnings(MakePod({{"metadata", {{"name", "a.b"}}}})),
      ElementsAre(
          "metadata.name: this is used in the Pod's hostname, which can result in surprising behavior; a "
          "DNS label is recommended: [must not contain dots]"));
}

TEST(PodWarnings, PortsThatOverlap) {
  const Json ports = Json::array({Json{{"containerPort", 80}, {"name", "a"}},
                                  Json{{"containerPort", 80}, {"name", "b"}, {"hostPort", 8080}},
                                  Json{{"containerPort", 80}, {"name", "c"}},
                                  Json{{"containerPort", 81}, {"hostIP", "10.0.0.1"}}});
  EXPECT_THAT(
      CreateWarnings(PodWithContainer({{"ports", ports}})),
      ElementsAre(
          "spec.containers[0].ports[1]: overlapping port definition with spec.containers[0].ports[0]",
          "spec.containers[0].ports[2]: duplicate port definition with spec.containers[0].ports[0]",
          "spec.containers[0].ports[2]: overlapping port definition with spec.containers[0].ports[1]",
          "spec.containers[0].ports[3]: hostIP set without hostPort: {Name: HostPort:0 ContainerPort:81 "
          "Protocol:TCP HostIP:10.0.0.1}"));
}

TEST(PodWarnings, RepeatedVariablesUnlessTheyBuildOnEachOther) {
  const Json env = Json::array({Json{{"name", "A"}, {"value", "1"}}, Json{{"name", "A"}, {"value", "$(A):2"}},
                                Json{{"name", "A"}, {"value", "3"}}});
  EXPECT_THAT(
      CreateWarnings(PodWithContainer({{"env", env}})),
      ElementsAre(
          "spec.containers[0].env[2]: hides previous definition of \"A\", which may be dropped when using "
          "apply"));
}

TEST(PodWarnings, DeprecatedAndDoubtfulFields) {
  const Json pod = MakePod(
      {{"metadata", {{"annotations", {{"scheduler.alpha.kubernetes.io/critical-pod", ""}}}}},
       {"spec",
        {{"nodeSelector", {{"beta.kubernetes.io/os", "linux"}}},
         {"imagePullSecrets", Json::array({Json{{"name", "a"}}, Json{{"name", "a"}}})},
         {"dnsConfig", {{"nameservers", {"0:0::1"}}}},
         {"volumes", Json::array({Json{{"name", "g"}, {"gitRepo", {{"repository", "r"}}}},
                                  Json{{"name", "m"},
                                       {"configMap",
                                        {{"name", "cm"},
                                         {"items", Json::array({Json{{"key", "k"}, {"path", "a"}},
                                                                Json{{"key", "l"}, {"path", "a/b"}}})}}}}})},
         {"containers",
          Json::array({Json{
              {"name", "c"}, {"image", "i"}, {"resources", {{"requests", {{"memory", "500m"}}}}}}})}}}});
  EXPECT_THAT(
      CreateWarnings(pod),
      ElementsAre(
          "spec.nodeSelector[beta.kubernetes.io/os]: deprecated since v1.14; use \"kubernetes.io/os\" "
          "instead",
          "metadata.annotations[scheduler.alpha.kubernetes.io/critical-pod]: non-functional in v1.16+; use "
          "the "
          "\"priorityClassName\" field instead",
          "spec.volumes[0].gitRepo: deprecated in v1.11, and disabled by default in v1.33+",
          "volume \"m\" (ConfigMap \"cm\"): overlapping paths: \"a/b\" with \"a\"",
          "spec.imagePullSecrets[1].name: duplicate name \"a\"",
          "spec.containers[0].resources.requests[memory]: fractional byte value \"500m\" is invalid, must be "
          "an "
          "integer",
          "spec.dnsConfig.nameservers[0]: IPv6 address \"0:0::1\" should be in RFC 5952 canonical format "
          "(\"::1\")"));
}

TEST(PodWarnings, TemplatesAreNamedByTheirPath) {
  const Json pod = PodWithSpec(
      {{"topologySpreadConstraints",
        Json::array({Json{{"maxSkew", 1}, {"topologyKey", "z"}, {"whenUnsatisfiable", "DoNotSchedule"}}})}});
  EXPECT_THAT(PodSpecWarnings(pod, api::Path("spec").Child("template")),
              Contains(StartsWith(
                  "spec.template.spec.topologySpreadConstraints[0].labelSelector: a null labelSelector")));
}

TEST(PodWarnings, NoneOnUpdate) {
  const Json pod = MakePod({{"metadata", {{"name", "a.b"}}}});
  EXPECT_THAT(PodStrategy().Warnings(Context(DefaultGates()), pod, &pod), IsEmpty());
}

}  // namespace
}  // namespace terrarium::apiserver::testing

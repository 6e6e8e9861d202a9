// Containers and the pod-wide fields of a pod spec.

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "apiserver/validation/pod_template.h"
#include "tests/apiserver/pod_fixture.h"

namespace terrarium::apiserver::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::ElementsAreArray;
using ::testing::IsEmpty;

void RunCases(const std::vector<PodCase>& cases) {
  for (const PodCase& test : cases) {
    EXPECT_THAT(CreateErrors(test.pod), ElementsAreArray(test.errors)) << test.name;
  }
}

TEST(PodValidation, SmallestPodIsFine) { EXPECT_THAT(CreateErrors(MakePod()), IsEmpty()); }

TEST(PodValidation, RichPodIsFine) {
  EXPECT_THAT(
      CreateErrors(PodWithSpec(
          {{"initContainers", Json::array({Json{{"name", "side"},
                                                {"image", "s"},
                                                {"restartPolicy", "Always"},
                                                {"startupProbe", {{"tcpSocket", {{"port", 1}}}}}}})},
           {"containers",
            Json::array({Json{
                {"name", "c"},
                {"image", "nginx"},
                {"ports", Json::array({Json{{"containerPort", 80}, {"name", "web"}}})},
                {"env", Json::array({Json{{"name", "N"},
                                          {"valueFrom", {{"fieldRef", {{"fieldPath", "metadata.name"}}}}}}})},
                {"envFrom", Json::array({Json{{"configMapRef", {{"name", "m"}}}}})},
                {"resources", {{"limits", {{"cpu", "1"}, {"example.com/gpu", "2"}}}}},
                {"livenessProbe", {{"httpGet", {{"port", "web"}}}}},
                {"lifecycle", {{"preStop", {{"sleep", {{"seconds", 3}}}}}}},
                {"volumeMounts", Json::array({Json{{"name", "v"}, {"mountPath", "/v"}}})}}})},
           {"volumes", Json::array({Json{{"name", "v"}}})},
           {"hostname", "h"},
           {"dnsConfig", {{"searches", {"a_b.c.", "."}}, {"nameservers", {"10.0.0.1"}}}},
           {"hostAliases", Json::array({Json{{"ip", "::1"}, {"hostnames", {"a.b"}}}})}})),
      IsEmpty());
}

TEST(PodValidation, ContainersHaveNamesImagesAndKnownPolicies) {
  RunCases({
      {"no containers", PodWithSpec({{"containers", Json::array()}}), {"spec.containers: Required value"}},
      {"neither name nor image",
       PodWithContainer({{"name", nullptr}, {"image", nullptr}}),
       {"spec.containers[0].name: Required value", "spec.containers[0].image: Required value"}},
      {"same name twice, also as init container",
       PodWithSpec({{"initContainers", Json::array({Json{{"name", "c"}, {"image", "i"}}})}}),
       {"spec.initContainers[0].name: Duplicate value: \"c\""}},
      {"blanks around the image",
       PodWithContainer({{"image", " nginx:1"}}),
       {"spec.containers[0].image: Invalid value: \" nginx:1\": must not have leading or trailing "
        "whitespace"}},
      {"unknown pull policy",
       PodWithContainer({{"imagePullPolicy", "Perhaps"}}),
       {"spec.containers[0].imagePullPolicy: Unsupported value: \"Perhaps\": supported values: \"Always\", "
        "\"IfNotPresent\", \"Never\""}},
      {"unknown termination message policy",
       PodWithContainer({{"terminationMessagePolicy", "X"}}),
       {"spec.containers[0].terminationMessagePolicy: Unsupported value: \"X\": supported values: \"File\", "
        "\"FallbackToLogsOnError\""}},
  });
}

TEST(PodValidation, InitContainersRunOnceUnlessTheyAreSidecars) {
  const auto init = [](const Json& patch) {
    Json container = {{"name", "i"}, {"image", "i"}};
    container.merge_patch(patch);
    return PodWithSpec({{"initContainers", Json::array({container})}});
  };
  RunCases({
      {"probe on a plain one",
       init({{"livenessProbe", {{"exec", {{"command", {"x"}}}}}}}),
       {"spec.initContainers[0].livenessProbe: Forbidden: may not be set for init containers without "
        "restartPolicy=Always"}},
      {"probe on a sidecar",
       init({{"restartPolicy", "Always"}, {"livenessProbe", {{"exec", {{"command", {"x"}}}}}}}),
       {}},
      {"unknown restart policy",
       init({{"restartPolicy", "Sometimes"}}),
       {"spec.initContainers[0].restartPolicy: Unsupported value: \"Sometimes\": supported values: "
        "\"Always\", "
        "\"Never\", \"OnFailure\""}},
      {"rules without a policy",
       init({{"restartPolicyRules",
              Json::array(
                  {Json{{"action", "Restart"}, {"exitCodes", {{"operator", "In"}, {"values", {1}}}}}})}}),
       {"spec.initContainers[0].restartPolicy: Required value: must specify restartPolicy when restart rules "
        "are used"}},
  });
}

TEST(PodValidation, EphemeralContainersComeLater) {
  EXPECT_THAT(CreateErrors(
                  PodWithSpec({{"ephemeralContainers", Json::array({Json{{"name", "e"}, {"image", "e"}}})}})),
              ElementsAre("spec.ephemeralContainers: Forbidden: cannot be set on create"));
  const Json pod = PodWithSpec({{"ephemeralContainers", Json::array({Json{{"name", "e"}, {"image", "e"}}})}});
  EXPECT_THAT(
      Texts(ValidatePodTemplateSpec(pod, {}, api::Path("spec").Child("template"))),
      ElementsAre(
          "spec.template.spec.ephemeralContainers: Forbidden: ephemeral containers not allowed in pod "
          "template"));
}

TEST(PodValidation, Ports) {
  const auto ports = [](const Json& list) { return PodWithContainer({{"ports", list}}); };
  RunCases({
      {"numbers, protocol and name",
       ports(
           Json::array({Json{{"containerPort", 0}, {"protocol", "X"}, {"name", "80"}, {"hostPort", 70000}}})),
       {"spec.containers[0].ports[0].name: Invalid value: \"80\": must contain at least one letter (a-z)",
        "spec.containers[0].ports[0].containerPort: Required value",
        "spec.containers[0].ports[0].hostPort: Invalid value: 70000: must be between 1 and 65535, inclusive",
        "spec.containers[0].ports[0].protocol: Unsupported value: \"X\": supported values: \"SCTP\", "
        "\"TCP\", \"UDP\""}},
      {"same host port twice",
       ports(Json::array(
           {Json{{"containerPort", 1}, {"hostPort", 9}}, Json{{"containerPort", 2}, {"hostPort", 9}}})),
       {"spec.containers[0].ports[1].hostPort: Duplicate value: \"TCP//9\""}},
      {"host ports differ from container ports under hostNetwork",
       PodWithSpec(
           {{"hostNetwork", true},
            {"containers",
             Json::array({Json{{"name", "c"},
                               {"image", "i"},
                               {"ports", Json::array({Json{{"containerPort", 1}, {"hostPort", 9}}})}}})}}),
       {"spec.containers[0].ports[0].hostPort: Invalid value: 9: must match `containerPort` when "
        "`hostNetwork` is true"}},
  });
}

TEST(PodValidation, Environment) {
  const auto env = [](const Json& variable) { return PodWithContainer({{"env", Json::array({variable})}}); };
  const std::string path = "spec.containers[0].env[0]";
  RunCases({
      {"no name", env({{"value", "x"}}), {path + ".name: Required value"}},
      {"two sources",
       env({{"name", "A"},
            {"valueFrom",
             {{"secretKeyRef", {{"name", "s"}, {"key", "k"}}},
              {"configMapKeyRef", {{"name", "m"}, {"key", "k"}}}}}}),
       {path + ".valueFrom: Invalid value: \"\": may not have more than one field specified at a time"}},
      {"no source",
       env({{"name", "A"}, {"valueFrom", Json::object()}}),
       {path + ".valueFrom: Invalid value: \"\": must specify one of: `fieldRef`, `resourceFieldRef`, "
               "`configMapKeyRef`, "
               "`secretKeyRef` or `fileKeyRef`"}},
      {"a field that a pod has but a variable cannot show",
       env({{"name", "A"}, {"valueFrom", {{"fieldRef", {{"fieldPath", "status.phase"}}}}}}),
       {path + ".valueFrom.fieldRef.fieldPath: Unsupported value: \"status.phase\": supported values: "
               "\"metadata.name\", \"metadata.namespace\", \"metadata.uid\", \"spec.nodeName\", "
               "\"spec.serviceAccountName\", \"status.hostIP\", \"status.hostIPs\", \"status.podIP\", "
               "\"status.podIPs\""}},
      {"a field that no pod has",
       env({{"name", "A"}, {"valueFrom", {{"fieldRef", {{"fieldPath", "spec.colour"}}}}}}),
       {path + ".valueFrom.fieldRef.fieldPath: Invalid value: \"spec.colour\": error converting fieldPath: "
               "field label "
               "not supported: spec.colour"}},
      {"one label",
       env({{"name", "A"}, {"valueFrom", {{"fieldRef", {{"fieldPath", "metadata.labels['app']"}}}}}}),
       {}},
      {"a divisor that cpu does not have",
       env({{"name", "A"},
            {"valueFrom", {{"resourceFieldRef", {{"resource", "limits.cpu"}, {"divisor", "2"}}}}}}),
       {path + ".valueFrom.resourceFieldRef.divisor: Invalid value: \"limits.cpu\": only divisor's values 1m "
               "and 1 are "
               "supported with the cpu resource"}},
      {"envFrom without a source",
       PodWithContainer({{"envFrom", Json::array({Json{{"prefix", "P"}}})}}),
       {"spec.containers[0].envFrom: Invalid value: \"\": must specify one of: `configMapRef` or "
        "`secretRef`"}},
  });
}

TEST(PodValidation, Resources) {
  const auto resources = [](const Json& value) { return PodWithContainer({{"resources", value}}); };
  const std::string path = "spec.containers[0].resources";
  RunCases({
      {"request above limit",
       resources({{"requests", {{"memory", "2Gi"}}}, {"limits", {{"memory", "1024Mi"}}}}),
       {path + ".requests: Invalid value: \"2Gi\": must be less than or equal to memory limit of 1Gi"}},
      {"negative",
       resources({{"requests", {{"cpu", "-1"}}}}),
       {path + ".requests[cpu]: Invalid value: \"-1\": must be greater than or equal to 0"}},
      {"unknown plain name",
       resources({{"requests", {{"disk", "1"}}}}),
       {path +
            ".requests[disk]: Invalid value: \"disk\": must be a standard resource type or fully qualified",
        path + ".requests[disk]: Invalid value: \"disk\": must be a standard resource for containers"}},
      {"a device in parts",
       resources({{"limits", {{"example.com/gpu", "500m"}}}}),
       {path + ".limits[example.com/gpu]: Invalid value: \"500m\": must be an integer",
        path + ".requests[example.com/gpu]: Invalid value: \"500m\": must be an integer"}},
      {"a device is not overcommitted",
       resources({{"limits", {{"example.com/gpu", "2"}}}, {"requests", {{"example.com/gpu", "1"}}}}),
       {path + ".requests: Invalid value: \"1\": must be equal to example.com/gpu limit of 2"}},
      {"huge pages alone",
       resources({{"limits", {{"hugepages-2Mi", "4Mi"}}}}),
       {path + ": Forbidden: HugePages require cpu or memory"}},
      {"huge pages that do not fit",
       resources({{"limits", {{"hugepages-2Mi", "3Mi"}, {"cpu", "1"}}}}),
       {path + ".limits[hugepages-2Mi]: Invalid value: \"3Mi\": 3Mi is not positive integer multiple of "
               "hugepages-2Mi",
        path + ".requests[hugepages-2Mi]: Invalid value: \"3Mi\": 3Mi is not positive integer multiple of "
               "hugepages-2Mi"}},
      {"a claim that the pod does not have",
       resources({{"claims", Json::array({Json{{"name", "gpu"}}})}}),
       {path + ".claims[0]: Not found: \"gpu\": must be one of the names in pod.spec.resourceClaims which is "
               "empty"}},
      {"containers together above the pod",
       PodWithSpec({{"resources", {{"requests", {{"cpu", "1"}}}}},
                    {"containers",
                     Json::array({Json{
                         {"name", "c"}, {"image", "i"}, {"resources", {{"requests", {{"cpu", "2"}}}}}}})}}),
       {"spec.resources.requests[cpu]: Invalid value: \"1\": must be greater than or equal to aggregate "
        "container "
        "requests of 2"}},
  });
}

TEST(PodValidation, ProbesAndHooks) {
  const auto container = [](const Json& patch) { return PodWithContainer(patch); };
  const std::string path = "spec.containers[0]";
  RunCases({
      {"no handler",
       container({{"readinessProbe", {{"periodSeconds", 1}}}}),
       {path + ".readinessProbe: Required value: must specify a handler type"}},
      {"two handlers",
       container(
           {{"lifecycle", {{"preStop", {{"exec", {{"command", {"x"}}}}, {"httpGet", {{"port", 1}}}}}}}}),
       {path + ".lifecycle.preStop.httpGet: Forbidden: may not specify more than 1 handler type"}},
      {"numbers",
       container({{"livenessProbe",
                   {{"tcpSocket", {{"port", 0}}},
                    {"periodSeconds", -1},
                    {"successThreshold", 2},
                    {"terminationGracePeriodSeconds", 0}}}}),
       {path + ".livenessProbe.tcpSocket.port: Invalid value: 0: must be between 1 and 65535, inclusive",
        path + ".livenessProbe.periodSeconds: Invalid value: -1: must be greater than or equal to 0",
        path + ".livenessProbe.terminationGracePeriodSeconds: Invalid value: 0: must be greater than 0",
        path + ".livenessProbe.successThreshold: Invalid value: 2: must be 1"}},
      {"grace for a readiness probe",
       container(
           {{"readinessProbe", {{"exec", {{"command", {"x"}}}}, {"terminationGracePeriodSeconds", 5}}}}),
       {path + ".readinessProbe.terminationGracePeriodSeconds: Invalid value: 5: must not be set for "
               "readinessProbes"}},
      {"scheme and header",
       container(
           {{"livenessProbe",
             {{"httpGet",
               {{"port", 1}, {"scheme", "FTP"}, {"httpHeaders", Json::array({Json{{"name", "a b"}}})}}}}}}),
       {path + ".livenessProbe.httpGet.scheme: Unsupported value: \"FTP\": supported values: \"HTTP\", "
               "\"HTTPS\"",
        path +
            ".livenessProbe.httpGet.httpHeaders: Invalid value: \"a b\": a valid HTTP header must consist of "
            "alphanumeric characters or '-' (e.g. 'X-Header-Name', regex used for validation is "
            "'[-A-Za-z0-9]+')"}},
      {"longer sleep than the grace period",
       container({{"lifecycle", {{"preStop", {{"sleep", {{"seconds", 31}}}}}}}}),
       {path + ".lifecycle.preStop.sleep: Invalid value: 31: must be non-negative and less than "
               "terminationGracePeriodSeconds (30)"}},
  });
}

TEST(PodValidation, PodWideWordsAndNumbers) {
  RunCases({
      {"restart policy, DNS policy and deadline",
       PodWithSpec({{"restartPolicy", "Sometimes"}, {"dnsPolicy", "X"}, {"activeDeadlineSeconds", 0}}),
       {"spec.restartPolicy: Unsupported value: \"Sometimes\": supported values: \"Always\", \"OnFailure\", "
        "\"Never\"",
        "spec.dnsPolicy: Unsupported value: \"X\": supported values: \"ClusterFirstWithHostNet\", "
        "\"ClusterFirst\", "
        "\"Default\", \"None\"",
        "spec.activeDeadlineSeconds: Invalid value: 0: must be between 1 and 2147483647, inclusive"}},
      {"DNS policy None without servers",
       PodWithSpec({{"dnsPolicy", "None"}}),
       {"spec.dnsConfig: Required value: must provide `dnsConfig` when `dnsPolicy` is None"}},
      {"host alias",
       PodWithSpec({{"hostAliases", Json::array({Json{{"ip", "x"}}})}}),
       {"spec.hostAliases[0].ip: Invalid value: \"x\": must be a valid IP address, (e.g. 10.9.8.7 or "
        "2001:db8::ffff)"}},
      {"hostname",
       PodWithSpec({{"hostname", "a.b"}}),
       {"spec.hostname: Invalid value: \"a.b\": must not contain dots"}},
      {"preemption policy",
       PodWithSpec({{"preemptionPolicy", "Often"}}),
       {"spec.preemptionPolicy: Unsupported value: \"Often\": supported values: \"PreemptLowerPriority\", "
        "\"Never\""}},
      {"operating system",
       PodWithSpec({{"os", {{"name", "plan9"}}}}),
       {"spec.os: Unsupported value: \"plan9\": supported values: \"linux\", \"windows\""}},
      {"two resource claims of one name, one without a source",
       PodWithSpec({{"resourceClaims",
                     Json::array({Json{{"name", "a"}, {"resourceClaimName", "x"}}, Json{{"name", "a"}}})}}),
       {"spec.resourceClaims[1].name: Duplicate value: \"a\"",
        "spec.resourceClaims[1]: Invalid value: {\"name\":\"a\"}: must specify one of: `resourceClaimName`, "
        "`resourceClaimTemplateName`"}},
      {"readiness gate",
       PodWithSpec({{"readinessGates", Json::array({Json{{"conditionType", ""}}})}}),
       {"spec.readinessGates[0].conditionType: Invalid value: \"\": name part must be non-empty",
        "spec.readinessGates[0].conditionType: Invalid value: \"\": name part must consist of alphanumeric "
        "characters, "
        "'-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or "
        "'my.name',  or "
        "'123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')"}},
  });
}

TEST(PodValidation, SecurityContexts) {
  RunCases({
      {"ids",
       PodWithSpec({{"securityContext", {{"runAsUser", -1}, {"supplementalGroups", {1, 4294967296}}}}}),
       {"spec.securityContext.runAsUser: Invalid value: -1: must be between 0 and 2147483647, inclusive",
        "spec.securityContext.supplementalGroups[1]: Invalid value: 4294967296: must be between 0 and "
        "2147483647, "
        "inclusive"}},
      {"seccomp",
       PodWithContainer({{"securityContext", {{"seccompProfile", {{"type", "Localhost"}}}}}}),
       {"spec.containers[0].securityContext.seccompProfile.localhostProfile: Required value: must be set "
        "when seccomp "
        "type is Localhost"}},
      {"sysctls",
       PodWithSpec({{"hostNetwork", true},
                    {"securityContext",
                     {{"sysctls", Json::array({Json{{"name", "net/core/somaxconn"}, {"value", "1"}},
                                               Json{{"name", "Bad"}, {"value", "1"}}})}}}}),
       {"spec.securityContext.sysctls[0].name: Invalid value: \"net/core/somaxconn\": may not be specified "
        "when "
        "'hostNetwork' is true",
        R"(spec.securityContext.sysctls[1].name: Invalid value: "Bad": must have at most 253 characters and match regex )"
        R"(^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$)"}},
      {"unmasked proc needs a user namespace",
       PodWithContainer({{"securityContext", {{"procMount", "Unmasked"}}}}),
       {"spec.containers[0].securityContext.procMount: Invalid value: \"Unmasked\": `hostUsers` must be "
        "false to use "
        "`Unmasked`"}},
      {"a Linux field on Windows",
       PodWithSpec({{"os", {{"name", "windows"}}}, {"securityContext", {{"runAsUser", 1}}}}),
       {"spec.securityContext.runAsUser: Forbidden: cannot be set for a windows pod"}},
      {"a Windows user on Linux",
       PodWithSpec({{"os", {{"name", "linux"}}},
                    {"securityContext", {{"windowsOptions", {{"runAsUserName", "a\\b\\c"}}}}}}),
       {"spec.securityContext.windowsOptions.runAsUserName: Invalid value: \"a\\\\b\\\\c\": runAsUserName "
        "cannot contain "
        "more than one backslash",
        "spec.securityContext.windowsOptions: Forbidden: windows options cannot be set for a linux pod"}},
  });
}

TEST(PodAnnotations, DeletionCostIsAnInt32) {
  const auto pod = [](const char* cost) {
    return MakePod({{"metadata", {{"annotations", {{"controller.kubernetes.io/pod-deletion-cost", cost}}}}}});
  };
  for (const char* good : {"0", "100", "-100", "2147483647", "-2147483648"}) {
    EXPECT_THAT(CreateErrors(pod(good)), IsEmpty()) << good;
  }
  for (const char* bad : {"high", "1.5", "+1", "01", "2147483648", "", " 1", "-"}) {
    EXPECT_THAT(
        CreateErrors(pod(bad)),
        ElementsAre("metadata.annotations[controller.kubernetes.io/pod-deletion-cost]: Invalid value: " +
                    api::Quote(bad) + ": must be a 32bit integer"))
        << bad;
  }
  const auto off = DefaultGates().With("PodDeletionCost=false");
  EXPECT_THAT(CreateErrors(pod("high"), *off), IsEmpty());
}

TEST(PodAnnotations, TemplatesAreCheckedWithoutMetadataInThePath) {
  Json pod =
      MakePod({{"metadata", {{"annotations", {{"controller.kubernetes.io/pod-deletion-cost", "x"}}}}}});
  EXPECT_THAT(
      Texts(ValidatePodTemplateSpec(pod, {}, api::Path("spec").Child("template"))),
      ElementsAre(
          "spec.template.annotations[controller.kubernetes.io/pod-deletion-cost]: Invalid value: \"x\": "
          "must be a 32bit integer"));
}

TEST(PodAnnotations, OldProfilesAgreeWithTheFields) {
  const Json pod =
      MakePod({{"metadata",
                {{"annotations",
                  {{"container.apparmor.security.beta.kubernetes.io/c", "unconfined"},
                   {"container.apparmor.security.beta.kubernetes.io/z", "x"}}}}},
               {"spec", {{"securityContext", {{"appArmorProfile", {{"type", "RuntimeDefault"}}}}}}}});
  EXPECT_THAT(
      CreateErrors(pod),
      ElementsAre(
          "metadata.annotations[container.apparmor.security.beta.kubernetes.io/z]: Invalid value: \"z\": "
          "container not found",
          "metadata.annotations[container.apparmor.security.beta.kubernetes.io/z]: Invalid value: \"x\": "
          "invalid "
          "AppArmor profile name: \"x\"",
          "spec.containers[0].securityContext.appArmorProfile.type: Forbidden: apparmor type in annotation "
          "and "
          "field must match"));
}

}  // namespace
}  // namespace terrarium::apiserver::testing

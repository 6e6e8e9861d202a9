#include "testbed/embedding/manifests.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/json_access.h"
#include "testbed/embedding/testbed.h"

namespace terrarium::testbed {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr const char* kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";

std::string DeploymentYaml(const std::string& spec) {
  return "apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: web, labels: {a: x}}\nspec:\n" + spec +
         "  selector: {matchLabels: {app: web}}\n"
         "  template:\n"
         "    metadata: {labels: {app: web}}\n"
         "    spec: {containers: [{name: c, image: 'i:1'}]}\n";
}

std::vector<std::string> Lines(const ApplyReport& report) {
  std::vector<std::string> lines;
  for (const Applied& applied : report.applied) lines.push_back(applied.String());
  for (const ApplyFailure& failure : report.failures) lines.push_back(failure.String());
  return lines;
}

// A cluster without controllers.
class Manifests : public ::testing::Test {
 protected:
  std::vector<std::string> Apply(const std::string& text, const ApplyOptions& options = {}) {
    return Lines(bed.Apply(text, options));
  }
  Testbed bed{{.controllers = "-*", .kubelet = false, .scheduler = false, .nodes = 0}};
};

TEST_F(Manifests, AreCreatedOnceAndThenOnlyWhatDiffersIsWritten) {
  EXPECT_THAT(Apply(DeploymentYaml("  replicas: 3\n")), ElementsAre("deployment.apps/web created"));
  std::int64_t revision = bed.Deployment("web").revision();
  EXPECT_THAT(Apply(DeploymentYaml("  replicas: 3\n")), ElementsAre("deployment.apps/web unchanged"));
  EXPECT_EQ(bed.Deployment("web").revision(), revision);
  EXPECT_THAT(Apply(DeploymentYaml("  replicas: 5\n")), ElementsAre("deployment.apps/web configured"));
  EXPECT_EQ(bed.Deployment("web").desired_replicas(), 5);
  EXPECT_EQ(bed.Deployment("web").generation(), 2);
}

TEST_F(Manifests, KeepWhatOthersHaveSetAndTakeBackWhatTheyHadSetThemselves) {
  bed.Must(bed.Apply(DeploymentYaml("  replicas: 3\n  minReadySeconds: 7\n")));
  bed.Must(bed.Patch("deployments", {"default", "web"},
                     {{"spec", {{"replicas", 9}}}, {"metadata", {{"labels", {{"b", "y"}}}}}}));
  EXPECT_THAT(Apply(DeploymentYaml("  minReadySeconds: 7\n")), ElementsAre("deployment.apps/web configured"));
  EXPECT_EQ(bed.Deployment("web").desired_replicas(), 1)
      << "replicas had been applied and no longer are: the default";
  bed.Must(bed.Patch("deployments", {"default", "web"}, {{"spec", {{"replicas", 9}}}}));
  EXPECT_THAT(Apply(DeploymentYaml("")), ElementsAre("deployment.apps/web configured"));
  EXPECT_EQ(bed.Deployment("web").desired_replicas(), 9) << "set by another client";
  EXPECT_EQ(bed.Deployment("web").field("spec.minReadySeconds"), nullptr);
  EXPECT_EQ(bed.Deployment("web").label("b"), "y");
}

TEST_F(Manifests, RememberWhatWasAppliedAsKubectlDoes) {
  bed.Must(bed.Apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: c}, data: {k: 'a<b'}}"));
  EXPECT_EQ(ObjectView(bed.Get("configmaps", "default", "c")).annotation(kLastApplied),
            R"({"apiVersion":"v1","data":{"k":"a\u003cb"},"kind":"ConfigMap",)"
            R"("metadata":{"annotations":{},"name":"c","namespace":"default"}})"
            "\n");
}

TEST_F(Manifests, AStrategyThatChangesLosesTheParametersOfTheOldOne) {
  bed.Must(bed.Apply(DeploymentYaml("  strategy: {type: RollingUpdate}\n")));
  EXPECT_THAT(Apply(DeploymentYaml("  strategy: {type: Recreate}\n")),
              ElementsAre("deployment.apps/web configured"));
  EXPECT_EQ(bed.Deployment("web").strategy(), "Recreate");
}

TEST_F(Manifests, DocumentsAndListsAndJsonAreReadAlike) {
  EXPECT_THAT(
      Apply("# first\n"
            "apiVersion: v1\nkind: Namespace\nmetadata: {name: team}\n"
            "---\n"
            "---\n"
            "apiVersion: v1\nkind: List\nitems:\n"
            "- {apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: team}}\n"
            "- {apiVersion: v1, kind: ConfigMap, metadata: {name: b}}\n"
            "---\n"
            R"({"apiVersion": "v1", "kind": "ConfigMapList", "items": [{"metadata": {"name": "c"}}]})"),
      ElementsAre("namespace/team created", "configmap/a created", "configmap/b created",
                  "configmap/c created"));
  EXPECT_NE(bed.Get("configmaps", "team", "a"), nullptr);
  EXPECT_NE(bed.Get("configmaps", "default", "b"), nullptr);
  EXPECT_THAT(Apply(""), IsEmpty());
}

TEST_F(Manifests, TheDefaultNamespaceIsForObjectsWithoutOne) {
  bed.Must(bed.Apply("{apiVersion: v1, kind: Namespace, metadata: {name: team}}"));
  bed.Must(bed.Apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}", {.ns = "team"}));
  EXPECT_NE(bed.Get("configmaps", "team", "a"), nullptr);
}

TEST_F(Manifests, AFailureNamesItsDocumentAndCarriesTheStatus) {
  ApplyReport report = bed.Apply("{apiVersion: v1, kind: ConfigMap, metadata: {name: a}}\n---\n" +
                                 DeploymentYaml("  replicas: -1\n") +
                                 "---\n{apiVersion: v1, kind: ConfigMap, metadata: {name: b}}\n");
  EXPECT_EQ(report.applied.size(), 2u) << "one that is refused does not keep the others back";
  ASSERT_EQ(report.failures.size(), 1u);
  EXPECT_EQ(report.failures[0].manifest, "document 2, line 3 (Deployment web)");
  const api::Status& status = report.failures[0].status;
  EXPECT_EQ(status.code, 422);
  EXPECT_TRUE(status.Is(api::reason::kInvalid));
  ASSERT_TRUE(status.details.has_value());
  ASSERT_EQ(status.details->causes.size(), 1u);
  EXPECT_EQ(status.details->causes[0].field, "spec.replicas");
  EXPECT_EQ(status.details->kind, "Deployment");
  EXPECT_THAT(report.failures[0].String(), HasSubstr("must be greater than or equal to 0"));
}

TEST_F(Manifests, ClientSideErrorsAreThoseOfKubectl) {
  struct Case {
    const char* text;
    const char* message;
  };
  for (const Case& c : std::vector<Case>{
           {"a: [", "error converting YAML to JSON: yaml: line 1: did not find expected node content"},
           {"hello", "document 1, line 1: not an object"},
           {"{a: 1, a: 2}", "document 1, line 1: strict decoding error: yaml: unmarshal errors:"},
           {"{apiVersion: v1}", "document 1, line 1: Object 'Kind' is missing in '{\"apiVersion\":\"v1\"}'"},
           {"{kind: Pod}",
            "document 1, line 1 (Pod): Object 'apiVersion' is missing in '{\"kind\":\"Pod\"}'"},
           {"{apiVersion: v2, kind: Pod}",
            "document 1, line 1 (Pod): no matches for kind \"Pod\" in version \"v2\""},
           {"{apiVersion: v1, kind: Pod}", "document 1, line 1 (Pod): resource name may not be empty"},
           {"{apiVersion: v1, kind: Pod, metadata: {generateName: x-}}",
            "document 1, line 1 (Pod): from x-: cannot use generate name with apply"},
           {"{apiVersion: v1, kind: List, items: [7]}", "document 1, line 1, item 1: not an object"},
           {"{apiVersion: v1, kind: ConfigMap, metadata: {name: a}, dato: {}}",
            "document 1, line 1 (ConfigMap a): ConfigMap in version \"v1\" cannot be handled as a ConfigMap: "
            "strict "
            "decoding error: unknown field \"dato\""},
           {"{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: none}}",
            "document 1, line 1 (ConfigMap none/a): namespaces \"none\" not found"},
           {"{apiVersion: v1, kind: ConfigMap, metadata: {name: a, namespace: no}}",  // a boolean, in YAML
            "document 1, line 1 (ConfigMap a): ConfigMap in version \"v1\" cannot be handled as a ConfigMap: "
            "json: "
            "cannot unmarshal bool into Go struct field ObjectMeta.metadata.namespace of type string"},
           {"{apiVersion: v1, kind: ConfigMap, metadata: {name: 7}}",
            "document 1, line 1 (ConfigMap): ConfigMap in version \"v1\" cannot be handled as a ConfigMap: "
            "json: "
            "cannot unmarshal number into Go struct field ObjectMeta.metadata.name of type string"},
       }) {
    std::int64_t before = bed.control_plane().store().CurrentRevision();
    ApplyReport report = bed.Apply(c.text);
    ASSERT_EQ(report.failures.size(), 1u) << c.text;
    EXPECT_THAT(report.failures[0].String(), ::testing::StartsWith(c.message));
    EXPECT_EQ(bed.control_plane().store().CurrentRevision(), before);
  }
}

}  // namespace
}  // namespace terrarium::testbed

#include "api/schema/schema.h"

#include <chrono>
#include <set>

#include <gtest/gtest.h>

#include "api/schema/defaulting.h"
#include "api/schema/own/declarations.h"

namespace terrarium::api {
namespace {

const Message& Apps(const char* name) {
  return Schema::Get().Must(std::string("io.k8s.api.apps.v1.") + name);
}
const Message& Batch(const char* name) {
  return Schema::Get().Must(std::string("io.k8s.api.batch.v1.") + name);
}
const Message& Core(const char* name) {
  return Schema::Get().Must(std::string("io.k8s.api.core.v1.") + name);
}
const Message& Meta(const char* name) {
  return Schema::Get().Must(std::string("io.k8s.apimachinery.pkg.apis.meta.v1.") + name);
}

TEST(Schema, FindsMessagesByFullNameOnly) {
  EXPECT_NE(Schema::Get().Find("io.k8s.api.apps.v1.Deployment"), nullptr);
  EXPECT_EQ(Schema::Get().Find("Deployment"), nullptr);
  EXPECT_EQ(Schema::Get().Find(""), nullptr);
  EXPECT_EQ(Apps("DeploymentSpec").short_name(), "DeploymentSpec");
}

TEST(Schema, EveryMessageResolvesAndHasUniqueNamesAndNumbers) {
  for (const Message& m : Schema::Get().messages()) {
    std::set<std::string_view> names;
    for (const Field& f : m.fields()) {
      EXPECT_TRUE(names.insert(f.name()).second) << m.name() << " " << f.name();
      EXPECT_EQ(m.Find(f.name()), &f) << m.name() << " " << f.name();
      EXPECT_EQ(f.def.type == FieldType::kMessage, f.message != nullptr) << m.name() << " " << f.name();
      EXPECT_FALSE(f.def.go_type.empty()) << m.name() << " " << f.name();
      EXPECT_FALSE(f.Is(kInline)) << m.name() << " " << f.name();
    }
    std::set<int> numbers;
    for (const Field& f : m.wire_fields()) {
      if (f.def.proto_number == 0) continue;
      EXPECT_TRUE(numbers.insert(f.def.proto_number).second) << m.name() << " " << f.def.proto_number;
      EXPECT_EQ(m.FindByNumber(f.def.proto_number), &f);
    }
  }
}

TEST(Schema, NamesAreCaseSensitive) {
  EXPECT_NE(Apps("DeploymentSpec").Find("replicas"), nullptr);
  EXPECT_EQ(Apps("DeploymentSpec").Find("Replicas"), nullptr);
}

TEST(Schema, EmbeddedStructsAreFlatInJsonAndOneFieldOnTheWire) {
  const Message& volume = Core("Volume");
  ASSERT_NE(volume.Find("configMap"), nullptr);
  EXPECT_EQ(volume.Find("VolumeSource"), nullptr);
  const Field* wire = volume.FindByNumber(2);
  ASSERT_NE(wire, nullptr);
  EXPECT_TRUE(wire->Is(kInline));
  EXPECT_EQ(wire->message->short_name(), "VolumeSource");
}

TEST(Schema, TypeMetaIsKnownInJsonAndAbsentFromTheWire) {
  const Field* kind = Apps("Deployment").Find("kind");
  ASSERT_NE(kind, nullptr);
  EXPECT_EQ(kind->def.proto_number, 0);
  EXPECT_EQ(Apps("DeploymentSpec").Find("kind"), nullptr);
}

TEST(Schema, CarriesListAndPatchMarkers) {
  const Field* containers = Core("PodSpec").Find("containers");
  ASSERT_NE(containers, nullptr);
  EXPECT_EQ(containers->def.list_type, ListType::kMap);
  EXPECT_EQ(containers->def.list_map_keys, "name");
  EXPECT_EQ(containers->def.patch_strategy, kPatchMerge);
  EXPECT_EQ(containers->def.patch_merge_key, "name");
  EXPECT_TRUE(containers->Is(kRequired));
  EXPECT_EQ(Core("Container").Find("ports")->def.list_map_keys, "containerPort,protocol");
  EXPECT_EQ(Apps("DeploymentSpec").Find("strategy")->def.patch_strategy, kPatchRetainKeys);
  EXPECT_EQ(Core("PodSpec").Find("volumes")->def.patch_strategy, kPatchMerge | kPatchRetainKeys);
  EXPECT_TRUE(Core("PodSpec").Find("nodeSelector")->def.atomic);
  EXPECT_TRUE(Meta("LabelSelector").atomic_struct());
  EXPECT_EQ(Meta("ObjectMeta").Find("finalizers")->def.list_type, ListType::kSet);
}

TEST(Schema, CarriesEnumsInKubernetesOrder) {
  const auto values = Core("PodSpec").Find("restartPolicy")->enum_values();
  EXPECT_EQ(std::vector<std::string_view>(values.begin(), values.end()),
            (std::vector<std::string_view>{"Always", "Never", "OnFailure"}));
  EXPECT_TRUE(Core("Container").Find("image")->enum_values().empty());
}

TEST(Schema, OwnFieldsAreMergedWithNumbersThatCannotClash) {
  for (const own::AddedField& row : own::AddedFields()) EXPECT_GE(row.def.proto_number, 1000) << row.def.name;
  for (const MessageDef& m : own::AddedMessages()) {
    for (const FieldDef& f : m.fields) EXPECT_GE(f.proto_number, 1000) << m.name << " " << f.name;
  }
  for (const Message& m : Schema::Get().messages()) {
    const bool ours =
        m.name().find("PodPicker") != std::string_view::npos || m.short_name() == "HTTPHeaderSource";
    for (const Field& f : m.wire_fields()) {
      if (!ours && f.name() != "podReplacementPolicy" && f.name() != "downscalePodPicker") {
        EXPECT_LT(f.def.proto_number, 1000) << m.name() << " " << f.name();
      }
    }
  }
  const Field* policy = Apps("DeploymentSpec").Find("podReplacementPolicy");
  ASSERT_NE(policy, nullptr);
  EXPECT_EQ(policy->gate, "DeploymentPodReplacementPolicy");
  EXPECT_EQ(policy->enum_values().size(), 2U);
  const Field* picker = Apps("ReplicaSetSpec").Find("downscalePodPicker");
  ASSERT_NE(picker, nullptr);
  EXPECT_EQ(picker->gate, "DownscalePodPicker");
  const Field* http = picker->message->Find("http");
  ASSERT_NE(http, nullptr);
  EXPECT_EQ(
      http->message->Find("httpHeaders")->message->Find("valueFrom")->message->Find("secretKeyRef")->message,
      &Core("SecretKeySelector"));
}

TEST(Schema, GatesSitOnFieldsAndTravelUp) {
  EXPECT_EQ(Apps("DeploymentStatus").Find("terminatingReplicas")->gate,
            "DeploymentReplicaSetTerminatingReplicas");
  EXPECT_EQ(Batch("JobSpec").Find("podReplacementPolicy")->gate, "JobPodReplacementPolicy");
  EXPECT_TRUE(Apps("Deployment").has_gates());
  EXPECT_TRUE(Batch("CronJobList").has_gates());
  EXPECT_FALSE(Core("Pod").has_gates());
}

TEST(Schema, EverySpecAndStatusFieldOfTheMainKindsIsExplained) {
  for (const Message* m :
       {&Apps("DeploymentSpec"), &Apps("DeploymentStatus"), &Apps("ReplicaSetSpec"),
        &Apps("ReplicaSetStatus"), &Batch("JobSpec"), &Batch("JobStatus"), &Meta("ObjectMeta")}) {
    EXPECT_FALSE(m->description().empty()) << m->name();
    for (const Field& f : m->fields()) EXPECT_FALSE(f.description.empty()) << m->name() << " " << f.name();
  }
}

TEST(Schema, EveryTopLevelKindIsExplained) {
  const std::set<std::string_view> exempt = {
      // Options and discovery documents: `kubectl explain` cannot describe them.
      "APIGroup",
      "APIGroupList",
      "APIResourceList",
      "APIVersions",
      "CreateOptions",
      "GetOptions",
      "ListOptions",
      "PartialObjectMetadata",
      "PartialObjectMetadataList",
      "PatchOptions",
      "Table",
      "UpdateOptions",
      "PodLogOptions",
      "PodStatusResult",
      "TokenRequest",
      "APIGroupDiscovery",
      "APIGroupDiscoveryList"};
  for (const Message& m : Schema::Get().messages()) {
    const Field* kind = m.Find("kind");
    if (kind == nullptr || kind->def.proto_number != 0 || exempt.contains(m.short_name())) continue;
    EXPECT_FALSE(m.description().empty()) << m.name();
  }
}

TEST(Defaults, FillAbsentFieldsOfStructsThatArePresent) {
  Json doc = Json::parse(R"({"spec":{"strategy":{},"template":{"spec":{
      "containers":[{"name":"c","readinessProbe":{"httpGet":{"port":1},"periodSeconds":3}}],
      "volumes":[{"name":"v","configMap":{}},{"name":"h","hostPath":{"path":"/"}}]}}}})");
  ApplyDefaults(Apps("Deployment"), doc);
  EXPECT_EQ(doc["spec"]["replicas"], 1);
  EXPECT_EQ(doc["spec"]["progressDeadlineSeconds"], 600);
  EXPECT_EQ(doc["spec"]["strategy"]["type"], "RollingUpdate");
  const Json& pod = doc["spec"]["template"]["spec"];
  EXPECT_EQ(pod["restartPolicy"], "Always");
  EXPECT_EQ(pod["securityContext"], Json::object());
  EXPECT_FALSE(pod.contains("enableServiceLinks"));
  const Json& container = pod["containers"][0];
  EXPECT_EQ(container["terminationMessagePath"], "/dev/termination-log");
  EXPECT_FALSE(container.contains("livenessProbe"));
  EXPECT_EQ(container["readinessProbe"], Json::parse(R"({"httpGet":{"port":1,"path":"/","scheme":"HTTP"},
      "periodSeconds":3,"timeoutSeconds":1,"successThreshold":1,"failureThreshold":3})"));
  EXPECT_EQ(pod["volumes"][0]["configMap"]["defaultMode"], 420);
  EXPECT_EQ(pod["volumes"][1]["hostPath"]["type"], "");
  const Json once = doc;
  ApplyDefaults(Apps("Deployment"), doc);
  EXPECT_EQ(doc, once);
}

TEST(Defaults, KeepExplicitZeros) {
  Json doc =
      Json::parse(R"({"spec":{"replicas":0,"template":{"spec":{"terminationGracePeriodSeconds":0}}}})");
  ApplyDefaults(Apps("Deployment"), doc);
  EXPECT_EQ(doc["spec"]["replicas"], 0);
  EXPECT_EQ(doc["spec"]["template"]["spec"]["terminationGracePeriodSeconds"], 0);
}

TEST(Defaults, ReplacePlainZeros) {
  Json doc = Json::parse(R"({"type":"DisruptionTarget","status":""})");
  ApplyDefaults(Batch("PodFailurePolicyOnPodConditionsPattern"), doc);
  EXPECT_EQ(doc["status"], "True");
  Json grpc = Json::parse(R"({"port":1,"service":null})");
  ApplyDefaults(Core("GRPCAction"), grpc);
  EXPECT_EQ(grpc["service"], "");
}

TEST(Defaults, HoldForAJobButNotForTheTemplateOfACronJob) {
  Json job = Json::parse(R"({"spec":{"template":{"spec":{}}}})");
  ApplyDefaults(Batch("Job"), job);
  EXPECT_EQ(job["spec"]["completionMode"], "NonIndexed");
  EXPECT_EQ(job["spec"]["suspend"], false);
  EXPECT_FALSE(job["spec"].contains("completions"));

  Json cron = Json::parse(R"({"spec":{"jobTemplate":{"spec":{"template":{"spec":{}}}}}})");
  ApplyDefaults(Batch("CronJob"), cron);
  EXPECT_EQ(cron["spec"]["concurrencyPolicy"], "Allow");
  EXPECT_FALSE(cron["spec"]["jobTemplate"]["spec"].contains("suspend"));
  EXPECT_EQ(cron["spec"]["jobTemplate"]["spec"]["template"]["spec"]["dnsPolicy"], "ClusterFirst");
}

TEST(Defaults, HoldForAPodButNotForAPodTemplate) {
  Json pod = Json::parse(R"({"spec":{}})");
  ApplyDefaults(Core("Pod"), pod);
  EXPECT_EQ(pod["spec"]["enableServiceLinks"], true);
}

}  // namespace
}  // namespace terrarium::api

#include "testbed/invariants/facts.h"

#include <charconv>
#include <cstdlib>
#include <string_view>

#include "api/core_v1/pod.h"
#include "api/json_access.h"
#include "controllers/runtime/owner_references.h"

namespace terrarium::testbed::invariants {
namespace {

using api::IntAt;
using api::Json;
using api::StringAt;

// Shares the object, so that nothing is copied.
HeaderPtr HeaderOf(const api::ObjectPtr& object) { return HeaderPtr(object, &object->header()); }

std::string ControllerUid(const Json& document) {
  auto controller = controllers::ControllerOf(document);
  return controller ? controller->uid : "";
}

ReportedCounts ReadCounts(const Json& document) {
  const Json& status = api::ObjectAt(document, "status");
  ReportedCounts counts;
  counts.replicas = IntAt(status, 0, "replicas");
  counts.fully_labeled = IntAt(status, 0, "fullyLabeledReplicas");
  counts.updated = IntAt(status, 0, "updatedReplicas");
  counts.ready = IntAt(status, 0, "readyReplicas");
  counts.available = IntAt(status, 0, "availableReplicas");
  if (api::Find(status, "terminatingReplicas") != nullptr)
    counts.terminating = IntAt(status, 0, "terminatingReplicas");
  return counts;
}

api::LabelSelector ReadSelector(const Json& document) {
  auto selector = api::LabelSelector::FromDocument(api::Find(document, "spec", "selector"));
  return selector ? *selector : api::LabelSelector::Nothing();
}

std::int64_t LengthAt(const Json& status, const char* list) {
  return static_cast<std::int64_t>(api::ListAt(status, "uncountedTerminatedPods", list).size());
}

std::optional<std::int64_t> CompletionIndex(const Json& pod) {
  std::string_view text =
      StringAt(pod, "metadata", "annotations", "batch.kubernetes.io/job-completion-index");
  std::int64_t index = -1;
  std::from_chars(text.data(), text.data() + text.size(), index);
  if (index < 0) return std::nullopt;
  return index;
}

// What only those ask who know of Jobs.
void ReadJobPod(const Json& pod, PodFacts& facts) {
  facts.of_job = true;
  facts.succeeded = StringAt(pod, "status", "phase") == "Succeeded";
  for (const Json& finalizer : api::ListAt(pod, "metadata", "finalizers"))
    facts.tracked = facts.tracked || finalizer == "batch.kubernetes.io/job-tracking";
  facts.index = CompletionIndex(pod);
}

// Where a pod of a DaemonSet runs, or is meant to run.
std::string DaemonNode(const api::ObjectHeader& header, const Json& pod) {
  if (!header.node_name.empty()) return header.node_name;
  for (const Json& term : api::ListAt(pod, "spec", "affinity", "nodeAffinity",
                                      "requiredDuringSchedulingIgnoredDuringExecution", "nodeSelectorTerms"))
    for (const Json& field : api::ListAt(term, "matchFields"))
      for (const Json& name : api::ListAt(field, "values")) return name.get<std::string>();
  return "";
}

// Pods of a whole number or a percentage, which rounds up.
std::int64_t SurgeOf(const Json* value, std::int64_t replicas) {
  if (value == nullptr) return 0;
  if (value->is_number_integer()) return value->get<std::int64_t>();
  std::int64_t percent = std::strtoll(value->get_ref<const std::string&>().c_str(), nullptr, 10);
  return (replicas * percent + 99) / 100;
}

}  // namespace

PodPtr ReadPod(const api::ObjectPtr& pod) {
  const api::OwnerReference* controller = pod->controller();
  if (controller == nullptr || controller->uid.empty()) return nullptr;
  std::shared_ptr<const Json> document = pod->Document();
  auto facts = std::make_shared<PodFacts>();
  facts->header = HeaderOf(pod);
  facts->owner = controller->uid;
  if (controller->kind == "Job") ReadJobPod(*document, *facts);
  if (controller->kind == "DaemonSet") facts->daemon_node = DaemonNode(pod->header(), *document);
  const std::string& phase = api::PodPhase(*pod);
  bool ended = phase == "Succeeded" || phase == "Failed";
  facts->live = !ended && !pod->header().deleting;
  facts->terminating = !ended && pod->header().deleting;
  const Json* ready = api::FindCondition(*document, "Ready");
  facts->ready = ready != nullptr && StringAt(*ready, "status") == "True";
  if (facts->ready)
    facts->ready_since = api::ParseTime(StringAt(*ready, "lastTransitionTime")).value_or(api::Time::max());
  return facts;
}

ReplicaSetPtr ReadReplicaSet(const std::string& resource, const api::ObjectPtr& object) {
  std::shared_ptr<const Json> document = object->Document();
  auto facts = std::make_shared<ReplicaSetFacts>();
  facts->resource = resource;
  facts->header = HeaderOf(object);
  facts->owner = ControllerUid(*document);
  facts->generation = IntAt(*document, 0, "metadata", "generation");
  facts->observed_generation = IntAt(*document, 0, "status", "observedGeneration");
  facts->replicas = IntAt(*document, 1, "spec", "replicas");
  facts->min_ready_seconds = IntAt(*document, 0, "spec", "minReadySeconds");
  facts->selector = resource == "replicationcontrollers"
                        ? api::LabelSelector::FromMap(api::ObjectAt(*document, "spec", "selector"))
                        : ReadSelector(*document);
  facts->template_labels =
      api::LabelSelector::FromMap(api::ObjectAt(*document, "spec", "template", "metadata", "labels"));
  facts->status = ReadCounts(*document);
  return facts;
}

DeploymentPtr ReadDeployment(const api::ObjectPtr& object) {
  std::shared_ptr<const Json> document = object->Document();
  auto facts = std::make_shared<DeploymentFacts>();
  facts->header = HeaderOf(object);
  facts->generation = IntAt(*document, 0, "metadata", "generation");
  facts->observed_generation = IntAt(*document, 0, "status", "observedGeneration");
  facts->replicas = IntAt(*document, 1, "spec", "replicas");
  if (StringAt(*document, "spec", "strategy", "type") != "Recreate")
    facts->surge =
        SurgeOf(api::Find(*document, "spec", "strategy", "rollingUpdate", "maxSurge"), facts->replicas);
  facts->waits_for_termination = StringAt(*document, "spec", "podReplacementPolicy") == "TerminationComplete";
  facts->selector = ReadSelector(*document);
  facts->status = ReadCounts(*document);
  return facts;
}

JobPtr ReadJob(const api::ObjectPtr& object) {
  std::shared_ptr<const Json> document = object->Document();
  const Json& spec = api::ObjectAt(*document, "spec");
  const Json& status = api::ObjectAt(*document, "status");
  auto facts = std::make_shared<JobFacts>();
  facts->header = HeaderOf(object);
  facts->indexed = StringAt(spec, "completionMode") == "Indexed";
  facts->replaces_only_failed = StringAt(spec, "podReplacementPolicy") == "Failed";
  facts->has_failure_policy = api::Find(spec, "podFailurePolicy") != nullptr;
  facts->managed_by = StringAt(spec, "managedBy");
  for (const char* type : {"Complete", "Failed"}) {
    const Json* condition = api::FindCondition(*document, type);
    if (condition != nullptr && StringAt(*condition, "status") == "True") facts->finished = true;
  }
  facts->selector = ReadSelector(*document);
  JobCounts& counts = facts->status;
  counts.active = IntAt(status, 0, "active");
  counts.ready = IntAt(status, 0, "ready");
  if (api::Find(status, "terminating") != nullptr) counts.terminating = IntAt(status, 0, "terminating");
  counts.succeeded = IntAt(status, 0, "succeeded");
  counts.failed = IntAt(status, 0, "failed");
  counts.uncounted_succeeded = LengthAt(status, "succeeded");
  counts.uncounted_failed = LengthAt(status, "failed");
  return facts;
}

DaemonSetPtr ReadDaemonSet(const api::ObjectPtr& object) {
  std::shared_ptr<const Json> document = object->Document();
  auto facts = std::make_shared<DaemonSetFacts>();
  facts->header = HeaderOf(object);
  facts->generation = IntAt(*document, 0, "metadata", "generation");
  facts->observed_generation = IntAt(*document, 0, "status", "observedGeneration");
  const Json& strategy = api::ObjectAt(*document, "spec", "updateStrategy");
  facts->surges = StringAt(strategy, "type") == "RollingUpdate" &&
                  SurgeOf(api::Find(strategy, "rollingUpdate", "maxSurge"), 1) > 0;
  facts->selector = ReadSelector(*document);
  return facts;
}

StatefulSetPtr ReadStatefulSet(const api::ObjectPtr& object) {
  std::shared_ptr<const Json> document = object->Document();
  auto facts = std::make_shared<StatefulSetFacts>();
  facts->header = HeaderOf(object);
  facts->ordered = StringAt(*document, "spec", "podManagementPolicy") != "Parallel";
  facts->start = IntAt(*document, 0, "spec", "ordinals", "start");
  return facts;
}

ObjectRef RefOf(const std::string& resource, const api::ObjectHeader& header) {
  return {resource, {header.ns, header.name}};
}

std::string NameOf(const std::string& resource, const api::ObjectHeader& header) {
  return resource + " " + api::ObjectName{header.ns, header.name}.String();
}

}  // namespace terrarium::testbed::invariants

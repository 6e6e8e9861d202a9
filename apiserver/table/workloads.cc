// How the kinds that own pods without ending are printed.

#include "api/json_access.h"
#include "api/selector/label_selector.h"
#include "apiserver/table/internal/printer.h"

namespace terrarium::apiserver::table {
namespace {

using api::Json;

constexpr Column kContainersColumn = {"Containers", "string", "", kContainersDescription, 1};
constexpr Column kImagesColumn = {"Images", "string", "", kImagesDescription, 1};

constexpr Column kDeploymentColumns[] = {
    kNameColumn,
    {"Ready", "string", "", "Number of the pod with ready state"},
    {"Up-to-date", "string", "",
     "Total number of non-terminating pods targeted by this deployment that have the desired template spec."},
    {"Available", "string", "",
     "Total number of available non-terminating pods (ready for at least minReadySeconds) targeted by this "
     "deployment."},
    kAgeColumn,
    kContainersColumn,
    kImagesColumn,
    {"Selector", "string", "",
     "Label selector for pods. Existing ReplicaSets whose pods are selected by this will be the ones "
     "affected by this "
     "deployment. It must match the pod template's labels.",
     1},
};

constexpr Column kReplicaSetColumns[] = {
    kNameColumn,
    {"Desired", "integer", "",
     "Replicas is the number of desired pods. This is a pointer to distinguish between explicit zero and "
     "unspecified. "
     "Defaults to 1. More info: https://kubernetes.io/docs/concepts/workloads/controllers/replicaset"},
    {"Current", "integer", "",
     "Replicas is the most recently observed number of non-terminating pods. More info: "
     "https://kubernetes.io/docs/concepts/workloads/controllers/replicaset"},
    {"Ready", "integer", "",
     "The number of non-terminating pods targeted by this ReplicaSet with a Ready Condition."},
    kAgeColumn,
    kContainersColumn,
    kImagesColumn,
    {"Selector", "string", "",
     "Selector is a label query over pods that should match the replica count. Label keys and values that "
     "must match in "
     "order to be controlled by this replica set. It must match the pod template's labels. More info: "
     "https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors",
     1},
};

constexpr Column kPodTemplateColumns[] = {
    kNameColumn,
    {"Containers", "string", "", kContainersDescription},
    {"Images", "string", "", kImagesDescription},
    {"Pod Labels", "string", "", "The labels for the pod template."},
};

constexpr Column kReplicationControllerColumns[] = {
    kNameColumn,
    {"Desired", "integer", "",
     "Replicas is the number of desired replicas. This is a pointer to distinguish between explicit zero and "
     "unspecified. Defaults to 1. More info: "
     "https://kubernetes.io/docs/concepts/workloads/controllers/"
     "replicationcontroller#what-is-a-replicationcontroller"},
    {"Current", "integer", "",
     "Replicas is the most recently observed number of replicas. More info: "
     "https://kubernetes.io/docs/concepts/workloads/controllers/"
     "replicationcontroller#what-is-a-replicationcontroller"},
    {"Ready", "integer", "", "The number of ready replicas for this replication controller."},
    kAgeColumn,
    kContainersColumn,
    kImagesColumn,
    {"Selector", "string", "",
     "Selector is a label query over pods that should match the Replicas count. If Selector is empty, it is "
     "defaulted "
     "to the labels present on the Pod template. Label keys and values that must match in order to be "
     "controlled by "
     "this replication controller, if empty defaulted to labels on Pod template. More info: "
     "https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors",
     1},
};

constexpr Column kStatefulSetColumns[] = {
    kNameColumn,   {"Ready", "string", "", "Number of the pod with ready state"},
    kAgeColumn,    kContainersColumn,
    kImagesColumn,
};

constexpr Column kDaemonSetColumns[] = {
    kNameColumn,
    {"Desired", "integer", "",
     "The total number of nodes that should be running the daemon pod (including nodes correctly running the "
     "daemon "
     "pod). More info: https://kubernetes.io/docs/concepts/workloads/controllers/daemonset/"},
    {"Current", "integer", "",
     "The number of nodes that are running at least 1 daemon pod and are supposed to run the daemon pod. "
     "More info: "
     "https://kubernetes.io/docs/concepts/workloads/controllers/daemonset/"},
    {"Ready", "integer", "",
     "numberReady is the number of nodes that should be running the daemon pod and have one or more of the "
     "daemon pod "
     "running with a Ready Condition."},
    {"Up-to-date", "integer", "", "The total number of nodes that are running updated daemon pod"},
    {"Available", "integer", "",
     "The number of nodes that should be running the daemon pod and have one or more of the daemon pod "
     "running and "
     "available (ready for at least spec.minReadySeconds)"},
    {"Node Selector", "string", "",
     "NodeSelector is a selector which must be true for the pod to fit on a node. Selector which must match "
     "a node's "
     "labels for the pod to be scheduled on that node. More info: "
     "https://kubernetes.io/docs/concepts/configuration/assign-pod-node/"},
    kAgeColumn,
    kContainersColumn,
    kImagesColumn,
    {"Selector", "string", "",
     "A label query over pods that are managed by the daemon set. Must match in order to be controlled. It "
     "must match "
     "the pod template's labels. More info: "
     "https://kubernetes.io/docs/concepts/overview/working-with-objects/labels/#label-selectors",
     1},
};

constexpr Column kControllerRevisionColumns[] = {
    kNameColumn,
    {"Controller", "string", "", "Controller of the object"},
    {"Revision", "string", "", "Revision indicates the revision of the state represented by Data."},
    kAgeColumn,
};

const Json& PodSpec(const Json& object) { return api::ObjectAt(object, "spec", "template", "spec"); }

std::int64_t Spec(const Json& object, std::string_view field) { return api::IntAt(object, 0, "spec", field); }
std::int64_t StatusCount(const Json& object, std::string_view field) {
  return api::IntAt(object, 0, "status", field);
}

std::string ReadyOfDesired(const Json& object) {
  return std::to_string(StatusCount(object, "readyReplicas")) + "/" +
         std::to_string(Spec(object, "replicas"));
}

std::vector<Json> DeploymentCells(const Json& object, api::Time now) {
  // Here, and only here, an empty selector prints as nothing.
  api::Result<api::LabelSelector> selector =
      api::LabelSelector::FromDocument(api::Find(object, "spec", "selector"));
  return {Name(object),
          ReadyOfDesired(object),
          StatusCount(object, "updatedReplicas"),
          StatusCount(object, "availableReplicas"),
          Age(object, now),
          ContainerNames(PodSpec(object)),
          ContainerImages(PodSpec(object)),
          selector.ok() ? selector->String() : "<invalid>"};
}

std::vector<Json> ReplicaCells(const Json& object, api::Time now, std::string selector) {
  return {Name(object),
          Spec(object, "replicas"),
          StatusCount(object, "replicas"),
          StatusCount(object, "readyReplicas"),
          Age(object, now),
          ContainerNames(PodSpec(object)),
          ContainerImages(PodSpec(object)),
          std::move(selector)};
}

std::vector<Json> ReplicaSetCells(const Json& object, api::Time now) {
  return ReplicaCells(object, now, SelectorText(api::Find(object, "spec", "selector")));
}

std::vector<Json> PodTemplateCells(const Json& object, api::Time) {
  const Json& pod_spec = api::ObjectAt(object, "template", "spec");
  return {Name(object), ContainerNames(pod_spec), ContainerImages(pod_spec),
          LabelsText(api::ObjectAt(object, "template", "metadata", "labels"))};
}

std::vector<Json> ReplicationControllerCells(const Json& object, api::Time now) {
  return ReplicaCells(object, now, LabelsText(api::ObjectAt(object, "spec", "selector")));
}

std::vector<Json> StatefulSetCells(const Json& object, api::Time now) {
  return {Name(object), ReadyOfDesired(object), Age(object, now), ContainerNames(PodSpec(object)),
          ContainerImages(PodSpec(object))};
}

std::vector<Json> DaemonSetCells(const Json& object, api::Time now) {
  return {Name(object),
          StatusCount(object, "desiredNumberScheduled"),
          StatusCount(object, "currentNumberScheduled"),
          StatusCount(object, "numberReady"),
          StatusCount(object, "updatedNumberScheduled"),
          StatusCount(object, "numberAvailable"),
          LabelsText(api::ObjectAt(PodSpec(object), "nodeSelector")),
          Age(object, now),
          ContainerNames(PodSpec(object)),
          ContainerImages(PodSpec(object)),
          SelectorText(api::Find(object, "spec", "selector"))};
}

// "statefulset.apps/web": the kind in lower case with its group, and the name.
std::string ControllerName(const Json& object) {
  for (const Json& owner : api::ListAt(object, "metadata", "ownerReferences")) {
    if (!api::BoolAt(owner, "controller")) continue;
    std::string out;
    for (char c : api::StringAt(owner, "kind"))
      out += c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
    std::string_view version = api::StringAt(owner, "apiVersion");
    if (std::size_t slash = version.find('/'); slash != std::string_view::npos)
      out.append(".").append(version.substr(0, slash));
    return out.append("/").append(api::StringAt(owner, "name"));
  }
  return std::string(kNone);
}

std::vector<Json> ControllerRevisionCells(const Json& object, api::Time now) {
  return {Name(object), ControllerName(object), api::IntAt(object, 0, "revision"), Age(object, now)};
}

constexpr Column kScaleColumns[] = {
    {"Name", "string", "", kNameColumn.description},
    {"Desired", "integer", "", "replicas is the desired number of instances for the scaled object."},
    {"Available", "integer", "", "replicas is the actual number of observed instances of the scaled object."},
    kAgeColumn};

std::vector<Json> ScaleCells(const Json& object, api::Time now) {
  return {Name(object), api::IntAt(object, 0, "spec", "replicas"),
          api::IntAt(object, 0, "status", "replicas"), Age(object, now)};
}

constexpr Printer kWorkloadPrinters[] = {
    {"", "PodTemplate", kPodTemplateColumns, PodTemplateCells},
    {"", "ReplicationController", kReplicationControllerColumns, ReplicationControllerCells},
    {"apps", "ControllerRevision", kControllerRevisionColumns, ControllerRevisionCells},
    {"apps", "DaemonSet", kDaemonSetColumns, DaemonSetCells},
    {"apps", "Deployment", kDeploymentColumns, DeploymentCells},
    {"apps", "ReplicaSet", kReplicaSetColumns, ReplicaSetCells},
    {"apps", "StatefulSet", kStatefulSetColumns, StatefulSetCells},
    {"autoscaling", "Scale", kScaleColumns, ScaleCells},
};

}  // namespace

std::span<const Printer> WorkloadPrinters() { return kWorkloadPrinters; }

}  // namespace terrarium::apiserver::table

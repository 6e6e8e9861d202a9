// Explanations of the workload kinds of apps/v1, in our own words.

#include "api/schema/own/declarations.h"

namespace terrarium::api::own {
namespace {

constexpr Description kAppsDescriptions[] = {
    {"apps.v1.Deployment", "",
     "Keeps a number of identical pods running and moves them from one pod template to the next, by way "
     "of one ReplicaSet per template."},
    {"apps.v1.Deployment", "metadata", "Name, labels and the other facts every object has."},
    {"apps.v1.Deployment", "spec",
     "What you want: how many pods, made from which template, replaced in which way."},
    {"apps.v1.Deployment", "status", "What the controller last saw. Written by the controller only."},
    {"apps.v1.DeploymentList", "", "A list of Deployments."},
    {"apps.v1.DeploymentSpec", "", "The desired state of a Deployment."},
    {"apps.v1.DeploymentSpec", "replicas",
     "How many pods to run. An explicit 0 runs none; left out, it is 1."},
    {"apps.v1.DeploymentSpec", "selector",
     "Which pods belong to the Deployment. Must match the labels of the template and cannot be changed "
     "later."},
    {"apps.v1.DeploymentSpec", "template",
     "The pod to make copies of. Changing it starts a rollout. Its restart policy must be Always."},
    {"apps.v1.DeploymentSpec", "strategy", "How old pods give way to new ones when the template changes."},
    {"apps.v1.DeploymentSpec", "minReadySeconds",
     "For how many seconds a new pod must stay ready before it counts as available. 0 counts it as soon "
     "as it is ready."},
    {"apps.v1.DeploymentSpec", "revisionHistoryLimit",
     "How many old ReplicaSets are kept so that one can roll back to them. Defaults to 10."},
    {"apps.v1.DeploymentSpec", "paused",
     "While true, a change of the template starts no rollout; scaling still works."},
    {"apps.v1.DeploymentSpec", "progressDeadlineSeconds",
     "After this many seconds without progress the condition Progressing turns False with the reason "
     "ProgressDeadlineExceeded. Time spent paused is not counted. Defaults to 600."},
    {"apps.v1.DeploymentSpec", "podReplacementPolicy",
     "When a pod that is going away may be replaced. TerminationStarted: as soon as it is marked for "
     "deletion, so that old and new pods overlap. TerminationComplete: only when it has finished, so "
     "that the pods never exceed replicas plus maxSurge. Left out, the strategy decides as it always "
     "has. Needs the gate DeploymentPodReplacementPolicy."},
    {"apps.v1.DeploymentSpec", "downscalePodPicker",
     "An HTTP service that is asked which pods to remove first when the Deployment shrinks. Needs the "
     "gate DownscalePodPicker."},
    {"apps.v1.DeploymentStatus", "", "The state of a Deployment as the controller last saw it."},
    {"apps.v1.DeploymentStatus", "observedGeneration", "The metadata.generation that this status describes."},
    {"apps.v1.DeploymentStatus", "replicas", "Pods of all its ReplicaSets that are not terminating."},
    {"apps.v1.DeploymentStatus", "updatedReplicas",
     "Those of them that were made from the current template."},
    {"apps.v1.DeploymentStatus", "readyReplicas", "Those of them that are ready."},
    {"apps.v1.DeploymentStatus", "availableReplicas",
     "Those of them that have been ready for minReadySeconds."},
    {"apps.v1.DeploymentStatus", "unavailableReplicas",
     "How many pods are missing until all wanted ones are available, whether they do not run yet or do "
     "not exist yet."},
    {"apps.v1.DeploymentStatus", "terminatingReplicas",
     "Pods that are marked for deletion and have not finished yet. Needs the gate "
     "DeploymentReplicaSetTerminatingReplicas."},
    {"apps.v1.DeploymentStatus", "conditions", "The conditions Available, Progressing and ReplicaFailure."},
    {"apps.v1.DeploymentStatus", "collisionCount",
     "How often a computed ReplicaSet name was already taken by another template; goes into the next "
     "name's hash."},
    {"apps.v1.DeploymentCondition", "", "One aspect of a Deployment's state."},
    {"apps.v1.DeploymentCondition", "type", "Available, Progressing or ReplicaFailure."},
    {"apps.v1.DeploymentCondition", "status", "True, False or Unknown."},
    {"apps.v1.DeploymentCondition", "lastUpdateTime", "When the condition was last written."},
    {"apps.v1.DeploymentCondition", "lastTransitionTime", "When the status last changed."},
    {"apps.v1.DeploymentCondition", "reason", "One word for programs."},
    {"apps.v1.DeploymentCondition", "message", "A sentence for people."},
    {"apps.v1.DeploymentStrategy", "", "How old pods are replaced."},
    {"apps.v1.DeploymentStrategy", "type",
     "RollingUpdate replaces pods step by step, Recreate removes all old ones first. Defaults to "
     "RollingUpdate."},
    {"apps.v1.DeploymentStrategy", "rollingUpdate",
     "Limits of a rolling update; only with the type RollingUpdate."},
    {"apps.v1.RollingUpdateDeployment", "",
     "How far a rolling update may go above and below the wanted number of pods."},
    {"apps.v1.RollingUpdateDeployment", "maxUnavailable",
     "How many pods may be missing during the update: a number, or a share such as 25% that is rounded "
     "down. Cannot be 0 when maxSurge is 0."},
    {"apps.v1.RollingUpdateDeployment", "maxSurge",
     "How many pods may exist beyond the wanted number: a number, or a share such as 25% that is rounded "
     "up. Cannot be 0 when maxUnavailable is 0."},

    {"apps.v1.ReplicaSet", "",
     "Keeps a number of pods that match a selector running. Usually made and scaled by a Deployment."},
    {"apps.v1.ReplicaSet", "metadata", "Name, labels and the other facts every object has."},
    {"apps.v1.ReplicaSet", "spec", "What you want: how many pods, made from which template."},
    {"apps.v1.ReplicaSet", "status", "What the controller last saw. Written by the controller only."},
    {"apps.v1.ReplicaSetList", "", "A list of ReplicaSets."},
    {"apps.v1.ReplicaSetSpec", "", "The desired state of a ReplicaSet."},
    {"apps.v1.ReplicaSetSpec", "replicas",
     "How many pods to run. An explicit 0 runs none; left out, it is 1."},
    {"apps.v1.ReplicaSetSpec", "minReadySeconds",
     "For how many seconds a pod must stay ready before it counts as available."},
    {"apps.v1.ReplicaSetSpec", "selector",
     "Which pods belong to the ReplicaSet. Must match the labels of the template and cannot be changed "
     "later."},
    {"apps.v1.ReplicaSetSpec", "template",
     "The pod to make copies of. Pods that exist already keep the template they were made from."},
    {"apps.v1.ReplicaSetSpec", "downscalePodPicker",
     "An HTTP service that is asked which pods to remove first when the ReplicaSet shrinks. Needs the "
     "gate DownscalePodPicker."},
    {"apps.v1.ReplicaSetStatus", "", "The state of a ReplicaSet as the controller last saw it."},
    {"apps.v1.ReplicaSetStatus", "replicas", "Pods that belong to it and are not terminating."},
    {"apps.v1.ReplicaSetStatus", "fullyLabeledReplicas",
     "Those of them that carry all labels of the template."},
    {"apps.v1.ReplicaSetStatus", "readyReplicas", "Those of them that are ready."},
    {"apps.v1.ReplicaSetStatus", "availableReplicas",
     "Those of them that have been ready for minReadySeconds."},
    {"apps.v1.ReplicaSetStatus", "terminatingReplicas",
     "Pods that are marked for deletion and have not finished yet. Needs the gate "
     "DeploymentReplicaSetTerminatingReplicas."},
    {"apps.v1.ReplicaSetStatus", "observedGeneration", "The metadata.generation that this status describes."},
    {"apps.v1.ReplicaSetStatus", "conditions",
     "The condition ReplicaFailure, while pods cannot be created or deleted."},
    {"apps.v1.ReplicaSetCondition", "", "One aspect of a ReplicaSet's state."},
    {"apps.v1.ReplicaSetCondition", "type", "ReplicaFailure."},
    {"apps.v1.ReplicaSetCondition", "status", "True, False or Unknown."},
    {"apps.v1.ReplicaSetCondition", "lastTransitionTime", "When the status last changed."},
    {"apps.v1.ReplicaSetCondition", "reason", "One word for programs."},
    {"apps.v1.ReplicaSetCondition", "message", "A sentence for people."},

    {"apps.v1.DownscalePodPicker", "", "Whom to ask which pods should go first, and how patiently."},
    {"apps.v1.DownscalePodPicker", "http", "Where the service listens."},
    {"apps.v1.DownscalePodPicker", "maxRetries",
     "How often a failed request is repeated before the pods count as alike. Defaults to 3."},
    {"apps.v1.DownscalePodPicker", "timeoutSeconds", "How long one request may take. Defaults to 1."},
    {"apps.v1.HTTPDownscalePodPicker", "", "The address of a pod picker that speaks HTTP."},
    {"apps.v1.HTTPDownscalePodPicker", "host",
     "Name or address of the host to connect to; a Service is NAME.NAMESPACE.svc."},
    {"apps.v1.HTTPDownscalePodPicker", "path", "Path of the request; begins with a slash. / when left out."},
    {"apps.v1.HTTPDownscalePodPicker", "port",
     "Number of the port, between 1 and 65535, or the name of a port of the Service."},
    {"apps.v1.HTTPDownscalePodPicker", "scheme", "HTTP or HTTPS, in capitals or not. Defaults to HTTP."},
    {"apps.v1.HTTPDownscalePodPicker", "httpHeaders", "Headers to send along."},
    {"apps.v1.DownscalePodPickerHTTPHeader", "", "A header of the picker's request."},
    {"apps.v1.DownscalePodPickerHTTPHeader", "name", "Name of the header."},
    {"apps.v1.DownscalePodPickerHTTPHeader", "value", "Its value, written here."},
    {"apps.v1.DownscalePodPickerHTTPHeader", "valueFrom",
     "Where its value comes from; not together with value."},
    {"apps.v1.HTTPHeaderSource", "", "Where a header's value comes from."},
    {"apps.v1.HTTPHeaderSource", "secretKeyRef", "A key of a Secret in the namespace of the workload."},

    {"apps.v1.StatefulSet", "", "Runs pods with stable names and stable storage, one ordinal each."},
    {"apps.v1.StatefulSetList", "", "A list of StatefulSets."},
    {"apps.v1.DaemonSet", "", "Runs one pod on every node that fits."},
    {"apps.v1.DaemonSetList", "", "A list of DaemonSets."},
    {"apps.v1.ControllerRevision", "",
     "A numbered snapshot of a controller's data, kept so that one can go back to it. Cannot be changed."},
    {"apps.v1.ControllerRevisionList", "", "A list of ControllerRevisions."},
};

}  // namespace

std::span<const Description> AppsDescriptions() { return kAppsDescriptions; }

}  // namespace terrarium::api::own

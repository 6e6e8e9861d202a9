#pragma once

// The sentences that the models of the matrix are derived from.

#include "tests/matrix/expectation.h"

namespace terrarium::matrix::sentence {

// Stored fields.
inline constexpr Sentence kDroppedForNew{"KEP-3973 (first text), Version Skew Strategy",
                                         "If the feature is not enabled on the apiserver, and it is enabled "
                                         "in the kube-controller-manager, then the "
                                         "feature cannot be used for new workloads."};
inline constexpr Sentence kStoredStays{
    "KEP-3939, Can the feature be disabled",
    "the apiserver: discards the value of podReplacementPolicy for new objects, preserves the value of "
    "podReplacementPolicy for existing objects"};
inline constexpr Sentence kPolicyIsNil{
    "KEP-3973 (first text), Beta",
    ".spec.podReplacementPolicy is nil by default and preserves the original behavior."};
inline constexpr Sentence kJobDefault{
    "KEP-3939, Defaulting and validation",
    "when podFailurePolicy is not in use, the default value is TerminatingOrFailed"};

// When Deployments create pods.
inline constexpr Sentence kRollingWaits{
    "KEP-3973 (first text), Deployment Behavior Changes",
    "consider terminating pods of all ReplicaSets as well and not spawn an amount of replicas that would be "
    "higher "
    "than Deployment's .spec.replicas + .spec.strategy.rollingUpdate.maxSurge"};
inline constexpr Sentence kRollingStarts{"KEP-3973 (first text), API",
                                         "RollingUpdate strategy uses TerminationStarted behavior for both "
                                         "rolling out and scaling the deployments."};
inline constexpr Sentence kRecreateStarts{"KEP-3973 (first text), Deployment Behavior Changes",
                                          "Scale down old ReplicaSet(s) to 0. Wait until all the pods are at "
                                          "least terminating. Create new replica set."};
inline constexpr Sentence kRecreateWaits{"KEP-3973 (first text), API",
                                         "Recreate strategy uses TerminationComplete behavior when "
                                         "recreating the deployment, but uses TerminationStarted "
                                         "when scaling the deployment."};
inline constexpr Sentence kScalingWaits{
    "KEP-3973 (first text), Deployment Behavior Changes",
    "When scaling up across one or more ReplicaSets, we should consider terminating pods of all ReplicaSets "
    "as well "
    "and not spawn replicas that would be higher than Deployment's .spec.replicas + "
    ".spec.strategy.rollingUpdate.maxSurge."};
inline constexpr Sentence kScalingDown{
    "KEP-3973 (first text), Deployment Behavior Changes",
    "Changing scaling down logic is not necessary, and we can scale down as many pods as we want"};
inline constexpr Sentence kReplicaSetsReplace{
    "KEP-3973 (first text), Consideration for Other Controllers",
    "This feature is not considered for standalone ReplicaSets except for tracking the terminating pods."};
inline constexpr Sentence kOffInManager{
    "KEP-3973 (first text), Version Skew Strategy",
    "If the feature is enabled on the apiserver, but not in the kube-controller-manager, then the "
    ".spec.podReplacementPolicy field can be set, but the feature will not function."};
inline constexpr Sentence kCompletion{"KEP-3973 (first text), Deployment Completion and Progress Changes",
                                      "we should not declare the deployment complete until all of its "
                                      "terminating replicas have been fully terminated"};
inline constexpr Sentence kConverges{
    "KEP-3973 (first text), How can a rollout or rollback fail",
    "The rollout should not fail as the feature is hidden behind a feature gate and new optional field."};
inline constexpr Sentence kNoAnnotationLeft{
    "KEP-3973 (first text), Deployment Scaling Changes",
    "This annotation will be removed once the partial scaling is complete."};

// What statuses report.
inline constexpr Sentence kReported{
    "KEP-3973 (current text), How can someone using this feature know that it is working",
    "The terminating pods can be observed in .status.terminatingReplicas on both ReplicaSets and "
    "Deployments."};
inline constexpr Sentence kNotReported{
    "KEP-3973 (current text), Version Skew Strategy",
    "If the feature is not enabled on the apiserver or on the kube-controller-manager, then the "
    ".status.terminatingReplicas will not be reconciled"};
inline constexpr Sentence kOmitted{"KEP-3973 (current text), Can the feature be disabled",
                                   "Actors reading .status.TerminatingReplicas for ReplicaSet and "
                                   "Deployments will see the field to be omitted, once "
                                   "the status is reconciled by the controllers."};
inline constexpr Sentence kReplicasAsEver{"KEP-3973 (current text), Design Details",
                                          "We should keep the current counting behavior for .status.replicas "
                                          "regardless of any policy or feature gate"};

// Jobs.
inline constexpr Sentence kJobFailed{
    "KEP-3939, Implementation",
    "when podReplacementPolicy: Failed then expectedPods = active + terminating."};
inline constexpr Sentence kJobTerminatingOrFailed{
    "KEP-3939, Implementation", "when podReplacementPolicy: TerminatingOrFailed then expectedPods = active."};
inline constexpr Sentence kJobOff{"KEP-3939, Can the feature be disabled",
                                  "the job controller: processes the Job as podReplacementPolicy: "
                                  "TerminatingOrFailed (the existing behavior)"};
inline constexpr Sentence kJobNotReevaluated{"KEP-3939, What happens if we reenable the feature",
                                             "If podReplacementPolicy: Failed and there are currently "
                                             "terminating Pod(s) that were already considered Failed "
                                             "before reenabling the feature, they won't be re-evaluated."};
inline constexpr Sentence kJobReported{
    "KEP-3939, Implementation",
    "The controller updates the field Status.terminating with the number of terminating pods."};
inline constexpr Sentence kJobNotReported{
    "KEP-3939, Can the feature be disabled",
    "the job controller: stops tracking terminating pods, sets the value "
    "of .status.terminating to nil in the next Job "
    "sync."};
inline constexpr Sentence kJobFailedIncludes{"KEP-3939, Implementation",
                                             "when podReplacementPolicy: TerminatingOrFailed, the number of "
                                             "failed pods includes the terminating pods"};
inline constexpr Sentence kJobPerIndex{"KEP-3939, Implementation",
                                       "In Indexed completion mode, the tracking of pods is per index."};
inline constexpr Sentence kPhaseBeforeDeletion{
    "KEP-3939, Does enabling the feature change any default behavior",
    "Set phase=Failed in kubelet and pod-GC before deleting a Pod object (behavior also present when related "
    "PodDisruptionConditions is enabled)"};
inline constexpr Sentence kGcWithoutConditions{
    "KEP-3939, Unit tests (gc_controller.go)",
    "Set PodPhase to failed when JobPodReplacementPolicy true but PodDisruptionConditions is false"};

// The order of deletion.
inline constexpr Sentence kCheapestFirst{"KEP-2255, Design Details",
                                         "When scaling down a ReplicaSet, controller-manager will prioritize "
                                         "deleting pods with lower pod-deletion-cost."};
inline constexpr Sentence kSameCost{"KEP-2255, Design Details",
                                    "If none of the pods set the pod-deletion-cost annotation or all of them "
                                    "have the same value, then the scale down "
                                    "behavior is not changed compared to now."};
inline constexpr Sentence kCostDowngrade{"KEP-2255, Upgrade / Downgrade Strategy",
                                         "On downgrade, controller-manager will stop taking into account "
                                         "pod-deletion-cost, and so reverting to old "
                                         "behavior."};
inline constexpr Sentence kCostRefused{
    "KEP-2255, Design Details",
    "Invalid values (like setting the annotation to string) will be rejected by the api-server"};
inline constexpr Sentence kPickerChooses{"KEP-3189, Controller Behaviour Changes",
                                         "On downscale, the ReplicaSet controller assigns all Pods a "
                                         "\"rank\" based on the return lists from Pod-Picker "
                                         "API"};
inline constexpr Sentence kPickerOff{"KEP-3189, How can this feature be enabled / disabled in a live cluster",
                                     "Feature gate name: DownscalePodPicker"};

}  // namespace terrarium::matrix::sentence

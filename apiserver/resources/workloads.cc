// apps, autoscaling, batch, policy and scheduling.k8s.io.

#include "apiserver/resources/internal/row.h"
#include "apiserver/strategies.h"

namespace terrarium::apiserver::resources {
namespace {

constexpr Package kApps = {"apps", "v1", "io.k8s.api.apps.v1."};
constexpr Package kAutoscalingV1 = {"autoscaling", "v1", "io.k8s.api.autoscaling.v1."};
constexpr Package kAutoscalingV2 = {"autoscaling", "v2", "io.k8s.api.autoscaling.v2."};
constexpr Package kBatch = {"batch", "v1", "io.k8s.api.batch.v1."};
constexpr Package kPolicy = {"policy", "v1", "io.k8s.api.policy.v1."};
constexpr Package kScheduling = {"scheduling.k8s.io", "v1", "io.k8s.api.scheduling.v1."};

}  // namespace

Resources Apps() {
  return {
      Row(kApps, "ControllerRevision", "controllerrevisions", ControllerRevisionStrategy()),
      Row(kApps, "DaemonSet", "daemonsets", DaemonSetStrategy(),
          {.short_names = {"ds"}, .categories = {"all"}, .status = true}),
      Row(kApps, "Deployment", "deployments", DeploymentStrategy(),
          {.short_names = {"deploy"}, .categories = {"all"}, .subresources = {Scale()}, .status = true}),
      Row(kApps, "ReplicaSet", "replicasets", ReplicaSetStrategy(),
          {.short_names = {"rs"}, .categories = {"all"}, .subresources = {Scale()}, .status = true}),
      Row(kApps, "StatefulSet", "statefulsets", StatefulSetStrategy(),
          {.short_names = {"sts"}, .categories = {"all"}, .subresources = {Scale()}, .status = true}),
  };
}

Resources Autoscaling() {
  const RowOptions options = {.short_names = {"hpa"}, .categories = {"all"}, .status = true};
  const Strategy& strategy = HorizontalPodAutoscalerStrategy();
  return {
      Row(kAutoscalingV2, "HorizontalPodAutoscaler", "horizontalpodautoscalers", strategy, options),
      Row(kAutoscalingV1, "HorizontalPodAutoscaler", "horizontalpodautoscalers", strategy, options),
  };
}

Resources Batch() {
  return {
      Row(kBatch, "CronJob", "cronjobs", CronJobStrategy(),
          {.short_names = {"cj"}, .categories = {"all"}, .status = true}),
      Row(kBatch, "Job", "jobs", JobStrategy(), {.categories = {"all"}, .status = true}),
  };
}

Resources Policy() {
  return {
      Row(kPolicy, "PodDisruptionBudget", "poddisruptionbudgets", PodDisruptionBudgetStrategy(),
          {.short_names = {"pdb"}, .status = true}),
  };
}

Resources Scheduling() {
  return {
      Row(kScheduling, "PriorityClass", "priorityclasses", PriorityClassStrategy(),
          {.namespaced = false, .short_names = {"pc"}}),
  };
}

}  // namespace terrarium::apiserver::resources

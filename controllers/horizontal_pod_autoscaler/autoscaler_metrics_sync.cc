// The metrics of one sync of a HorizontalPodAutoscaler.

#include <algorithm>
#include <set>
#include <utility>

#include "api/base/errors.h"
#include "api/base/quantity.h"
#include "api/json_access.h"
#include "controllers/horizontal_pod_autoscaler/internal/horizontal_pod_autoscaler_controller.h"
#include "controllers/runtime/go_text.h"

namespace terrarium::controllers::autoscaler {
namespace {

using api::Result;
using api::StringAt;

constexpr const char* kNoCustomMetrics =
    "unable to fetch metrics from custom metrics API: no custom metrics API (custom.metrics.k8s.io) "
    "registered";

// Metrics that need an adapter: a cluster without one has this failure.
Result<Proposal> WithoutAdapter(std::string message) { return api::GenericServerError(message); }

std::string ExternalFailure(const std::string& ns, const Json& source) {
  const std::string name(StringAt(source, "metric", "name"));
  return "unable to get external metric " + ns + "/" + name + "/" +
         GoText(api::Find(source, "metric", "selector")) +
         ": unable to fetch metrics from external metrics API: the server could not find the requested "
         "resource (get " +
         name + ".external.metrics.k8s.io)";
}

std::int64_t ThousandthsOf(const Json& target, const char* field) {
  std::string error;
  const auto quantity = api::Quantity::Parse(StringAt(target, field), &error);
  return quantity ? quantity->MilliValue() : 0;
}

std::string ActionOf(int proposed, std::int64_t current) {
  if (proposed > current) return "scale_up";
  return proposed < current ? "scale_down" : "none";
}

}  // namespace

HorizontalPodAutoscalerController::Decision HorizontalPodAutoscalerController::Evaluate(SyncState& sync) {
  const auto selector = SelectorOf(sync);
  if (!selector) return {std::nullopt, "", sync.rescale_reason};
  Pods pods;
  for (const ObjectPtr& pod : pods_.List(sync.Name().ns))
    if (selector->Matches(pod->header())) pods.push_back(pod->Document());

  Decision decision;
  std::optional<MetricOutcome> first_failure;
  int failures = 0;
  for (const Json& metric : sync.spec.metrics) {
    MetricOutcome outcome = EvaluateMetric(sync, metric, pods);
    if (!outcome.proposal) {
      sync.current_metrics.push_back({{"type", ""}});  // as Kubernetes does
      ++failures;
      if (!first_failure) first_failure = std::move(outcome);
      continue;
    }
    sync.current_metrics.push_back(CurrentOf(metric, *outcome.proposal));
    const int replicas = decision.proposal ? decision.proposal->replicas : 0;
    if (replicas != 0 && outcome.proposal->replicas <= replicas) continue;
    decision.proposal = outcome.proposal;
    decision.metric = std::move(outcome.name);
  }
  if (first_failure)
    decision.error = "invalid metrics (" + std::to_string(failures) + " invalid out of " +
                     std::to_string(sync.spec.metrics.size()) +
                     "), first error is: " + first_failure->prefix + first_failure->message;
  // With some metrics missing the target may grow, and does not shrink.
  const bool usable =
      decision.proposal && (failures == 0 || decision.proposal->replicas >= sync.target.replicas);
  if (!usable) {
    decision.proposal.reset();
    if (first_failure)
      sync.Set("ScalingActive", false, first_failure->reason,
               "the HPA was unable to compute the replica count: " + first_failure->message);
    return decision;
  }
  sync.Set("ScalingActive", true, "ValidMetricFound",
           "the HPA was able to successfully calculate a replica count from " + decision.metric);
  return decision;
}

// The selector of the target's pods, which no other autoscaler's may share. On failure the reason is in
// `sync.rescale_reason`.
std::optional<api::LabelSelector> HorizontalPodAutoscalerController::SelectorOf(SyncState& sync) {
  if (sync.target.selector.empty()) {
    RefuseSelector(sync, "SelectorRequired", "selector is required",
                   "the HPA target's scale is missing a selector");
    return std::nullopt;
  }
  auto selector = api::LabelSelector::Parse(sync.target.selector);
  if (!selector) {
    const std::string why = "couldn't convert selector into a corresponding internal selector object: " +
                            selector.status().message;
    RefuseSelector(sync, "InvalidSelector", why, why);
    return std::nullopt;
  }
  selectors_.Set(sync.Name(), *selector);
  std::set<ObjectName> selecting;
  for (const ObjectPtr& pod : pods_.List(sync.Name().ns))
    if (selector->Matches(pod->header()))
      for (ObjectName& name : selectors_.Matching(pod->header())) selecting.insert(std::move(name));
  if (selecting.size() <= 1) return std::move(*selector);
  std::string names;
  for (const ObjectName& name : selecting)
    names += (names.empty() ? "{" : " {") + name.name + " " + name.ns + "}";
  const std::string why =
      "pods by selector " + sync.target.selector + " are controlled by multiple HPAs: [" + names + "]";
  RefuseSelector(sync, "AmbiguousSelector", why, why);
  return std::nullopt;
}

void HorizontalPodAutoscalerController::RefuseSelector(SyncState& sync, std::string_view event,
                                                       const std::string& why, const std::string& condition) {
  RecordEvent(sync, kWarning, event, why);
  sync.Set("ScalingActive", false, event == "SelectorRequired" ? "InvalidSelector" : event, condition);
  sync.rescale_reason = why;
}

HorizontalPodAutoscalerController::MetricOutcome HorizontalPodAutoscalerController::EvaluateMetric(
    const SyncState& sync, const Json& metric, const Pods& pods) {
  const api::Time start = Now();
  const std::string type(StringAt(metric, "type"));
  MetricOutcome out;
  Result<Proposal> proposal = Proposal{};
  const std::string& ns = sync.Name().ns;
  if (type == "Resource" || type == "ContainerResource") {
    const bool of_container = type == "ContainerResource";
    const Json& source = api::ObjectAt(metric, of_container ? "containerResource" : "resource");
    const std::string resource(StringAt(source, "name"));
    out.name = resource + " resource";
    if (api::Find(source, "target", "averageValue") == nullptr)
      out.name = resource + (of_container ? " container resource" : " resource") +
                 " utilization (percentage of request)";
    out.reason = of_container ? "FailedGetContainerResourceMetric" : "FailedGetResourceMetric";
    out.prefix = of_container ? "failed to get " + std::string(StringAt(source, "container")) +
                                    " container metric value: "
                              : "failed to get " + resource + " resource metric value: ";
    proposal = EvaluateResource(sync, source, pods);
  } else if (type == "Pods") {
    out.reason = "FailedGetPodsMetric";
    out.prefix = "failed to get pods metric value: ";
    proposal =
        WithoutAdapter("unable to get metric " + std::string(StringAt(metric, "pods", "metric", "name")) +
                       ": " + kNoCustomMetrics);
  } else if (type == "Object") {
    const Json& object = api::ObjectAt(metric, "object");
    const std::string name(StringAt(object, "metric", "name"));
    out.reason = "FailedGetObjectMetric";
    out.prefix = "failed to get object metric value: ";
    if (api::Find(object, "target", "averageValue") != nullptr)
      out.prefix += "failed to get " + name + " object metric: ";
    proposal = WithoutAdapter("unable to get metric " + name + ": " + kNoCustomMetrics + " on " +
                              std::string(StringAt(object, "describedObject", "kind")) + " " + ns + "/" +
                              std::string(StringAt(object, "describedObject", "name")));
  } else {
    const Json& external = api::ObjectAt(metric, "external");
    const std::string name(StringAt(external, "metric", "name"));
    const bool average = api::Find(external, "target", "averageValue") != nullptr;
    out.reason = "FailedGetExternalMetric";
    out.prefix = "failed to get " + name + " external metric value: failed to get " +
                 (average ? name + " external metric: " : "external metric " + name + ": ");
    proposal = WithoutAdapter(ExternalFailure(ns, external));
  }
  Ending ending;
  std::string action;
  if (proposal) {
    out.proposal = *proposal;
    action = ActionOf(proposal->replicas, api::IntAt(sync.status_before, 0, "currentReplicas"));
    ending.action = action;
  } else {
    out.message = proposal.status().message;
    RecordEvent(sync, kWarning, out.reason, out.message);
    ending.error = "internal";
  }
  metrics_.Computed(ending, type, Now() - start);
  return out;
}

Result<Proposal> HorizontalPodAutoscalerController::EvaluateResource(const SyncState& sync,
                                                                     const Json& source, const Pods& pods) {
  const std::string resource(StringAt(source, "name"));
  const std::string container(StringAt(source, "container"));
  const Json& target = api::ObjectAt(source, "target");
  const bool by_value = api::Find(target, "averageValue") != nullptr;
  const std::string prefix = "failed to get " + resource + (by_value ? " usage: " : " utilization: ");
  const auto fail = [&](const api::Status& status) {
    return api::GenericServerError(prefix + status.message);
  };

  auto metrics = ReadMetrics(pods, resource, container);
  if (!metrics)
    return fail(api::GenericServerError("unable to get metrics for resource " + resource + ": " +
                                        metrics.status().message));
  Measurement measured{.current = sync.target.replicas,
                       .tolerances = sync.spec.tolerances,
                       .resource = resource,
                       .pods = {},
                       .metrics = std::move(*metrics),
                       .now = sync.now};
  for (const auto& pod : pods) measured.pods.push_back(PodFactsOf(*pod));
  if (by_value) {
    auto proposal = ReplicasForAverage(measured, ThousandthsOf(target, "averageValue"));
    return proposal ? proposal : fail(proposal.status());
  }
  PodRequests requests;
  for (const auto& pod : pods) {
    auto request = RequestOf(*pod, resource, container);
    if (!request) return fail(request.status());
    requests.emplace(StringAt(*pod, "metadata", "name"), *request);
  }
  auto proposal = ReplicasForUtilization(measured, requests,
                                         static_cast<int>(api::IntAt(target, 0, "averageUtilization")));
  return proposal ? proposal : fail(proposal.status());
}

// Each pod is asked for by its name, so that the cost does not grow with other pods.
Result<PodMetrics> HorizontalPodAutoscalerController::ReadMetrics(const Pods& pods,
                                                                  const std::string& resource,
                                                                  const std::string& container) {
  PodMetrics out;
  bool any = false;
  for (const auto& pod : pods) {
    if (StringAt(*pod, "status", "phase") != "Running") continue;
    const ObjectName name{std::string(StringAt(*pod, "metadata", "namespace")),
                          std::string(StringAt(*pod, "metadata", "name"))};
    auto metrics = context_.client.Get("pods.metrics.k8s.io", name);
    if (!metrics && metrics.status().Is(api::reason::kNotFound)) continue;
    if (!metrics)
      return api::GenericServerError("unable to fetch metrics from resource metrics API: " +
                                     metrics.status().message);
    any = true;
    if (auto metric = PodMetricOf((*metrics)->Parse(), resource, container)) out.emplace(name.name, *metric);
  }
  if (!any) return api::GenericServerError("no metrics returned from resource metrics API");
  return out;
}

}  // namespace terrarium::controllers::autoscaler

#include "controllers/horizontal_pod_autoscaler/horizontal_pod_autoscaler_controller.h"

#include <utility>

#include "api/base/feature_gates.h"
#include "api/json_access.h"
#include "controllers/horizontal_pod_autoscaler/internal/horizontal_pod_autoscaler_controller.h"

namespace terrarium::controllers::autoscaler {
namespace {

constexpr const char* kName = "horizontal-pod-autoscaler-controller";
// The default of kube-controller-manager's flag --horizontal-pod-autoscaler-sync-period.
constexpr api::Duration kSyncPeriod = std::chrono::seconds(15);

bool SameSpec(const api::Object& a, const api::Object& b) {
  return api::ObjectAt(*a.Document(), "spec") == api::ObjectAt(*b.Document(), "spec");
}

}  // namespace

HorizontalPodAutoscalerController::HorizontalPodAutoscalerController(const ControllerContext& context,
                                                                     const ServedResources& resources)
    : context_(context),
      resources_(resources),
      autoscalers_(context.informers.For("horizontalpodautoscalers")),
      pods_(context.informers.For("pods")),
      metrics_(context.metrics),
      syncs_(context.env, [this](const ObjectName& name) { loop_.queue().Add(name); }),
      loop_(context.env, context.metrics, LoopOptions{.name = "horizontalpodautoscaler", .workers = 5},
            [this](ObjectName name) { return Sync(std::move(name)); }) {}

void HorizontalPodAutoscalerController::Watch() {
  std::weak_ptr<HorizontalPodAutoscalerController> weak = weak_from_this();
  EventHandler handler;
  handler.added = [weak](const ObjectPtr& autoscaler) {
    if (auto self = weak.lock()) self->Added(autoscaler->name());
  };
  handler.updated = [weak](const ObjectPtr& old, const ObjectPtr& autoscaler) {
    if (auto self = weak.lock()) self->Changed(*old, *autoscaler);
  };
  handler.deleted = [weak](const ObjectPtr& autoscaler) {
    if (auto self = weak.lock()) self->Gone(autoscaler->name());
  };
  autoscalers_.AddHandler(std::move(handler));
}

// The first sync writes a status, so that it is work.
void HorizontalPodAutoscalerController::Added(const ObjectName& name) {
  histories_.try_emplace(name);
  metrics_.SetAutoscalers(histories_.size());
  syncs_.SetIfEarlier(name, kSyncPeriod);
}

// A new spec does not bring the next sync forward, as in Kubernetes, but the cluster is not idle before it.
void HorizontalPodAutoscalerController::Changed(const api::Object& old, const api::Object& autoscaler) {
  if (!SameSpec(old, autoscaler)) syncs_.MakeWork(autoscaler.name());
}

void HorizontalPodAutoscalerController::Gone(const ObjectName& name) {
  syncs_.Cancel(name);
  selectors_.Remove(name);
  histories_.erase(name);
  metrics_.SetAutoscalers(histories_.size());
}

// A sync after which time alone can bring a change, or that changed something itself, is followed by work.
// Otherwise the autoscaler has settled: the usage of the pods has to change first, and a cluster that waits
// for that is idle.
api::Task<ReconcileResult> HorizontalPodAutoscalerController::Sync(ObjectName name) {
  const ObjectPtr autoscaler = autoscalers_.Get(name);
  if (autoscaler == nullptr) co_return Reconciled::Done();
  const auto sync = std::make_shared<SyncState>(autoscaler, context_.env.gates, Now());
  co_await Run(sync);
  metrics_.Reconciled(sync->ending, Now() - sync->now);
  if (autoscalers_.Get(name) == nullptr) co_return Reconciled::Done();
  const bool settled = !sync->waits && !sync->changed;
  syncs_.Set(name, kSyncPeriod, settled ? api::TimerKind::kBackground : api::TimerKind::kWork);
  co_return Reconciled::Done();
}

void HorizontalPodAutoscalerController::RecordEvent(const SyncState& sync, std::string_view type,
                                                    std::string_view reason, std::string message) {
  context_.recorder.Record({.component = "horizontal-pod-autoscaler"},
                           ReferenceTo(*sync.autoscaler, "autoscaling/v2", "HorizontalPodAutoscaler"), type,
                           reason, std::move(message));
}

void HorizontalPodAutoscalerController::Explain(const SyncState& sync, int to, const std::string& rule) {
  Json saw = {{"from", sync.target.replicas}, {"to", to}, {"min", sync.spec.min}, {"max", sync.spec.max}};
  if (sync.proposal) {
    const Proposal& proposal = *sync.proposal;
    saw["proposed"] = proposal.replicas;
    saw["counted"] = proposal.counted;
    saw["unready"] = proposal.unready;
    saw["missing"] = proposal.missing;
    saw["currentMetrics"] = sync.current_metrics;
  }
  context_.why.Record({.time = Now(),
                       .revision = pods_.Revision(),
                       .controller = kName,
                       .action = "scale",
                       .resource = sync.target.resource,
                       .object = sync.target.name,
                       .owner_resource = "horizontalpodautoscalers",
                       .owner = sync.Name(),
                       .rule = rule,
                       .saw = std::make_shared<const Json>(std::move(saw))});
}

HorizontalPodAutoscalerController::SyncState::SyncState(ObjectPtr read, const api::FeatureGates& gates,
                                                        api::Time time)
    : autoscaler(std::move(read)),
      document(autoscaler->Document()),
      spec(ReadAutoscalerSpec(*document, gates)),
      now(time),
      status_before(api::ObjectAt(*document, "status")),
      status_now(status_before),
      scales_to_zero(gates.Enabled(api::gate::kHpaScaleToZero)) {
  if (!status_now.contains("conditions") || !status_now["conditions"].is_array())
    status_now["conditions"] = Json::array();
  was_scaled_to_zero = scales_to_zero && IsConditionTrue(status_now["conditions"], "ScaledToZero");
}

// As in Kubernetes, observedGeneration is never set.
void HorizontalPodAutoscalerController::SyncState::FinishStatus(int desired_replicas) {
  status_now.erase("observedGeneration");
  status_now["currentReplicas"] = target.replicas;
  status_now["desiredReplicas"] = desired_replicas;
  status_now["currentMetrics"] = current_metrics;
}

}  // namespace terrarium::controllers::autoscaler

namespace terrarium::controllers {

std::unique_ptr<Controller> MakeHorizontalPodAutoscalerController(const ControllerContext& context,
                                                                  ServedResources& resources) {
  return std::make_unique<SharedController<autoscaler::HorizontalPodAutoscalerController>>(context,
                                                                                           resources);
}

}  // namespace terrarium::controllers

#include "controllers/ephemeral_volume/ephemeral_volume_controller.h"

#include <string>
#include <utility>

#include <prometheus/counter.h>
#include <prometheus/registry.h>

#include "api/base/errors.h"
#include "api/core_v1/volume_binding.h"
#include "api/json_access.h"
#include "controllers/runtime/controller_loop.h"
#include "controllers/runtime/pod_claims.h"

namespace terrarium::controllers {
namespace {

using api::Json;
using api::Task;

constexpr const char* kName = "ephemeral-volume-controller";
constexpr const char* kEventSource = "ephemeral_volume";
constexpr const char* kClaims = "persistentvolumeclaims";

prometheus::Counter& Counter(Metrics& metrics, const char* name) {
  return prometheus::BuildCounter()
      .Name(std::string("ephemeral_volume_controller_") + name)
      .Help("[ALPHA] Number of PersistentVolumeClaim creation requests")
      .Register(metrics.registry())
      .Add({});
}

bool HasEphemeralVolume(const api::Object& pod) {
  for (const api::PodClaim& claim : api::ClaimsOfPod(pod))
    if (claim.ephemeral) return true;
  return false;
}

Json NewClaim(const api::Object& pod, const std::string& name, const Json& claim_template) {
  Json claim = {{"metadata",
                 {{"name", name},
                  {"ownerReferences",
                   {{{"apiVersion", "v1"},
                     {"kind", "Pod"},
                     {"name", pod.header().name},
                     {"uid", pod.header().uid},
                     {"controller", true},
                     {"blockOwnerDeletion", true}}}}}},
                {"spec", api::ObjectAt(claim_template, "spec")}};
  for (const char* field : {"annotations", "labels"})
    if (const Json* value = api::Find(claim_template, "metadata", field)) claim["metadata"][field] = *value;
  return claim;
}

class EphemeralVolumeController : public std::enable_shared_from_this<EphemeralVolumeController> {
 public:
  explicit EphemeralVolumeController(const ControllerContext& context)
      : context_(context),
        pods_(context.informers.For("pods")),
        claims_(context.informers.For(kClaims)),
        attempts_(Counter(context.metrics, "create_total")),
        failures_(Counter(context.metrics, "create_failures_total")),
        loop_(context.env, context.metrics,
              LoopOptions{.name = "ephemeral_volume", .workers = 5, .retry = {}, .retries_max = 0},
              [this](ObjectName name) { return Sync(std::move(name)); }) {}

  // The volumes of a pod never change, and the garbage collector deletes their claims.
  void Watch() {
    AddPodClaimIndex(pods_);
    std::weak_ptr<EphemeralVolumeController> weak = weak_from_this();
    EventHandler pods;
    pods.added = [weak](const ObjectPtr& pod) {
      if (auto self = weak.lock()) self->Enqueue(*pod);
    };
    pods_.AddHandler(std::move(pods));
    EventHandler claims;
    claims.deleted = [weak](const ObjectPtr& claim) {
      auto self = weak.lock();
      if (self == nullptr) return;
      for (const ObjectPtr& pod : PodsWithClaim(self->pods_, claim->name())) self->Enqueue(*pod);
    };
    claims_.AddHandler(std::move(claims));
  }
  void Start() { loop_.Start(); }

 private:
  void Enqueue(const api::Object& pod) {
    if (!pod.header().deleting && HasEphemeralVolume(pod)) loop_.queue().Add(pod.name());
  }

  Task<ReconcileResult> Sync(ObjectName name) {
    const ObjectPtr pod = pods_.Get(name);
    if (pod == nullptr || pod->header().deleting) co_return Reconciled::Done();
    for (const api::PodClaim& volume : api::ClaimsOfPod(*pod)) {
      if (!volume.ephemeral) continue;
      Task<api::Result<void>> creating = CreateClaim(pod, volume);
      api::Result<void> created = co_await std::move(creating);
      if (created) continue;
      api::Status status = created.status();
      status.message = "ephemeral volume " + volume.volume + ": " + status.message;
      context_.recorder.Record({.component = kEventSource}, ReferenceToPod(*pod), kWarning, "FailedBinding",
                               status.message);
      co_return status;
    }
    co_return Reconciled::Done();
  }

  Task<api::Result<void>> CreateClaim(ObjectPtr pod, api::PodClaim volume) {
    if (const ObjectPtr claim = claims_.Get({pod->header().ns, volume.claim})) {
      const std::string why = api::WhyNotForPod(*claim, *pod);
      if (why.empty()) co_return api::Result<void>();
      co_return api::MakeStatus(409, api::reason::kConflict, why);
    }
    const auto document = pod->Document();
    const Json* claim_template = nullptr;
    for (const Json& each : api::ListAt(*document, "spec", "volumes"))
      if (api::StringAt(each, "name") == volume.volume)
        claim_template = &api::ObjectAt(each, "ephemeral", "volumeClaimTemplate");
    attempts_.Increment();
    api::Awaitable<api::Client::Written> creating =
        context_.client.Create(kClaims, pod->header().ns, NewClaim(*pod, volume.claim, *claim_template));
    const api::Client::Written created = co_await std::move(creating);
    if (!created) {
      failures_.Increment();
      api::Status status = created.status();
      status.message = "create PVC " + volume.claim + ": " + status.message;
      co_return status;
    }
    Explain(*pod, volume);
    co_return api::Result<void>();
  }

  void Explain(const api::Object& pod, const api::PodClaim& volume) {
    context_.why.Record({.time = context_.env.clock.Now(),
                         .revision = pods_.Revision(),
                         .controller = kName,
                         .action = "create",
                         .resource = kClaims,
                         .object = {pod.header().ns, volume.claim},
                         .owner_resource = "pods",
                         .owner = pod.name(),
                         .rule = "the pod has an ephemeral volume without its claim",
                         .saw = std::make_shared<const Json>(Json{{"volume", volume.volume}})});
  }

  ControllerContext context_;
  Informer& pods_;
  Informer& claims_;
  prometheus::Counter& attempts_;
  prometheus::Counter& failures_;
  ControllerLoop loop_;
};

}  // namespace

std::unique_ptr<Controller> MakeEphemeralVolumeController(const ControllerContext& context) {
  return std::make_unique<SharedController<EphemeralVolumeController>>(context);
}

}  // namespace terrarium::controllers

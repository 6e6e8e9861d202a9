#include "controllers/job/internal/orphan_pods.h"

#include <utility>

#include "api/json_access.h"
#include "controllers/job/internal/job_spec.h"
#include "controllers/job/internal/job_status.h"
#include "controllers/job/internal/pod_facts.h"
#include "controllers/job/internal/pod_template.h"
#include "controllers/job/internal/retry_limits.h"
#include "controllers/runtime/owner_references.h"

namespace terrarium::controllers::job {
namespace {

using api::Json;
using api::Result;

// A Job, this controller's or another's, will take the finalizer off.
bool HasJobInCharge(const ControllerContext& context, const api::Object& pod) {
  const OwnerReference* controller = pod.controller();
  if (controller == nullptr) return false;
  // A controller of another kind has its own reasons for this finalizer.
  if (controller->kind != "Job" || controller->api_version != "batch/v1") return true;
  Result<ObjectPtr> job = context.client.Get("jobs", {pod.name().ns, controller->name});
  if (!job || (*job)->header().uid != controller->uid) return false;
  std::shared_ptr<const Json> document = (*job)->Document();
  return !ForeignManager(*document, context.env.gates).empty() || !IsFinished(*document);
}

}  // namespace

OrphanPods::OrphanPods(const ControllerContext& context)
    : context_(context),
      loop_(context.env, context.metrics, LoopOptions{.name = "job_orphan_pod", .retry = kRetryLimits},
            [this](ObjectName name) { return Sync(std::move(name)); }) {}

api::Task<ReconcileResult> OrphanPods::Sync(ObjectName name) {
  // Pod and Job are read from the apiserver: with a stale view the controller could remove the finalizer of a
  // new Job's pod, or send a patch twice.
  Result<ObjectPtr> pod = context_.client.Get("pods", name);
  if (!pod) co_return Reconciled::Done();
  if (!api::HasFinalizer(**pod, kTrackingFinalizer) || HasJobInCharge(context_, **pod))
    co_return Reconciled::Done();
  Json patch = TakeFinalizerOff((*pod)->header().uid);
  api::Client::Written written = co_await context_.client.Patch("pods", name, std::move(patch));
  if (!written && !written.status().Is(api::reason::kNotFound)) co_return written.status();
  co_return Reconciled::Done();
}

}  // namespace terrarium::controllers::job

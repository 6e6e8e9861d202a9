#include "controllers/ttl_after_finished/ttl_after_finished_controller.h"

#include <chrono>
#include <optional>
#include <string>
#include <utility>

#include <prometheus/histogram.h>
#include <prometheus/registry.h>

#include "api/base/task.h"
#include "api/json_access.h"
#include "controllers/runtime/controller_loop.h"
#include "controllers/runtime/key_timers.h"
#include "controllers/ttl_after_finished/internal/job_expiry.h"

namespace terrarium::controllers {
namespace {

using ttl_after_finished::ExpiryOf;

constexpr const char* kName = "ttl-after-finished-controller";

prometheus::Histogram& DeletionDuration(Metrics& metrics) {
  prometheus::Histogram::BucketBoundaries bounds;
  for (double bound = 0.1; bounds.size() < 14; bound *= 2) bounds.push_back(bound);
  return prometheus::BuildHistogram()
      .Name("ttl_after_finished_controller_job_deletion_duration_seconds")
      .Help("The time it took to delete the job since it became eligible for deletion")
      .Register(metrics.registry())
      .Add({}, bounds);
}

// A timer for each finished Job, which moves with its time to live and goes with the Job.
class TtlAfterFinishedController : public std::enable_shared_from_this<TtlAfterFinishedController> {
 public:
  explicit TtlAfterFinishedController(const ControllerContext& context)
      : context_(context),
        jobs_(context.informers.For("jobs")),
        deletion_duration_(DeletionDuration(context.metrics)),
        loop_(context.env, context.metrics, LoopOptions{.name = "ttl_jobs_to_delete", .workers = 5},
              [this](ObjectName name) { return Sync(std::move(name)); }),
        timers_(context.env, [this](const ObjectName& name) { loop_.queue().Add(name); }) {}

  void Watch() {
    auto seen = [weak = weak_from_this()](const ObjectPtr& job) {
      if (auto self = weak.lock()) self->Seen(*job);
    };
    jobs_.AddHandler({.added = seen,
                      .updated = [seen](const ObjectPtr&, const ObjectPtr& job) { seen(job); },
                      .deleted =
                          [weak = weak_from_this()](const ObjectPtr& job) {
                            if (auto self = weak.lock()) self->timers_.Cancel(job->name());
                          }});
  }
  void Start() { loop_.Start(); }

 private:
  void Seen(const api::Object& job) {
    const ObjectName name = job.name();
    const std::optional<api::Time> expiry = ExpiryOf(*job.Document());
    if (expiry && *expiry > context_.env.clock.Now()) {
      timers_.Set(name, *expiry - context_.env.clock.Now());
      return;
    }
    timers_.Cancel(name);
    if (expiry) loop_.queue().Add(name);
  }

  api::Task<ReconcileResult> Sync(ObjectName name) {
    // The informer's view may be older than a change of the time to live, and a deletion cannot be taken
    // back.
    api::Result<ObjectPtr> fresh = context_.client.Get("jobs", name);
    if (!fresh) {
      if (fresh.status().Is(api::reason::kNotFound)) co_return Reconciled::Done();
      co_return fresh.status();
    }
    const ObjectPtr job = *fresh;
    const std::optional<api::Time> expiry = ExpiryOf(*job->Document());
    if (!expiry) co_return Reconciled::Done();
    if (*expiry > context_.env.clock.Now()) {
      timers_.Set(name, *expiry - context_.env.clock.Now());
      co_return Reconciled::Done();
    }
    api::DeleteRequest options{.uid = job->header().uid, .propagation_policy = "Foreground"};
    api::Client::Written deleted = co_await context_.client.Delete("jobs", name, std::move(options));
    if (!deleted) {
      if (deleted.status().Is(api::reason::kNotFound)) co_return Reconciled::Done();
      co_return deleted.status();
    }
    const api::Duration late = context_.env.clock.Now() - *expiry;
    deletion_duration_.Observe(std::chrono::duration<double>(late).count());
    Explain(*job);
    co_return Reconciled::Done();
  }

  void Explain(const api::Object& job) {
    const std::shared_ptr<const api::Json> document = job.Document();
    api::Json saw = {{"ttlSecondsAfterFinished", api::IntAt(*document, 0, "spec", "ttlSecondsAfterFinished")},
                     {"conditions", api::ListAt(*document, "status", "conditions")}};
    context_.why.Record({.time = context_.env.clock.Now(),
                         .revision = jobs_.Revision(),
                         .controller = kName,
                         .action = "delete",
                         .resource = "jobs",
                         .object = job.name(),
                         .owner_resource = {},
                         .owner = {},
                         .rule = "finished longer ago than its ttlSecondsAfterFinished",
                         .saw = std::make_shared<const api::Json>(std::move(saw))});
  }

  ControllerContext context_;
  Informer& jobs_;
  prometheus::Histogram& deletion_duration_;
  ControllerLoop loop_;
  KeyTimers timers_;
};

}  // namespace

std::unique_ptr<Controller> MakeTtlAfterFinishedController(const ControllerContext& context) {
  return std::make_unique<SharedController<TtlAfterFinishedController>>(context);
}

}  // namespace terrarium::controllers

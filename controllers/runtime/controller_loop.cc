#include "controllers/runtime/controller_loop.h"

#include <utility>

#include <spdlog/spdlog.h>

#include "api/base/executor.h"

namespace terrarium::controllers {

class ControllerLoop::Impl : public std::enable_shared_from_this<ControllerLoop::Impl> {
 public:
  Impl(const api::Env& env, Metrics& metrics, LoopOptions options, Reconcile reconcile)
      : env_(env),
        options_(std::move(options)),
        reconcile_(std::move(reconcile)),
        queue_(env, metrics, options_.name, options_.retry) {
    queue_.SetReady([this] { Dispatch(); });
  }

  WorkQueue& queue() { return queue_; }

  void Start() {
    started_ = true;
    Dispatch();
  }

 private:
  // Each reconcile begins as a piece of work of its own, so that other components get their turn in between.
  void Dispatch() {
    if (!started_ || posted_ || running_ >= options_.workers || queue_.depth() == 0) return;
    posted_ = true;
    env_.executor.Post([weak = weak_from_this()] {
      if (auto self = weak.lock()) self->Step();
    });
  }

  void Step() {
    posted_ = false;
    if (std::optional<ObjectName> key = queue_.TryPop()) {
      ++running_;
      tasks_.Spawn(Run(this, std::move(*key)));
    }
    Dispatch();
  }

  static api::Task<void> Run(Impl* self, ObjectName key) {
    api::Task<ReconcileResult> reconciling = self->reconcile_(key);
    ReconcileResult result = co_await std::move(reconciling);
    self->Finish(key, result);
  }

  void Finish(const ObjectName& key, const ReconcileResult& result) {
    if (result.ok()) {
      queue_.Forget(key);
      if (result->again_after) queue_.AddAfter(key, *result->again_after);
    } else {
      Retry(key, result.status());
    }
    --running_;
    queue_.Done(key);
    Dispatch();
  }

  void Retry(const ObjectName& key, const api::Status& status) {
    const bool give_up = options_.retries_max > 0 && queue_.Requeues(key) >= options_.retries_max;
    // A conflict only means that the view was stale.
    if (give_up || !status.Is(api::reason::kConflict))
      env_.log.warn("{}: {}: {}{}", options_.name, key.String(), status.message, give_up ? " (dropped)" : "");
    if (give_up) return queue_.Forget(key);
    queue_.AddRateLimited(key);
  }

  api::Env env_;
  const LoopOptions options_;
  const Reconcile reconcile_;
  WorkQueue queue_;
  bool started_ = false;
  bool posted_ = false;
  int running_ = 0;
  api::TaskScope tasks_;  // last: destroyed first, while what the reconciles look at is still there
};

ControllerLoop::ControllerLoop(const api::Env& env, Metrics& metrics, LoopOptions options,
                               Reconcile reconcile)
    : impl_(std::make_shared<Impl>(env, metrics, std::move(options), std::move(reconcile))) {}
ControllerLoop::~ControllerLoop() = default;

WorkQueue& ControllerLoop::queue() { return impl_->queue(); }
void ControllerLoop::Start() { impl_->Start(); }

}  // namespace terrarium::controllers

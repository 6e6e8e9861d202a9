#include "controllers/namespace_lifecycle/namespace_controller.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <spdlog/spdlog.h>

#include "controllers/namespace_lifecycle/internal/namespace_deleter.h"
#include "controllers/runtime/controller_loop.h"
#include "controllers/runtime/key_timers.h"

namespace terrarium::controllers {
namespace {

using namespace_lifecycle::ContentReport;
using namespace_lifecycle::NamespaceDeleter;

// Gives all apiservers time to observe that the namespace accepts no new objects.
constexpr api::Duration kDeletionGrace = std::chrono::seconds(5);
constexpr api::Duration kRetryBase = std::chrono::milliseconds(5);
constexpr api::Duration kRetryMost = std::chrono::seconds(60);
constexpr int kWorkers = 10;

api::Duration RetryAfter(int failures) {
  api::Duration delay = kRetryBase;
  for (int i = 1; i < failures && delay < kRetryMost; ++i) delay *= 2;
  return std::min(delay, kRetryMost);
}

// Syncs a terminating namespace until it is empty. Syncs while the content does not change are background
// timers: a namespace that finalizers keep alive does not prevent the control plane from being idle. The
// first removed object turns the next sync into work.
class NamespaceController : public std::enable_shared_from_this<NamespaceController> {
 public:
  NamespaceController(const ControllerContext& context, ServedResources& resources)
      : context_(context),
        resources_(resources),
        deleter_(context.env, context.client, resources_),
        loop_(
            context.env, context.metrics,
            LoopOptions{
                .name = "namespace", .workers = kWorkers, .retry = {.base = kRetryBase, .most = kRetryMost}},
            [this](ObjectName key) { return Sync(std::move(key)); }),
        sync_timers_(context.env, [this](const ObjectName& key) { loop_.queue().Add(key); }) {}

  void Watch() {
    std::weak_ptr<NamespaceController> weak = weak_from_this();
    EventHandler namespaces;
    namespaces.added = [weak](const ObjectPtr& ns) {
      if (auto self = weak.lock()) self->Enqueue(*ns);
    };
    namespaces.updated = [weak](const ObjectPtr&, const ObjectPtr& ns) {
      if (auto self = weak.lock()) self->Enqueue(*ns);
    };
    namespaces.deleted = [weak](const ObjectPtr& ns) {
      if (auto self = weak.lock()) self->Forget({"", ns->header().name});
    };
    context_.informers.For("namespaces").AddHandler(std::move(namespaces));
    for (const ServedResource& resource : resources_.all()) WatchContent(resource);
    resources_.AddHandler({.added =
                               [weak](const ServedResource& resource) {
                                 if (auto self = weak.lock()) self->WatchContent(resource);
                               },
                           .removed = nullptr});
  }

  void Start() { loop_.Start(); }

 private:
  struct Waiting {
    bool content_removed = false;  // since the last sync began
    int failures = 0;
  };

  void WatchContent(const ServedResource& resource) {
    // Nothing delays the deletion of an event.
    if (!resource.namespaced || resource.Name() == "events") return;
    EventHandler content;
    content.deleted = [weak = weak_from_this()](const ObjectPtr& object) {
      if (auto self = weak.lock()) self->ContentRemoved(object->header().ns);
    };
    context_.informers.For(resource.Name()).AddHandler(std::move(content));
  }

  void Enqueue(const api::Object& ns) {
    if (ns.header().deleting) loop_.queue().AddAfter({"", ns.header().name}, kDeletionGrace);
  }

  void Forget(const ObjectName& key) {
    waiting_.erase(key);
    sync_timers_.Cancel(key);
  }

  void ContentRemoved(const std::string& ns) {
    if (waiting_.empty()) return;
    ObjectName key{"", ns};
    auto it = waiting_.find(key);
    if (it == waiting_.end()) return;
    it->second.content_removed = true;
    sync_timers_.MakeWork(key);
  }

  api::Task<ReconcileResult> Sync(ObjectName key) {
    sync_timers_.Cancel(key);
    waiting_[key].content_removed = false;
    api::Result<std::optional<ContentReport>> left = co_await deleter_.Pass(key.name);
    if (!left) co_return left.status();
    if (!*left) {
      Forget(key);
      co_return Reconciled::Done();
    }
    ScheduleSync(key, **left);
    co_return Reconciled::Done();
  }

  void ScheduleSync(const ObjectName& key, const ContentReport& report) {
    Waiting& waiting = waiting_[key];
    api::TimerKind kind = waiting.content_removed ? api::TimerKind::kWork : api::TimerKind::kBackground;
    if (report.errors.empty()) {
      waiting.failures = 0;
      sync_timers_.Set(key, std::chrono::seconds(report.estimate_seconds / 2 + 1), kind);
      return;
    }
    ++waiting.failures;
    context_.env.log.log(waiting.failures == 1 ? spdlog::level::warn : spdlog::level::debug,
                         "deletion of namespace {} failed: {}", key.name, report.errors.front());
    sync_timers_.Set(key, RetryAfter(waiting.failures), kind);
  }

  ControllerContext context_;
  ServedResources& resources_;
  NamespaceDeleter deleter_;
  std::map<ObjectName, Waiting> waiting_;
  ControllerLoop loop_;
  KeyTimers sync_timers_;
};

}  // namespace

std::unique_ptr<Controller> MakeNamespaceController(const ControllerContext& context,
                                                    ServedResources& resources) {
  return std::make_unique<SharedController<NamespaceController>>(context, resources);
}

}  // namespace terrarium::controllers

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

// Time for apiservers to learn that the namespace takes nothing new.
constexpr api::Duration kDeletionGrace = std::chrono::seconds(5);
constexpr api::Duration kRetryBase = std::chrono::milliseconds(5);
constexpr api::Duration kRetryMost = std::chrono::seconds(60);
constexpr int kWorkers = 10;

api::Duration RetryAfter(int failures) {
  api::Duration delay = kRetryBase;
  for (int i = 1; i < failures && delay < kRetryMost; ++i) delay *= 2;
  return std::min(delay, kRetryMost);
}

// Looks at a namespace until it is empty. The looks at one whose content does not change are housekeeping: a namespace
// that something holds does not keep a plane from being idle, and the first object that goes makes the next look work.
class Lifecycle : public std::enable_shared_from_this<Lifecycle> {
 public:
  Lifecycle(const ControllerContext& context, std::vector<ServedResource> resources)
      : context_(context),
        resources_(std::move(resources)),
        deleter_(context.env, context.client, resources_),
        loop_(context.env, context.metrics,
              LoopOptions{.name = "namespace", .workers = kWorkers, .retry = {.base = kRetryBase, .most = kRetryMost}},
              [this](ObjectName key) { return Sync(std::move(key)); }),
        looks_(context.env, [this](const ObjectName& key) { loop_.queue().Add(key); }) {}

  void Watch() {
    std::weak_ptr<Lifecycle> weak = weak_from_this();
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
    for (const ServedResource& resource : resources_) {
      if (!resource.namespaced || resource.resource == "events") continue;  // events are held by nothing
      EventHandler content;
      content.deleted = [weak](const ObjectPtr& object) {
        if (auto self = weak.lock()) self->ContentRemoved(object->header().ns);
      };
      context_.informers.For(resource.resource).AddHandler(std::move(content));
    }
  }

  void Start() { loop_.Start(); }

 private:
  struct Waiting {
    bool content_removed = false;  // since the last look began
    int failures = 0;
  };

  void Enqueue(const api::Object& ns) {
    if (ns.header().deleting) loop_.queue().AddAfter({"", ns.header().name}, kDeletionGrace);
  }

  void Forget(const ObjectName& key) {
    waiting_.erase(key);
    looks_.Cancel(key);
  }

  void ContentRemoved(const std::string& ns) {
    if (waiting_.empty()) return;
    ObjectName key{"", ns};
    auto it = waiting_.find(key);
    if (it == waiting_.end()) return;
    it->second.content_removed = true;
    looks_.MakeWork(key);
  }

  api::Task<ReconcileResult> Sync(ObjectName key) {
    looks_.Cancel(key);
    waiting_[key].content_removed = false;
    api::Result<std::optional<ContentReport>> left = co_await deleter_.Pass(key.name);
    if (!left) co_return left.status();
    if (!*left) {
      Forget(key);
      co_return Reconciled::Done();
    }
    LookAgain(key, **left);
    co_return Reconciled::Done();
  }

  void LookAgain(const ObjectName& key, const ContentReport& report) {
    Waiting& waiting = waiting_[key];
    api::TimerKind kind = waiting.content_removed ? api::TimerKind::kWork : api::TimerKind::kBackground;
    if (report.errors.empty()) {
      waiting.failures = 0;
      looks_.Set(key, std::chrono::seconds(report.estimate_seconds / 2 + 1), kind);
      return;
    }
    ++waiting.failures;
    context_.env.log.log(waiting.failures == 1 ? spdlog::level::warn : spdlog::level::debug,
                         "deletion of namespace {} failed: {}", key.name, report.errors.front());
    looks_.Set(key, RetryAfter(waiting.failures), kind);
  }

  ControllerContext context_;
  std::vector<ServedResource> resources_;
  NamespaceDeleter deleter_;
  std::map<ObjectName, Waiting> waiting_;
  ControllerLoop loop_;
  KeyTimers looks_;
};

class NamespaceController final : public Controller {
 public:
  NamespaceController(const ControllerContext& context, std::vector<ServedResource> resources)
      : lifecycle_(std::make_shared<Lifecycle>(context, std::move(resources))) {
    lifecycle_->Watch();
  }
  void Start() override { lifecycle_->Start(); }

 private:
  std::shared_ptr<Lifecycle> lifecycle_;
};

}  // namespace

std::unique_ptr<Controller> MakeNamespaceController(const ControllerContext& context,
                                                    std::vector<ServedResource> resources) {
  return std::make_unique<NamespaceController>(context, std::move(resources));
}

}  // namespace terrarium::controllers

#include "apiserver/in_process_client.h"

#include <atomic>
#include <utility>

#include "api/base/errors.h"
#include "api/base/executor.h"
#include "apiserver/handler.h"
#include "apiserver/resource_registry.h"
#include "apiserver/uptime.h"
#include "storage/store.h"

namespace terrarium::apiserver {
namespace {

using api::ObjectName;
using api::Result;

// A watch of a component may fall behind by this much before it is cut off and has to resume.
constexpr std::size_t kWatchBufferEvents = 100'000;

// Brings wake-ups from the thread of a write to the component's lane. At most one is posted at a time.
struct WakeUp : std::enable_shared_from_this<WakeUp> {
  explicit WakeUp(api::Executor& e) : executor(e) {}
  api::Executor& executor;
  std::atomic<bool> posted = false;
  std::function<void()> wake;  // on the lane only

  void Post() {
    if (posted.exchange(true)) return;
    executor.Post([weak = weak_from_this()] {
      auto self = weak.lock();
      if (self == nullptr) return;
      self->posted = false;
      if (self->wake) self->wake();
    });
  }
};

class InProcessWatch : public api::ClientWatch {
 public:
  // `resource`: as long as the resource is served; nullptr: always.
  InProcessWatch(std::unique_ptr<storage::Watch> watch, std::shared_ptr<Uptime> uptime,
                 std::shared_ptr<Uptime> resource, api::Executor& executor)
      : watch_(std::move(watch)),
        uptime_(std::move(uptime)),
        resource_(std::move(resource)),
        wake_up_(std::make_shared<WakeUp>(executor)) {}

  State Take(std::size_t max, std::vector<api::WatchEvent>& out) override {
    // The next run of the server sends the events that have not arrived by now.
    if (uptime_->ended()) return State::kEnded;
    taken_.clear();
    storage::Watch::State state = watch_->Take(max, taken_);
    for (storage::Event& event : taken_) out.push_back({TypeOf(event.type), std::move(event.object)});
    const bool gone = resource_ != nullptr && resource_->ended() && taken_.size() < max;
    return state == storage::Watch::State::kOpen && !gone ? State::kOpen : State::kEnded;
  }

  void SetWake(std::function<void()> wake) override {
    wake_up_->wake = std::move(wake);
    watch_->SetWake([weak = std::weak_ptr(wake_up_)] {
      if (auto wake_up = weak.lock()) wake_up->Post();
    });
    auto post = [weak = std::weak_ptr(wake_up_)] {
      if (auto wake_up = weak.lock()) wake_up->Post();
    };
    listener_ = uptime_->OnEnd(post);
    if (resource_ != nullptr) resource_listener_ = resource_->OnEnd(post);
  }

  std::int64_t DeliveredRevision() const override { return watch_->DeliveredRevision(); }

 private:
  static api::WatchEvent::Type TypeOf(storage::EventType type) {
    switch (type) {
      case storage::EventType::kAdded: return api::WatchEvent::Type::kAdded;
      case storage::EventType::kModified: return api::WatchEvent::Type::kModified;
      case storage::EventType::kDeleted: break;
    }
    return api::WatchEvent::Type::kDeleted;
  }

  std::unique_ptr<storage::Watch> watch_;
  std::shared_ptr<Uptime> uptime_;
  std::shared_ptr<Uptime> resource_;
  std::shared_ptr<WakeUp> wake_up_;
  std::unique_ptr<Uptime::Listener> listener_;
  std::unique_ptr<Uptime::Listener> resource_listener_;
  std::vector<storage::Event> taken_;
};

class InProcessClient : public api::Client {
 public:
  InProcessClient(const api::Env& env, Handler& handler, storage::Store& store, Sender sender)
      : env_(env), handler_(handler), store_(store), sender_(std::move(sender)) {}

  void Send(api::WriteRequest request, WriteDone done) override {
    // Shared, since what a std::function holds must be copyable.
    auto busy = std::make_shared<api::OutsideWork>(env_.executor);
    handler_.Write(std::move(request), sender_,
                   [&executor = env_.executor, uptime = handler_.Connect(), busy,
                    done = std::move(done)](Written written) mutable {
                     executor.Post([uptime = std::move(uptime), done = std::move(done),
                                    written = std::move(written)]() mutable {
                       // An answer that is still on its way when its server crashes is lost.
                       if (uptime != nullptr && uptime->crashed())
                         written = api::ServiceUnavailable(kCrashedMessage);
                       done(std::move(written));
                     });
                     busy->End();
                   });
  }

  Result<api::ObjectPtr> Get(std::string_view resource, const ObjectName& name) override {
    if (handler_.Connect() == nullptr) return api::ServiceUnavailable(kDownMessage);
    api::ObjectPtr object = store_.Get({std::string(resource), name.ns, name.name});
    if (object != nullptr) return object;
    const auto table = handler_.registry().Table();
    if (const ResourceInfo* info = table->FindStorage(resource))
      return api::NotFound(info->Resource(), name.name);
    return handler_.Compute(resource, name);
  }

  Result<api::ObjectList> List(std::string_view resource, const std::optional<std::string>& ns) override {
    if (handler_.Connect() == nullptr) return api::ServiceUnavailable(kDownMessage);
    if (handler_.registry().Table()->FindStorage(resource) == nullptr) return api::UnknownResource();
    storage::ListQuery query;
    query.resource = resource;
    query.ns = ns;
    auto listing = store_.List(query);
    if (!listing) return listing.status();
    return api::ObjectList{std::move(listing->items), listing->revision};
  }

  Result<std::unique_ptr<api::ClientWatch>> Watch(std::string_view resource,
                                                  std::int64_t from_revision) override {
    std::shared_ptr<Uptime> uptime = handler_.Connect();
    if (uptime == nullptr) return api::ServiceUnavailable(kDownMessage);
    const auto table = handler_.registry().Table();
    const ResourceInfo* info = table->FindStorage(resource);
    if (info == nullptr) return api::UnknownResource();
    storage::WatchQuery query;
    query.resource = resource;
    query.from_revision = from_revision;
    query.buffer_events = kWatchBufferEvents;
    auto watch = store_.StartWatch(query);
    if (!watch) return watch.status();
    return std::unique_ptr<api::ClientWatch>(
        std::make_unique<InProcessWatch>(std::move(*watch), std::move(uptime), info->uptime, env_.executor));
  }

 private:
  api::Env env_;
  Handler& handler_;
  storage::Store& store_;
  Sender sender_;
};

}  // namespace

std::unique_ptr<api::Client> MakeInProcessClient(const api::Env& env, Handler& handler, storage::Store& store,
                                                 Sender sender) {
  return std::make_unique<InProcessClient>(env, handler, store, std::move(sender));
}

}  // namespace terrarium::apiserver

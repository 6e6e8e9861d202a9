#include "controllers/runtime/informer.h"

#include <algorithm>
#include <deque>
#include <utility>

#include <spdlog/spdlog.h>

#include "api/base/errors.h"
#include "api/base/executor.h"
#include "controllers/runtime/internal/object_cache.h"

namespace terrarium::controllers {
namespace {

// The informer yields to other lanes after this many events.
constexpr std::size_t kEventsAtATime = 256;

// Backoff between failed attempts, as in client-go's reflector.
constexpr api::Duration kBackoffBase = std::chrono::milliseconds(800);
constexpr api::Duration kBackoffMost = std::chrono::seconds(30);
// A watch that ends sooner than this without an event counts as a failure. Otherwise the informer would
// reconnect in a tight loop to an apiserver that is shutting down.
constexpr api::Duration kShortWatch = std::chrono::seconds(1);

constexpr int kGone = 410;

}  // namespace

class Informer::Impl : public std::enable_shared_from_this<Informer::Impl> {
 public:
  Impl(const api::Env& env, api::Client& client, std::string resource)
      : env_(env), client_(client), resource_(std::move(resource)) {}
  ~Impl() {
    if (retry_timer_ != 0) env_.executor.Cancel(retry_timer_);
  }

  void AddHandler(EventHandler handler) {
    const EventHandler& late = handlers_.emplace_back(std::move(handler));
    if (!late.added) return;
    for (const ObjectPtr& object : cache_.List(std::nullopt)) late.added(object);
  }

  void OnSynced(std::function<void()> synced) {
    if (synced_) return synced();
    on_synced_.push_back(std::move(synced));
  }

  void Start() {
    started_ = true;
    Work();
  }

  void Pause() { paused_ = true; }
  void Resume() {
    paused_ = false;
    PostWork();
  }
  void Disconnect() {
    DropWatch();
    PostWork();
  }
  void Close() {
    started_ = false;
    DropWatch();
    for (const ObjectCache::Change& change : cache_.Replace({}))
      NotifyHandlers(change.before, change.after, handlers_.size());
    if (!synced_) FirstSynced();
  }
  // The informer may be destroyed while one of its handlers is running.
  void Stop() {
    stopped_ = true;
    DropWatch();
  }

  ObjectCache& cache() { return cache_; }
  bool synced() const { return synced_; }
  std::int64_t revision() const { return revision_; }

 private:
  bool MayWork() const { return started_ && !paused_ && !stopped_ && retry_timer_ == 0; }

  // Lists, opens a watch or takes queued events, as needed.
  void Work() {
    // A handler may wake the watch immediately, while Work() is on the stack.
    if (working_) return PostWork();
    working_ = true;
    if (MayWork() && must_list_) List();
    if (MayWork() && !must_list_ && watch_ == nullptr) OpenWatch();
    if (MayWork() && watch_ != nullptr) TakeEvents();
    working_ = false;
  }

  void PostWork() {
    env_.executor.Post([weak = weak_from_this()] {
      if (auto self = weak.lock()) self->Work();
    });
  }

  void List() {
    api::Result<api::ObjectList> list = client_.List(resource_, std::nullopt);
    if (!list) return RetryLater("list", list.status());
    must_list_ = false;
    watched_since_list_ = false;
    retry_delay_ = kBackoffBase;
    DropWatch();
    // Replaces the whole cache before it notifies handlers: the cache always holds one consistent state of
    // the resource.
    std::vector<ObjectCache::Change> changes = cache_.Replace(list->items);
    revision_ = list->revision;
    // A handler that is added meanwhile is notified of the whole list by AddHandler().
    const std::size_t handlers = handlers_.size();
    for (const ObjectCache::Change& change : changes) NotifyHandlers(change.before, change.after, handlers);
    if (!synced_) FirstSynced();
  }

  void FirstSynced() {
    synced_ = true;
    for (const auto& synced : std::exchange(on_synced_, {})) synced();
  }

  void OpenWatch() {
    api::Result<std::unique_ptr<api::ClientWatch>> watch = client_.Watch(resource_, revision_);
    if (!watch) {
      must_list_ = watch.status().code == kGone;
      // List again immediately, unless the apiserver has rejected a watch right after the last list.
      if (must_list_ && watched_since_list_) return PostWork();
      return RetryLater("watch", watch.status());
    }
    watched_since_list_ = true;
    opened_ = env_.clock.Now();
    brought_something_ = false;
    watch_ = std::move(*watch);
    watch_->SetWake([weak = weak_from_this()] {
      if (auto self = weak.lock()) self->Work();
    });
  }

  void TakeEvents() {
    if (next_ == taken_.size()) {
      taken_.clear();
      next_ = 0;
      const bool ended = watch_->Take(kEventsAtATime, taken_) == api::ClientWatch::State::kEnded;
      ended_ = ended && taken_.size() < kEventsAtATime;
      delivered_ = watch_->DeliveredRevision();
      brought_something_ = brought_something_ || !taken_.empty();
    }
    // A handler may pause or disconnect this informer. The remaining events then stay queued, or are
    // requested again.
    while (next_ < taken_.size() && !paused_ && watch_ != nullptr) Apply(std::move(taken_[next_++]));
    if (paused_ || watch_ == nullptr) return;
    revision_ = std::max(revision_, delivered_);
    if (ended_) return WatchEnded();
    if (taken_.size() == kEventsAtATime) PostWork();
  }

  void Apply(api::WatchEvent event) {
    const ObjectPtr& object = event.object;
    revision_ = object->revision();
    if (event.type == api::WatchEvent::Type::kDeleted) {
      ObjectPtr before = cache_.Remove(object->name());
      if (before != nullptr) NotifyHandlers(object, nullptr, handlers_.size());
      return;
    }
    ObjectPtr before = cache_.Put(object);
    NotifyHandlers(before, object, handlers_.size());
  }

  void WatchEnded() {
    const bool ended_early = !brought_something_ && env_.clock.Now() - opened_ < kShortWatch;
    DropWatch();
    if (ended_early) return RetryLater("watch", api::ServiceUnavailable("it ended as soon as it had begun"));
    retry_delay_ = kBackoffBase;
    PostWork();
  }

  void DropWatch() {
    watch_.reset();
    taken_.clear();
    next_ = 0;
  }

  void RetryLater(const char* what, const api::Status& why) {
    env_.log.debug("{} {}: {}; trying again in {} ms", what, resource_, why.message,
                   retry_delay_.count() / 1000);
    // An unavailable apiserver will have new events when it is back. The control plane is not idle before
    // they have arrived.
    const bool away = why.Is(api::reason::kServiceUnavailable);
    const api::TimerKind kind = away ? api::TimerKind::kWork : api::TimerKind::kBackground;
    retry_timer_ = env_.executor.PostTimer(kind, retry_delay_, [weak = weak_from_this()] {
      auto self = weak.lock();
      if (!self) return;
      self->retry_timer_ = 0;
      self->Work();
    });
    retry_delay_ = std::min(retry_delay_ * 2, kBackoffMost);
  }

  // Notifies the first `handlers` handlers. An object with the same name and another uid is reported as
  // deleted and added.
  void NotifyHandlers(const ObjectPtr& before, const ObjectPtr& after, std::size_t handlers) {
    const bool same = before != nullptr && after != nullptr && before->header().uid == after->header().uid;
    for (std::size_t i = 0; i < handlers && !stopped_; ++i) {
      const EventHandler& handler = handlers_[i];
      if (same) {
        if (handler.updated) handler.updated(before, after);
        continue;
      }
      if (before != nullptr && handler.deleted) handler.deleted(before);
      if (after != nullptr && handler.added) handler.added(after);
    }
  }

  api::Env env_;
  api::Client& client_;
  const std::string resource_;
  std::deque<EventHandler> handlers_;  // a deque, since adding a handler must not move the others
  std::vector<std::function<void()>> on_synced_;
  ObjectCache cache_;
  std::int64_t revision_ = 0;

  bool started_ = false;
  bool paused_ = false;
  bool stopped_ = false;
  bool working_ = false;  // Work() is on the stack; a handler must not start it again
  bool synced_ = false;

  bool must_list_ = true;
  bool watched_since_list_ = false;
  std::unique_ptr<api::ClientWatch> watch_;
  api::Time opened_{};
  bool brought_something_ = false;
  std::vector<api::WatchEvent> taken_;  // events taken from the watch; those before next_ have been applied
  std::size_t next_ = 0;
  std::int64_t delivered_ = 0;  // the watch's revision when they were taken
  bool ended_ = false;

  api::TimerId retry_timer_ = 0;
  api::Duration retry_delay_ = kBackoffBase;
};

Informer::Informer(const api::Env& env, api::Client& client, std::string resource)
    : impl_(std::make_shared<Impl>(env, client, resource)), resource_(std::move(resource)) {}
Informer::~Informer() { impl_->Stop(); }

void Informer::AddHandler(EventHandler handler) { impl_->AddHandler(std::move(handler)); }
void Informer::AddIndex(const std::string& name, IndexFunction values) {
  impl_->cache().AddIndex(name, std::move(values));
}
void Informer::Start() { impl_->Start(); }
bool Informer::HasSynced() const { return impl_->synced(); }
void Informer::OnSynced(std::function<void()> synced) { impl_->OnSynced(std::move(synced)); }
ObjectPtr Informer::Get(const ObjectName& name) const { return impl_->cache().Get(name); }
std::vector<ObjectPtr> Informer::List(const std::optional<std::string>& ns) const {
  return impl_->cache().List(ns);
}
std::vector<ObjectPtr> Informer::ByIndex(const std::string& index, const std::string& value) const {
  return impl_->cache().ByIndex(index, value);
}
std::size_t Informer::size() const { return impl_->cache().size(); }
std::int64_t Informer::Revision() const { return impl_->revision(); }
void Informer::Pause() { impl_->Pause(); }
void Informer::Resume() { impl_->Resume(); }
void Informer::Disconnect() { impl_->Disconnect(); }
void Informer::Close() { impl_->Close(); }

Informer& InformerSet::For(std::string_view resource) {
  auto it = informers_.find(resource);
  if (it != informers_.end()) return *it->second;
  std::string name(resource);
  Informer& informer =
      *informers_.emplace(name, std::make_unique<Informer>(env_, client_, name)).first->second;
  if (started_) informer.Start();
  return informer;
}

void InformerSet::Remove(std::string_view resource) {
  auto it = informers_.find(resource);
  if (it == informers_.end()) return;
  it->second->Close();
  informers_.erase(it);
}

void InformerSet::Start() {
  started_ = true;
  for (const auto& [resource, informer] : informers_) informer->Start();
}

bool InformerSet::HasSynced() const {
  return std::all_of(informers_.begin(), informers_.end(),
                     [](const auto& each) { return each.second->HasSynced(); });
}

void InformerSet::OnSynced(std::function<void()> synced) {
  // One for each informer and one for this call, so that `synced` is not called before all are registered.
  auto waiting_for = std::make_shared<std::size_t>(informers_.size() + 1);
  auto one_less = [waiting_for, synced = std::move(synced)] {
    if (--*waiting_for == 0) synced();
  };
  for (const auto& [resource, informer] : informers_) informer->OnSynced(one_less);
  one_less();
}

}  // namespace terrarium::controllers

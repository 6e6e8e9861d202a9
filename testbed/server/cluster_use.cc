#include "testbed/server/cluster_use.h"

#include <utility>

namespace terrarium::testbed {

bool ClusterUses::Enter() {
  count_.fetch_add(1);
  if (!closed_) return true;
  Leave();
  return false;
}

void ClusterUses::Leave() {
  if (count_.fetch_sub(1) != 1 || !closed_) return;
  std::lock_guard lock(mutex_);
  unused_.notify_all();
}

bool ClusterUses::Close(std::chrono::nanoseconds limit) {
  closed_ = true;
  std::unique_lock lock(mutex_);
  return unused_.wait_for(lock, limit, [this] { return count_ == 0; });
}

class ClusterStreams::Held : public apiserver::ResponseStream {
 public:
  Held(std::unique_ptr<ResponseStream> stream, std::shared_ptr<ClusterStreams> all)
      : stream_(std::move(stream)), all_(std::move(all)) {}
  ~Held() override {
    std::lock_guard lock(all_->mutex_);
    all_->open_.erase(this);
  }

  State Read(std::size_t max_bytes, std::string& out) override {
    std::lock_guard lock(mutex_);
    return stream_ == nullptr ? State::kEnd : stream_->Read(max_bytes, out);
  }

  void SetWake(std::function<void()> wake) override {
    std::lock_guard lock(mutex_);
    wake_ = wake;
    if (stream_ != nullptr) stream_->SetWake(std::move(wake));
  }

  void End() {
    std::unique_ptr<ResponseStream> ended;
    std::function<void()> wake;
    {
      std::lock_guard lock(mutex_);
      ended = std::move(stream_);
      wake = wake_;
    }
    ended = nullptr;
    if (wake) wake();
  }

 private:
  std::mutex mutex_;
  std::unique_ptr<ResponseStream> stream_;
  std::function<void()> wake_;
  std::shared_ptr<ClusterStreams> all_;
};

std::unique_ptr<apiserver::ResponseStream> ClusterStreams::Add(
    std::unique_ptr<apiserver::ResponseStream> stream) {
  auto held = std::make_unique<Held>(std::move(stream), shared_from_this());
  std::lock_guard lock(mutex_);
  if (closed_)
    held->End();
  else
    open_.insert(held.get());
  return held;
}

void ClusterStreams::Close() {
  std::lock_guard lock(mutex_);
  closed_ = true;
  for (Held* held : open_) held->End();
}

std::function<std::shared_ptr<void>()> StreamBusy(std::shared_ptr<ClusterUses> uses,
                                                  api::Executor& executor) {
  struct Busy {
    explicit Busy(std::shared_ptr<ClusterUses> uses) : use(std::move(uses)) {}
    ClusterUse use;  // ends last
    api::OutsideWork work;
  };
  return [uses = std::move(uses), &executor]() -> std::shared_ptr<void> {
    auto busy = std::make_shared<Busy>(uses);
    if (!busy->use) return nullptr;
    busy->work = api::OutsideWork(executor);
    return busy;
  };
}

}  // namespace terrarium::testbed

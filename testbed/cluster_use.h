#pragma once

// Who uses a cluster at the moment, so that one that is deleted can be freed while its clients go on talking: requests
// without an answer are waited for, streams are ended.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <memory>
#include <mutex>
#include <set>

#include "api/base/executor.h"
#include "apiserver/request.h"

namespace terrarium::testbed {

// Counts users. Thread-safe.
class ClusterUses {
 public:
  // False once it is closed: the cluster may be gone any moment.
  bool Enter();
  void Leave();
  // Lets nobody in from now on and waits for those who are. False: some were still there after `limit`.
  bool Close(std::chrono::nanoseconds limit);

 private:
  std::atomic<int> count_ = 0;
  std::atomic<bool> closed_ = false;
  std::mutex mutex_;
  std::condition_variable unused_;
};

// One user, until it is destroyed. Holds nobody when the cluster lets nobody in.
class ClusterUse {
 public:
  explicit ClusterUse(std::shared_ptr<ClusterUses> uses) : uses_(uses->Enter() ? std::move(uses) : nullptr) {}
  ClusterUse(const ClusterUse&) = delete;
  ClusterUse& operator=(const ClusterUse&) = delete;
  ~ClusterUse() { End(); }
  explicit operator bool() const { return uses_ != nullptr; }
  void End() {
    if (auto uses = std::exchange(uses_, nullptr)) uses->Leave();
  }

 private:
  std::shared_ptr<ClusterUses> uses_;
};

// The open streams of a cluster. Thread-safe.
class ClusterStreams : public std::enable_shared_from_this<ClusterStreams> {
 public:
  // The same stream, which ends when the cluster does.
  std::unique_ptr<apiserver::ResponseStream> Add(std::unique_ptr<apiserver::ResponseStream> stream);
  // Ends all streams, now and later: their readers find the end, and nothing of the cluster is behind them any more.
  void Close();

 private:
  class Held;
  std::mutex mutex_;
  std::set<Held*> open_;
  bool closed_ = false;
};

// For Response::stream_busy: holds `executor` busy, and the cluster there.
std::function<std::shared_ptr<void>()> StreamBusy(std::shared_ptr<ClusterUses> uses, api::Executor& executor);

}  // namespace terrarium::testbed

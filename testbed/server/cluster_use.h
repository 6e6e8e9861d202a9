#pragma once

// Tracks the users of a cluster, so that a deleted cluster can be freed while clients still send requests:
// deletion waits for requests without a response, and ends streams.

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
  // Returns false after Close(): the cluster may be destroyed at any moment.
  bool Enter();
  void Leave();
  // Makes Enter() fail from now on and waits until all users have left. Returns false if some had not left
  // after `limit`.
  bool Close(std::chrono::nanoseconds limit);

 private:
  std::atomic<int> count_ = 0;
  std::atomic<bool> closed_ = false;
  std::mutex mutex_;
  std::condition_variable unused_;
};

// One user, until destroyed or End(). Converts to false if the cluster was closed already.
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
  // Wraps the stream, so that it ends when the cluster does.
  std::unique_ptr<apiserver::ResponseStream> Add(std::unique_ptr<apiserver::ResponseStream> stream);
  // Ends all open streams and those added later. Their readers read the end, and they no longer refer to the
  // cluster.
  void Close();

 private:
  class Held;
  std::mutex mutex_;
  std::set<Held*> open_;
  bool closed_ = false;
};

// For Response::stream_busy: keeps `executor` busy and the cluster alive.
std::function<std::shared_ptr<void>()> StreamBusy(std::shared_ptr<ClusterUses> uses, api::Executor& executor);

}  // namespace terrarium::testbed

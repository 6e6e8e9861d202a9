#pragma once

// The requests that use one part of a server: the HTTP server, a cluster, a run of the apiserver. A part ends
// its requests through its group, and is freed when none is left. Thread-safe.

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <set>

#include "apiserver/request.h"

namespace terrarium::apiserver {

class ScopedStream;

class RequestGroup {
 public:
  RequestGroup() = default;
  RequestGroup(const RequestGroup&) = delete;
  RequestGroup& operator=(const RequestGroup&) = delete;

  // Counts one more user. False after Close(): the guarded part may be destroyed at any moment. REQUIRES:
  // Leave() for each call that returned true.
  bool Enter();
  void Leave();
  int count() const { return count_; }

  // Makes Enter() fail from now on.
  void Close() { closed_ = true; }
  // Waits until all users have left; false: some had not after `limit`. REQUIRES: it is closed.
  bool WaitUntilUnused(std::chrono::nanoseconds limit);

  // Ends the streams of the group's requests, now and later: their readers read `state`, kEnd or kCut.
  void EndStreams(ResponseStream::State state);

 private:
  friend class ScopedStream;
  using StreamPtr = std::shared_ptr<ScopedStream>;
  // False: streams have ended, in `state`.
  bool AddStream(const StreamPtr& stream, ResponseStream::State& state);
  void RemoveStream(const StreamPtr& stream);

  std::atomic<int> count_ = 0;
  std::atomic<bool> closed_ = false;
  std::mutex mutex_;
  std::condition_variable unused_;
  std::set<StreamPtr> streams_;                                        // guarded by mutex_
  ResponseStream::State stream_state_ = ResponseStream::State::kOpen;  // guarded by mutex_
};

using RequestGroupPtr = std::shared_ptr<RequestGroup>;

// One user of a group that is not a request, until it is destroyed. Converts to false if the group was
// closed.
class RequestGroupUse {
 public:
  explicit RequestGroupUse(RequestGroupPtr group) : group_(group->Enter() ? std::move(group) : nullptr) {}
  RequestGroupUse(const RequestGroupUse&) = delete;
  RequestGroupUse& operator=(const RequestGroupUse&) = delete;
  ~RequestGroupUse() {
    if (group_ != nullptr) group_->Leave();
  }
  explicit operator bool() const { return group_ != nullptr; }

 private:
  RequestGroupPtr group_;
};

// Limits the number of requests that wait for their responses. Thread-safe.
class InflightLimit {
 public:
  explicit InflightLimit(int most) : most_(most) {}
  // False: the limit is reached. REQUIRES: Leave() for each call that returned true.
  bool Enter();
  void Leave() { count_.fetch_sub(1); }

 private:
  const int most_;
  std::atomic<int> count_ = 0;
};

}  // namespace terrarium::apiserver

#pragma once

#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "storage/store.h"

namespace terrarium::storage {

// A write and the callback for its outcome.
struct CommitJob {
  Write write;
  WriteDone done;
};

// The one thread of this folder: it hands queued writes, as many as are waiting (at most `batch_max`), to
// `commit`.
class CommitThread {
 public:
  // `commit` gets an empty batch after a Poke that found nothing queued.
  CommitThread(std::size_t batch_max, std::function<void(std::vector<CommitJob>)> commit);
  CommitThread(const CommitThread&) = delete;
  CommitThread& operator=(const CommitThread&) = delete;
  ~CommitThread();

  // False, with `job` untouched, once Stop has begun.
  bool Push(CommitJob& job);
  // Makes the thread call `commit` soon, with or without writes.
  void Poke();
  // Returns when everything queued is committed and the thread has ended. REQUIRES: not called by `commit`
  void Stop();

 private:
  void Run();
  std::vector<CommitJob> TakeBatch();

  const std::size_t batch_max_;
  const std::function<void(std::vector<CommitJob>)> commit_;
  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_.
  std::deque<CommitJob> queue_;
  bool poked_ = false;
  bool stopping_ = false;

  std::thread thread_;  // last: it uses the rest
};

}  // namespace terrarium::storage

#pragma once

// Threads for work that would block an event loop.

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace terrarium::apiserver {

class WorkerPool {
 public:
  explicit WorkerPool(int threads);
  ~WorkerPool() { Stop(); }

  // Runs `work` on one of the threads, in the order posted. Dropped once the pool has been stopped.
  void Post(std::function<void()> work);
  // Ends the threads after the work that is running; drops the rest. Idempotent.
  void Stop();

 private:
  void Run();

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::function<void()>> queue_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace terrarium::apiserver

#include "storage/internal/commit_thread.h"

#include <algorithm>
#include <iterator>
#include <utility>

namespace terrarium::storage {

CommitThread::CommitThread(std::size_t batch_max, std::function<void(std::vector<CommitJob>)> commit)
    : batch_max_(batch_max), commit_(std::move(commit)), thread_([this] { Run(); }) {}

CommitThread::~CommitThread() { Stop(); }

bool CommitThread::Push(CommitJob& job) {
  bool first;
  {
    std::lock_guard lock(mutex_);
    if (stopping_) return false;
    first = queue_.empty();
    queue_.push_back(std::move(job));
  }
  // The thread sleeps only when it has seen an empty queue.
  if (first) changed_.notify_one();
  return true;
}

void CommitThread::Poke() {
  {
    std::lock_guard lock(mutex_);
    poked_ = true;
  }
  changed_.notify_one();
}

void CommitThread::Stop() {
  {
    std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  changed_.notify_one();
  if (thread_.joinable()) thread_.join();
}

std::vector<CommitJob> CommitThread::TakeBatch() {
  auto end = queue_.begin() + static_cast<std::ptrdiff_t>(std::min(queue_.size(), batch_max_));
  std::vector<CommitJob> batch(std::make_move_iterator(queue_.begin()), std::make_move_iterator(end));
  queue_.erase(queue_.begin(), end);
  return batch;
}

void CommitThread::Run() {
  for (;;) {
    std::vector<CommitJob> batch;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return !queue_.empty() || poked_ || stopping_; });
      if (queue_.empty() && !poked_) return;
      poked_ = false;
      batch = TakeBatch();
    }
    commit_(std::move(batch));
  }
}

}  // namespace terrarium::storage

#include "apiserver/request_group.h"

#include "apiserver/internal/scoped_stream.h"

namespace terrarium::apiserver {

bool RequestGroup::Enter() {
  count_.fetch_add(1);
  if (!closed_) return true;
  Leave();
  return false;
}

void RequestGroup::Leave() {
  if (count_.fetch_sub(1) != 1 || !closed_) return;
  std::lock_guard lock(mutex_);
  unused_.notify_all();
}

bool RequestGroup::WaitUntilUnused(std::chrono::nanoseconds limit) {
  std::unique_lock lock(mutex_);
  return unused_.wait_for(lock, limit, [this] { return count_ == 0; });
}

void RequestGroup::EndStreams(ResponseStream::State state) {
  std::set<StreamPtr> streams;
  {
    std::lock_guard lock(mutex_);
    if (stream_state_ == ResponseStream::State::kOpen) stream_state_ = state;
    streams.swap(streams_);
  }
  // Without the lock: a stream that ends leaves its groups.
  for (const StreamPtr& stream : streams) stream->End(state);
}

bool RequestGroup::AddStream(const StreamPtr& stream, ResponseStream::State& state) {
  std::lock_guard lock(mutex_);
  state = stream_state_;
  if (state != ResponseStream::State::kOpen) return false;
  streams_.insert(stream);
  return true;
}

void RequestGroup::RemoveStream(const StreamPtr& stream) {
  std::lock_guard lock(mutex_);
  streams_.erase(stream);
}

bool InflightLimit::Enter() {
  if (count_.fetch_add(1) < most_) return true;
  count_.fetch_sub(1);
  return false;
}

}  // namespace terrarium::apiserver

#include "apiserver/internal/scoped_stream.h"

#include <exception>
#include <utility>

#include <spdlog/spdlog.h>

namespace terrarium::apiserver {
namespace {

using State = ResponseStream::State;

// What the reader owns. The groups know the scoped stream as well, so that both may go first.
class Reader : public ResponseStream {
 public:
  explicit Reader(std::shared_ptr<ScopedStream> stream) : stream_(std::move(stream)) {}
  ~Reader() override { stream_->Close(); }
  State Read(std::size_t max_bytes, std::string& out) override { return stream_->Read(max_bytes, out); }
  void SetWake(std::function<void()> wake) override { stream_->SetWake(std::move(wake)); }

 private:
  std::shared_ptr<ScopedStream> stream_;
};

}  // namespace

std::unique_ptr<ResponseStream> ScopedStream::Wrap(std::unique_ptr<ResponseStream> stream, std::string what,
                                                   std::vector<std::shared_ptr<void>> held,
                                                   std::vector<RequestGroupPtr> groups) {
  auto scoped = std::make_shared<ScopedStream>();
  scoped->stream_ = std::move(stream);
  scoped->what_ = std::move(what);
  scoped->groups_ = groups;
  scoped->held_ = std::move(held);
  for (const RequestGroupPtr& group : groups)
    if (State state{}; !group->AddStream(scoped, state)) scoped->End(state);
  // A group that ended it meanwhile could not remove it from those that it had not entered yet.
  if (scoped->HasEnded())
    for (const RequestGroupPtr& group : groups) group->RemoveStream(scoped);
  return std::make_unique<Reader>(std::move(scoped));
}

State ScopedStream::Read(std::size_t max_bytes, std::string& out) {
  std::lock_guard lock(mutex_);
  if (stream_ == nullptr) return state_;
  try {
    return stream_->Read(max_bytes, out);
  } catch (const std::exception& e) {
    spdlog::error("exception in the stream of {}: {}", what_, e.what());
    Release(State::kCut);
    return State::kCut;
  }
}

void ScopedStream::SetWake(std::function<void()> wake) {
  {
    std::lock_guard lock(mutex_);
    if (stream_ != nullptr) {
      wake_ = wake;
      return stream_->SetWake(std::move(wake));
    }
  }
  if (wake) wake();
}

void ScopedStream::End(State state) {
  std::function<void()> wake;
  {
    std::lock_guard lock(mutex_);
    if (stream_ == nullptr) return;
    wake = std::move(wake_);
    Release(state);
  }
  if (wake) wake();
}

void ScopedStream::Close() {
  std::lock_guard lock(mutex_);
  if (stream_ != nullptr) Release(State::kEnd);
}

bool ScopedStream::HasEnded() {
  std::lock_guard lock(mutex_);
  return stream_ == nullptr;
}

// Everything under the lock: when one of two callers of End() returns, nothing of the stream is left.
void ScopedStream::Release(State state) {
  state_ = state;
  wake_ = nullptr;
  stream_ = nullptr;
  held_.clear();
  auto self = shared_from_this();
  for (const RequestGroupPtr& group : groups_) group->RemoveStream(self);
  groups_.clear();
}

}  // namespace terrarium::apiserver

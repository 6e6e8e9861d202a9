#include "apiserver/http/stream_pump.h"

#include <utility>

namespace terrarium::apiserver {

StreamPump::StreamPump(std::unique_ptr<ResponseStream> source, StreamFraming framing,
                       std::function<std::shared_ptr<void>()> busy, trantor::EventLoop* loop,
                       std::function<void()> run)
    : frames_(std::make_unique<StreamFrames>(std::move(source), framing)),
      busy_(std::move(busy)),
      loop_(loop),
      run_(std::move(run)) {}

void StreamPump::Start() {
  frames_->SetWake([weak = weak_from_this()] {
    if (auto self = weak.lock()) self->Wake();
  });
}

void StreamPump::Wake() {
  if (scheduled_.exchange(true)) return;
  // Ends when the run has, also one that found its client not keeping up: such a client is not waited for.
  std::shared_ptr<void> busy = busy_ ? busy_() : nullptr;
  loop_->queueInLoop([self = shared_from_this(), busy] {
    self->scheduled_ = false;
    if (self->run_) self->run_();
  });
}

ResponseStream::State StreamPump::Next(std::size_t max_bytes, std::string& buffer, std::string_view& frame) {
  if (frames_ == nullptr) return ResponseStream::State::kEnd;
  return frames_->Next(max_bytes, buffer, frame);
}

void StreamPump::Stop() {
  frames_ = nullptr;
  run_ = nullptr;
}

}  // namespace terrarium::apiserver

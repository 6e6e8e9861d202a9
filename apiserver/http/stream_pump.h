#pragma once

// Reads one ResponseStream on the event loop of its connection: a wake from any thread queues one run there.

#include <atomic>
#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include <trantor/net/EventLoop.h>

#include "apiserver/http/stream_frames.h"
#include "apiserver/request.h"

namespace terrarium::apiserver {

class StreamPump : public std::enable_shared_from_this<StreamPump> {
 public:
  // `run` is called on `loop` after each wake. `busy` is Response::stream_busy: its result is held until that
  // run has ended, so that a virtual clock waits for clients that keep up.
  StreamPump(std::unique_ptr<ResponseStream> source, StreamFraming framing,
             std::function<std::shared_ptr<void>()> busy, trantor::EventLoop* loop,
             std::function<void()> run);

  // Registers with the source. The caller calls Wake() once it can send.
  void Start();
  // On any thread.
  void Wake();
  // On the loop: see StreamFrames.
  ResponseStream::State Next(std::size_t max_bytes, std::string& buffer, std::string_view& frame);
  // On the loop: nothing is read and `run` is not called any more.
  void Stop();

 private:
  std::unique_ptr<StreamFrames> frames_;
  const std::function<std::shared_ptr<void>()> busy_;
  trantor::EventLoop* const loop_;
  std::function<void()> run_;
  std::atomic<bool> scheduled_ = false;
};

}  // namespace terrarium::apiserver

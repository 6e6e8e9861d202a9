#pragma once

// A ResponseStream as the bytes of an HTTP body: in chunks, or unframed until the connection closes.

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>

#include "apiserver/request.h"

namespace terrarium::apiserver {

class StreamFrames {
 public:
  StreamFrames(std::unique_ptr<ResponseStream> source, bool chunked)
      : source_(std::move(source)), chunked_(chunked) {}

  void SetWake(std::function<void()> wake) { source_->SetWake(std::move(wake)); }
  // Reads about `max_bytes` into `buffer`, and sets `frame` to the part of it to send, which may be empty.
  // kEnd: `frame` completes the body.
  ResponseStream::State Next(std::size_t max_bytes, std::string& buffer, std::string_view& frame);

 private:
  std::unique_ptr<ResponseStream> source_;
  bool chunked_;
};

}  // namespace terrarium::apiserver

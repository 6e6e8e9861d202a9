#pragma once

// A ResponseStream as the bytes of a connection: an HTTP body in chunks, one that ends with the connection,
// or the messages of a websocket.

#include <cstddef>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "apiserver/request.h"

namespace terrarium::apiserver {

enum class StreamFraming {
  kNone,
  kChunks,
  kWebsocketText,    // a message is a line
  kWebsocketBinary,  // a message is what follows its size, in four bytes (big endian)
};

// How a websocket carries a stream of this content type; nullopt: the stream is not a watch. As in
// Kubernetes, the media type of a watch determines how its events are separated.
std::optional<StreamFraming> WebsocketFramingOf(std::string_view content_type);

class StreamFrames {
 public:
  StreamFrames(std::unique_ptr<ResponseStream> source, StreamFraming framing)
      : source_(std::move(source)), framing_(framing) {}

  void SetWake(std::function<void()> wake) { source_->SetWake(std::move(wake)); }
  // Reads about `max_bytes` into `buffer`, and sets `frame` to the part of it to send, which may be empty.
  // kEnd: `frame` completes the body, or closes the websocket.
  ResponseStream::State Next(std::size_t max_bytes, std::string& buffer, std::string_view& frame);

 private:
  ResponseStream::State NextMessages(std::size_t max_bytes, std::string& buffer);

  std::unique_ptr<ResponseStream> source_;
  StreamFraming framing_;
};

}  // namespace terrarium::apiserver

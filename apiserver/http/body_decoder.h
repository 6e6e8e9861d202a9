#pragma once

// Reads the body of one request from the bytes of its connection: of a given length, or in chunks.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "api/base/status.h"

namespace terrarium::apiserver {

class BodyDecoder {
 public:
  // REQUIRES: length <= bytes_max
  static BodyDecoder OfLength(std::uint64_t length);
  // A body of more than `bytes_max` bytes is refused with 413.
  static BodyDecoder OfChunks(std::size_t bytes_max);

  // Reads from the beginning of `input` and returns the number of bytes read: all, unless it is done() or has
  // an error().
  std::size_t Read(std::string_view input);
  bool done() const { return state_ == State::kDone; }
  // Set when the body is malformed or too large: nothing after it can be read.
  const std::optional<api::Status>& error() const { return error_; }
  // Bytes held so far.
  std::size_t size() const { return body_.size(); }
  // REQUIRES: done()
  std::string Take() { return std::move(body_); }

 private:
  enum class State { kData, kSize, kDataEnd, kTrailer, kDone };
  BodyDecoder(State state, std::uint64_t remaining, std::size_t bytes_max);

  std::size_t ReadData(std::string_view input);
  // Reads up to the end of a line; true once line_ is whole.
  bool ReadLine(std::string_view input, std::size_t* taken);
  void EndSizeLine();
  void Fail(api::Status status) { error_ = std::move(status); }

  State state_;
  bool chunked_;
  std::uint64_t remaining_;  // of the body, or of the current chunk
  std::size_t bytes_max_;
  std::size_t trailer_bytes_ = 0;
  std::string line_;
  std::string body_;
  std::optional<api::Status> error_;
};

}  // namespace terrarium::apiserver

#pragma once

// Reads one HTTP/1.x answer to a POST, from pieces of any size. Strict where a sloppy reader would have to guess where
// the answer ends, and bounded everywhere: nothing a server sends makes it keep more than the limits.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace terrarium::testbed::internal {

class AnswerParser {
 public:
  enum class State {
    kMore,       // the answer is not complete yet
    kDone,       // it is; what may follow on the connection is not looked at
    kTooLarge,   // its body is, or says it will be, above the limit
    kMalformed,  // it is no HTTP answer; see error()
    kCutOff,     // the connection ended in the middle of it
  };

  // Of the status line and all header fields together, those of interim answers and trailers included.
  static constexpr std::size_t kHeadBytesMax = 64 * 1024;

  explicit AnswerParser(std::size_t body_bytes_max) : body_bytes_max_(body_bytes_max) {}

  // Takes the next bytes. Once it has returned anything but kMore, it changes no more.
  State Feed(std::string_view bytes);
  // The server has closed the connection in the orderly way.
  State End();

  State state() const { return state_; }
  bool begun() const { return begun_; }  // a byte of the answer has come
  // The following hold when the state is kDone; status() from the end of the status line on.
  int status() const { return status_; }
  const std::string& content_type() const { return content_type_; }
  std::string& body() { return body_; }
  // What is wrong, in a few words that repeat nothing the server sent.
  const std::string& error() const { return error_; }

 private:
  enum class Part { kStatusLine, kFields, kBody, kChunkSize, kChunk, kChunkEnd, kTrailers };

  State Fail(State state, const char* error);
  // Each takes what it can use off `bytes`.
  void FeedLine(std::string_view& bytes);
  void FeedBody(std::string_view& bytes);

  void TakeLine();  // of line_, without its end
  void TakeStatusLine();
  void TakeField();
  void TakeChunkSize();
  void EndOfFields();
  void ExpectBytes(std::uint64_t count);

  const std::size_t body_bytes_max_;
  State state_ = State::kMore;
  Part part_ = Part::kStatusLine;
  std::string error_;
  bool begun_ = false;
  std::string line_;
  std::size_t head_bytes_ = 0;

  int status_ = 0;
  bool http_1_0_ = false;
  std::optional<std::uint64_t> content_length_;
  bool chunked_ = false;
  bool has_content_type_ = false;
  std::string content_type_;
  // Of the body, or of the chunk that is being read. Without a value the body ends with the connection.
  std::optional<std::uint64_t> bytes_left_;
  std::string body_;
};

}  // namespace terrarium::testbed::internal

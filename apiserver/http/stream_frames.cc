#include "apiserver/http/stream_frames.h"

#include <charconv>

namespace terrarium::apiserver {
namespace {

// Room before the data for its size, sixteen digits, and the end of that line.
constexpr std::size_t kSizeLineBytes = 18;
constexpr std::string_view kLineEnd = "\r\n";
constexpr std::string_view kLastChunk = "0\r\n\r\n";

}  // namespace

ResponseStream::State StreamFrames::Next(std::size_t max_bytes, std::string& buffer,
                                         std::string_view& frame) {
  buffer.assign(kSizeLineBytes, '\0');
  ResponseStream::State state = source_->Read(max_bytes, buffer);
  std::size_t size = buffer.size() - kSizeLineBytes, begin = kSizeLineBytes;
  if (chunked_ && size > 0) {
    char digits[16];
    auto end = std::to_chars(digits, digits + sizeof digits, size, 16).ptr;
    std::string_view line(digits, static_cast<std::size_t>(end - digits));
    begin -= line.size() + kLineEnd.size();
    buffer.replace(begin, line.size(), line);
    buffer.replace(begin + line.size(), kLineEnd.size(), kLineEnd);
    buffer += kLineEnd;
  }
  if (chunked_ && state == ResponseStream::State::kEnd) buffer += kLastChunk;
  frame = std::string_view(buffer).substr(begin);
  return state;
}

}  // namespace terrarium::apiserver

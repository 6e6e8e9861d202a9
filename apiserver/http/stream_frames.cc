#include "apiserver/http/stream_frames.h"

#include <charconv>

#include "api/base/check.h"
#include "apiserver/http/websocket.h"

namespace terrarium::apiserver {
namespace {

// Room before the data for its size, sixteen digits, and the end of that line.
constexpr std::size_t kSizeLineBytes = 18;
constexpr std::string_view kLineEnd = "\r\n";
constexpr std::string_view kLastChunk = "0\r\n\r\n";
constexpr std::size_t kLengthBytes = 4;

// Takes the first message off `text`; nullopt: it is incomplete.
std::optional<std::string_view> TakeLine(std::string_view& text) {
  const std::size_t end = text.find('\n');
  if (end == std::string_view::npos) return std::nullopt;
  std::string_view out = text.substr(0, end + 1);
  text.remove_prefix(end + 1);
  return out;
}

std::optional<std::string_view> TakeLengthPrefixed(std::string_view& text) {
  if (text.size() < kLengthBytes) return std::nullopt;
  std::size_t size = 0;
  for (std::size_t i = 0; i < kLengthBytes; ++i) size = (size << 8) | static_cast<unsigned char>(text[i]);
  if (text.size() - kLengthBytes < size) return std::nullopt;
  std::string_view out = text.substr(kLengthBytes, size);
  text.remove_prefix(kLengthBytes + size);
  return out;
}

}  // namespace

std::optional<StreamFraming> WebsocketFramingOf(std::string_view content_type) {
  if (content_type == "application/json") return StreamFraming::kWebsocketText;
  if (content_type == "application/vnd.kubernetes.protobuf;stream=watch")
    return StreamFraming::kWebsocketBinary;
  return std::nullopt;
}

ResponseStream::State StreamFrames::Next(std::size_t max_bytes, std::string& buffer,
                                         std::string_view& frame) {
  if (framing_ == StreamFraming::kWebsocketText || framing_ == StreamFraming::kWebsocketBinary) {
    const ResponseStream::State state = NextMessages(max_bytes, buffer);
    frame = buffer;
    return state;
  }
  const bool chunked = framing_ == StreamFraming::kChunks;
  buffer.assign(kSizeLineBytes, '\0');
  ResponseStream::State state = source_->Read(max_bytes, buffer);
  std::size_t size = buffer.size() - kSizeLineBytes, begin = kSizeLineBytes;
  if (chunked && size > 0) {
    char digits[16];
    auto end = std::to_chars(digits, digits + sizeof digits, size, 16).ptr;
    std::string_view line(digits, static_cast<std::size_t>(end - digits));
    begin -= line.size() + kLineEnd.size();
    buffer.replace(begin, line.size(), line);
    buffer.replace(begin + line.size(), kLineEnd.size(), kLineEnd);
    buffer += kLineEnd;
  }
  if (chunked && state == ResponseStream::State::kEnd) buffer += kLastChunk;
  frame = std::string_view(buffer).substr(begin);
  return state;
}

ResponseStream::State StreamFrames::NextMessages(std::size_t max_bytes, std::string& buffer) {
  const bool text = framing_ == StreamFraming::kWebsocketText;
  std::string data;
  const ResponseStream::State state = source_->Read(max_bytes, data);
  buffer.clear();
  std::string_view rest = data;
  while (!rest.empty()) {
    const auto message = text ? TakeLine(rest) : TakeLengthPrefixed(rest);
    CHECK(message.has_value());  // a stream gives whole frames
    AppendWebsocketFrame(text ? WebsocketOpcode::kText : WebsocketOpcode::kBinary, *message, buffer);
  }
  if (state == ResponseStream::State::kEnd) AppendWebsocketClose(WebsocketCloseCode::kNormal, buffer);
  return state;
}

}  // namespace terrarium::apiserver

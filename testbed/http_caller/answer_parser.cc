#include "testbed/http_caller/internal/answer_parser.h"

#include <algorithm>
#include <charconv>

#include "testbed/http_caller/internal/http_text.h"

namespace terrarium::testbed::internal {
namespace {

std::string_view TrimBlanks(std::string_view text) {
  while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
  return text;
}

// Digits alone: no sign, no blanks, nothing that does not fit.
std::optional<std::uint64_t> ParseNumber(std::string_view text, int base) {
  std::uint64_t value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

}  // namespace

AnswerParser::State AnswerParser::Fail(State state, const char* error) {
  state_ = state;
  error_ = error;
  body_.clear();
  return state_;
}

AnswerParser::State AnswerParser::Feed(std::string_view bytes) {
  if (!bytes.empty()) begun_ = true;
  while (state_ == State::kMore && !bytes.empty()) {
    if (part_ == Part::kBody || part_ == Part::kChunk) FeedBody(bytes);
    else FeedLine(bytes);
  }
  return state_;
}

AnswerParser::State AnswerParser::End() {
  if (state_ != State::kMore) return state_;
  if (part_ == Part::kBody && !bytes_left_) return state_ = State::kDone;
  return Fail(State::kCutOff, begun_ ? "the connection broke off in the middle of the answer"
                                     : "the connection was closed without an answer");
}

void AnswerParser::FeedLine(std::string_view& bytes) {
  std::size_t end = bytes.find('\n');
  std::size_t taken = end == std::string_view::npos ? bytes.size() : end + 1;
  // The lines between chunks are as many as the body's bytes allow, and only their length is limited.
  bool framing = part_ == Part::kChunkSize || part_ == Part::kChunkEnd;
  if (!framing) head_bytes_ += taken;
  if (std::max(head_bytes_, line_.size() + taken) > kHeadBytesMax) {
    Fail(State::kMalformed, framing ? "a chunk has no length" : "its header fields are too long");
    return;
  }
  line_.append(bytes.substr(0, std::min(taken, end)));
  bytes.remove_prefix(taken);
  if (end == std::string_view::npos) return;
  // A line may end with a line feed alone (RFC 9112, 2.2), as Go's client takes it too.
  if (!line_.empty() && line_.back() == '\r') line_.pop_back();
  TakeLine();
  line_.clear();
}

void AnswerParser::TakeLine() {
  switch (part_) {
    case Part::kStatusLine: return TakeStatusLine();
    case Part::kFields:
    case Part::kTrailers: return line_.empty() ? EndOfFields() : TakeField();
    case Part::kChunkSize: return TakeChunkSize();
    case Part::kChunkEnd:
      if (!line_.empty()) Fail(State::kMalformed, "a chunk is longer than it says");
      part_ = Part::kChunkSize;
      return;
    case Part::kBody:
    case Part::kChunk: return;  // no lines there
  }
}

// "HTTP/1.1 200 OK"; the reason and the blank before it may be missing.
void AnswerParser::TakeStatusLine() {
  std::string_view line = line_;
  bool fine = line.size() >= 12 && line.starts_with("HTTP/1.") && IsDigit(line[7]) && line[8] == ' ' &&
              IsDigit(line[9]) && IsDigit(line[10]) && IsDigit(line[11]) && line[9] != '0' &&
              (line.size() == 12 || line[12] == ' ') && IsFieldValue(line.substr(12));
  if (!fine) {
    Fail(State::kMalformed, "its first line is no HTTP/1.1 status line");
    return;
  }
  http_1_0_ = line[7] == '0';
  status_ = (line[9] - '0') * 100 + (line[10] - '0') * 10 + (line[11] - '0');
  part_ = Part::kFields;
}

void AnswerParser::TakeField() {
  std::size_t colon = line_.find(':');
  // A line that begins with a blank would continue the one before, which nobody may send any more.
  if (colon == std::string::npos || !IsToken(std::string_view(line_).substr(0, colon))) {
    Fail(State::kMalformed, "it has a header line without a name");
    return;
  }
  std::string_view name = std::string_view(line_).substr(0, colon);
  std::string_view value = TrimBlanks(std::string_view(line_).substr(colon + 1));
  if (!IsFieldValue(value)) {
    Fail(State::kMalformed, "it has a header value with a control character");
    return;
  }
  if (part_ == Part::kTrailers) return;  // they say nothing about where the answer ends
  if (EqualNoCase(name, "content-type")) {
    if (!has_content_type_) content_type_ = value;
    has_content_type_ = true;
  } else if (EqualNoCase(name, "content-length")) {
    auto length = ParseNumber(value, 10);
    if (!length || (content_length_ && content_length_ != length))
      Fail(State::kMalformed, "its Content-Length is no number, or there are several");
    content_length_ = length;
  } else if (EqualNoCase(name, "transfer-encoding")) {
    if (chunked_ || http_1_0_ || !EqualNoCase(value, "chunked"))
      Fail(State::kMalformed, "its Transfer-Encoding is not chunked");
    chunked_ = true;
  }
}

void AnswerParser::EndOfFields() {
  if (part_ == Part::kTrailers) {
    state_ = State::kDone;
    return;
  }
  if (status_ < 200) {
    // 100 Continue and the like come before the answer. 101 would be the end of HTTP, which nobody asked for.
    if (status_ == 101 || content_length_ || chunked_) {
      Fail(State::kMalformed, "it changes the protocol");
      return;
    }
    part_ = Part::kStatusLine;
    content_type_.clear();
    has_content_type_ = false;
    return;
  }
  if (chunked_ && content_length_) {
    Fail(State::kMalformed, "it has both a Content-Length and a Transfer-Encoding");
    return;
  }
  if (status_ == 204 || status_ == 304) {
    state_ = State::kDone;
  } else if (chunked_) {
    part_ = Part::kChunkSize;
  } else {
    part_ = Part::kBody;
    if (content_length_) ExpectBytes(*content_length_);
    if (state_ == State::kMore && content_length_ == 0) state_ = State::kDone;
  }
}

// "1a2b" or "1a2b;name=value".
void AnswerParser::TakeChunkSize() {
  std::string_view digits = TrimBlanks(std::string_view(line_).substr(0, line_.find(';')));
  auto size = ParseNumber(digits, 16);
  if (!size) {
    Fail(State::kMalformed, "a chunk has no length");
    return;
  }
  part_ = *size == 0 ? Part::kTrailers : Part::kChunk;
  ExpectBytes(*size);
}

void AnswerParser::ExpectBytes(std::uint64_t count) {
  if (count > body_bytes_max_ - body_.size()) Fail(State::kTooLarge, "its body is too large");
  bytes_left_ = count;
}

void AnswerParser::FeedBody(std::string_view& bytes) {
  std::size_t taken = bytes.size();
  if (bytes_left_) taken = static_cast<std::size_t>(std::min<std::uint64_t>(taken, *bytes_left_));
  if (taken > body_bytes_max_ - body_.size()) {
    Fail(State::kTooLarge, "its body is too large");
    return;
  }
  body_.append(bytes.substr(0, taken));
  bytes.remove_prefix(taken);
  if (!bytes_left_) return;
  *bytes_left_ -= taken;
  if (*bytes_left_ > 0) return;
  if (part_ == Part::kChunk) part_ = Part::kChunkEnd;
  else state_ = State::kDone;
}

}  // namespace terrarium::testbed::internal

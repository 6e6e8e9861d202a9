#include "apiserver/http/body_decoder.h"

#include <algorithm>
#include <utility>

#include "api/base/errors.h"
#include "apiserver/http/url.h"

namespace terrarium::apiserver {
namespace {

// Of a line: a chunk's size with its extensions, or one field of the trailer.
constexpr std::size_t kLineBytesMax = 4096;
constexpr std::size_t kTrailerBytesMax = 16 * 1024;
constexpr std::size_t kSizeDigitsMax = 15;

// Hexadecimal digits, possibly followed by an extension, which is ignored.
std::optional<std::uint64_t> ParseChunkSize(std::string_view line) {
  std::string_view digits = line.substr(0, line.find_first_of("; \t"));
  std::string_view rest = line.substr(digits.size());
  std::size_t extension = rest.find_first_not_of(" \t");
  if (extension != std::string_view::npos && rest[extension] != ';') return std::nullopt;
  if (digits.empty() || digits.size() > kSizeDigitsMax) return std::nullopt;
  std::uint64_t out = 0;
  for (char c : digits) {
    int digit = HexDigit(c);
    if (digit < 0) return std::nullopt;
    out = out * 16 + static_cast<std::uint64_t>(digit);
  }
  return out;
}

}  // namespace

BodyDecoder::BodyDecoder(State state, std::uint64_t remaining, std::size_t bytes_max)
    : state_(state), chunked_(state == State::kSize), remaining_(remaining), bytes_max_(bytes_max) {}

BodyDecoder BodyDecoder::OfLength(std::uint64_t length) {
  return BodyDecoder(length == 0 ? State::kDone : State::kData, length, length);
}

BodyDecoder BodyDecoder::OfChunks(std::size_t bytes_max) { return BodyDecoder(State::kSize, 0, bytes_max); }

std::size_t BodyDecoder::Read(std::string_view input) {
  std::size_t total = 0;
  while (!input.empty() && !done() && !error_) {
    std::size_t taken = 0;
    if (state_ == State::kData) {
      taken = ReadData(input);
    } else if (ReadLine(input, &taken)) {
      if (state_ == State::kSize) {
        EndSizeLine();
      } else if (state_ == State::kDataEnd) {
        if (!line_.empty()) Fail(api::BadRequest("malformed chunked encoding: no line end after a chunk"));
        state_ = State::kSize;
      } else if (line_.empty()) {
        state_ = State::kDone;
      }
      line_.clear();
    }
    total += taken;
    input.remove_prefix(taken);
  }
  return total;
}

std::size_t BodyDecoder::ReadData(std::string_view input) {
  std::size_t taken = static_cast<std::size_t>(std::min<std::uint64_t>(remaining_, input.size()));
  // A body of known length needs one allocation. Its pages take memory of the machine only once they are
  // filled.
  if (body_.empty() && !chunked_) body_.reserve(static_cast<std::size_t>(remaining_));
  body_.append(input.substr(0, taken));
  remaining_ -= taken;
  if (remaining_ == 0) state_ = chunked_ ? State::kDataEnd : State::kDone;
  return taken;
}

bool BodyDecoder::ReadLine(std::string_view input, std::size_t* taken) {
  std::size_t end = input.find('\n');
  *taken = end == std::string_view::npos ? input.size() : end + 1;
  line_.append(input.substr(0, *taken));
  if (state_ == State::kTrailer) trailer_bytes_ += *taken;
  if (line_.size() > kLineBytesMax || trailer_bytes_ > kTrailerBytesMax) {
    Fail(api::BadRequest("malformed chunked encoding: line too long"));
    return false;
  }
  if (end == std::string_view::npos) return false;
  line_.pop_back();
  // Programs disagree about a bare line feed, and would find different chunks.
  if (!line_.ends_with('\r')) {
    Fail(api::BadRequest("malformed chunked encoding: bare line feed"));
    return false;
  }
  line_.pop_back();
  return true;
}

void BodyDecoder::EndSizeLine() {
  std::optional<std::uint64_t> size = ParseChunkSize(line_);
  if (!size) return Fail(api::BadRequest("malformed chunked encoding: invalid chunk size"));
  if (*size > bytes_max_ - body_.size())
    return Fail(api::RequestTooLarge("limit is " + std::to_string(bytes_max_)));
  remaining_ = *size;
  state_ = *size == 0 ? State::kTrailer : State::kData;
}

}  // namespace terrarium::apiserver

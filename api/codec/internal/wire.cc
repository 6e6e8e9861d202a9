#include "api/codec/internal/wire.h"

#include <algorithm>
#include <cstring>

namespace terrarium::api {

bool WireReader::Varint(std::uint64_t* value) {
  *value = 0;
  for (std::size_t i = 0; i < rest_.size() && i < 10; ++i) {
    const auto byte = static_cast<unsigned char>(rest_[i]);
    *value |= static_cast<std::uint64_t>(byte & 0x7f) << (7 * i);
    if (byte < 0x80) {
      rest_.remove_prefix(i + 1);
      return true;
    }
  }
  return false;
}

bool WireReader::Tag(std::uint32_t* number, WireType* type) {
  std::uint64_t tag = 0;
  if (!Varint(&tag)) return false;
  *type = static_cast<WireType>(tag & 7);
  *number = static_cast<std::uint32_t>(tag >> 3);
  return (tag >> 3) != 0 && (tag >> 3) < (1U << 29) && (tag & 7) <= 5;
}

bool WireReader::Fixed64(std::uint64_t* value) {
  if (rest_.size() < 8) return false;
  *value = 0;
  for (std::size_t i = 0; i < 8; ++i)
    *value |= static_cast<std::uint64_t>(static_cast<unsigned char>(rest_[i])) << (8 * i);
  rest_.remove_prefix(8);
  return true;
}

bool WireReader::Bytes(std::string_view* value) {
  std::uint64_t length = 0;
  if (!Varint(&length) || length > rest_.size()) return false;
  *value = rest_.substr(0, length);
  rest_.remove_prefix(length);
  return true;
}

// Groups are an old form that Kubernetes never writes, but a message may legally hold an unknown one. They
// nest, so their depth is counted instead of recursing.
bool WireReader::Skip(std::uint32_t number, WireType type) {
  std::size_t depth = 0;
  for (;;) {
    std::uint64_t ignored = 0;
    std::string_view ignored_bytes;
    switch (type) {
      case WireType::kVarint:
        if (!Varint(&ignored)) return false;
        break;
      case WireType::kFixed64:
        if (!Fixed64(&ignored)) return false;
        break;
      case WireType::kBytes:
        if (!Bytes(&ignored_bytes)) return false;
        break;
      case WireType::kFixed32:
        if (rest_.size() < 4) return false;
        rest_.remove_prefix(4);
        break;
      case WireType::kStartGroup: ++depth; break;
      case WireType::kEndGroup:
        if (depth == 0) return false;
        --depth;
        break;
    }
    if (depth == 0) return true;
    if (!Tag(&number, &type)) return false;
  }
}

char* WireWriter::Grow(std::size_t n) {
  if (n > start_) {
    const std::size_t used = size();
    const std::size_t capacity = std::max<std::size_t>({256, buffer_.size() * 2, used + n});
    std::string bigger(capacity, '\0');
    std::memcpy(bigger.data() + capacity - used, buffer_.data() + start_, used);
    buffer_ = std::move(bigger);
    start_ = capacity - used;
  }
  start_ -= n;
  return buffer_.data() + start_;
}

void WireWriter::Varint(std::uint64_t value) {
  char bytes[10];
  std::size_t n = 0;
  for (; value >= 0x80; value >>= 7) bytes[n++] = static_cast<char>(value | 0x80);
  bytes[n++] = static_cast<char>(value);
  std::memcpy(Grow(n), bytes, n);
}

void WireWriter::Fixed64(std::uint64_t value) {
  char* to = Grow(8);
  for (int i = 0; i < 8; ++i) to[i] = static_cast<char>(value >> (8 * i));
}

void WireWriter::Raw(std::string_view bytes) {
  if (!bytes.empty()) std::memcpy(Grow(bytes.size()), bytes.data(), bytes.size());
}

}  // namespace terrarium::api

#pragma once

// Reading and writing of protobuf's basic elements.

#include <cstdint>
#include <string>
#include <string_view>

namespace terrarium::api {

enum class WireType : std::uint8_t {
  kVarint = 0,
  kFixed64 = 1,
  kBytes = 2,
  kStartGroup = 3,
  kEndGroup = 4,
  kFixed32 = 5
};

// Cuts elements off the front of a byte string. Each method returns false when the bytes are malformed.
class WireReader {
 public:
  explicit WireReader(std::string_view bytes) : rest_(bytes) {}

  bool AtEnd() const { return rest_.empty(); }
  bool Tag(std::uint32_t* number, WireType* type);
  bool Varint(std::uint64_t* value);
  bool Fixed64(std::uint64_t* value);
  bool Bytes(std::string_view* value);
  bool Skip(std::uint32_t number, WireType type);

 private:
  std::string_view rest_;
};

// Writes from the end to the front: a nested message is finished when its length is wanted, so nothing is
// measured or moved twice. Callers therefore write fields, elements and the parts of each in reverse.
class WireWriter {
 public:
  std::size_t size() const { return buffer_.size() - start_; }
  std::string Take() const { return buffer_.substr(start_); }

  void Tag(int number, WireType type) {
    Varint(static_cast<std::uint64_t>(number) << 3 | static_cast<unsigned>(type));
  }
  void Varint(std::uint64_t value);
  void Fixed64(std::uint64_t value);
  void Raw(std::string_view bytes);

  // A whole field.
  void VarintField(int number, std::uint64_t value) {
    Varint(value);
    Tag(number, WireType::kVarint);
  }
  void BytesField(int number, std::string_view bytes) {
    Raw(bytes);
    LengthAndTag(number, bytes.size());
  }
  // Closes a nested message of `size` bytes that has just been written.
  void LengthAndTag(int number, std::size_t size) {
    Varint(size);
    Tag(number, WireType::kBytes);
  }

 private:
  char* Grow(std::size_t n);

  std::string buffer_;
  std::size_t start_ = 0;
};

}  // namespace terrarium::api

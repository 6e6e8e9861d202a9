#pragma once

// The name of a member of a JSON object. Documents repeat the same few hundred names, so a name is a pointer
// to a text that all documents share.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

namespace terrarium::api {

// Immutable, and mostly as cheap to copy as a pointer: the first few thousand names of a process are shared
// and stay. Later names (there may be any number of label keys) have a text of their own. A name that is
// shared once always is, and one that is not never will be. Any thread may use any name.
class MemberName {
 public:
  explicit MemberName(std::string_view text) {
    const std::string* shared = Share(text);
    at_ = shared != nullptr ? Shared(shared) : Own(text);
  }
  MemberName(const MemberName& other) : at_(other.IsOwn() ? Own(other.text()) : other.at_) {}
  MemberName(MemberName&& other) noexcept : at_(std::exchange(other.at_, 0)) {}
  MemberName& operator=(MemberName other) noexcept {
    std::swap(at_, other.at_);
    return *this;
  }
  ~MemberName() {
    if (IsOwn()) delete &text();
  }

  const std::string& text() const { return *reinterpret_cast<const std::string*>(at_ & ~kOwn); }
  operator const std::string&() const { return text(); }  // NOLINT: implicit on purpose

  // The shared text that equals `text`, or nullptr when there is none.
  static const std::string* FindShared(std::string_view text);
  // The shared text, or nullptr for a name with a text of its own: equal names have equal ones.
  const std::string* shared() const { return IsOwn() ? nullptr : &text(); }
  bool IsShared(const std::string* text) const { return at_ == Shared(text); }

  friend bool operator==(const MemberName& a, const MemberName& b) {
    return a.at_ == b.at_ || (a.IsOwn() && b.IsOwn() && a.text() == b.text());
  }

 private:
  static constexpr std::uintptr_t kOwn = 1;  // set in the address of a text that belongs to this name alone

  static std::uintptr_t Shared(const std::string* text) { return reinterpret_cast<std::uintptr_t>(text); }
  static std::uintptr_t Own(std::string_view text) {
    return reinterpret_cast<std::uintptr_t>(new std::string(text)) | kOwn;
  }
  bool IsOwn() const { return (at_ & kOwn) != 0; }
  // The shared text, which is made if there is room; nullptr when there is none.
  static const std::string* Share(std::string_view text);

  std::uintptr_t at_;
};

}  // namespace terrarium::api

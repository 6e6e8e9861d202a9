#include "api/member_name.h"

#include <array>
#include <atomic>
#include <cstring>
#include <memory>

namespace terrarium::api {
namespace {

constexpr std::size_t kSlots = 8192;
// A shared name is in one of this many slots from its first one on. Slots are never freed, so whether a name
// is shared never changes.
constexpr std::size_t kSlotsOfAName = 16;
constexpr std::size_t kLongestShared = 64;

// A text with its first and last letters as numbers, so that only long texts need a call to be compared.
struct Spelling {
  explicit Spelling(std::string_view text) : size(text.size()) {
    const char* data = text.data();
    if (size >= 8) {
      begin = Load<std::uint64_t>(data);
      end = Load<std::uint64_t>(data + size - 8);
    } else if (size >= 4) {
      begin = Load<std::uint32_t>(data);
      end = Load<std::uint32_t>(data + size - 4);
    } else {
      for (char c : text) begin = begin << 8 | static_cast<unsigned char>(c);
    }
  }

  std::size_t FirstSlot() const {
    std::uint64_t mixed = (begin + size) * 0x9E3779B97F4A7C15u;
    mixed = (mixed ^ mixed >> 32 ^ end) * 0xC2B2AE3D27D4EB4Fu;
    return static_cast<std::size_t>(mixed >> 40) % kSlots;
  }

  std::size_t size;
  std::uint64_t begin = 0;
  std::uint64_t end = 0;

 private:
  template <typename Number>
  static std::uint64_t Load(const char* from) {
    Number out;
    std::memcpy(&out, from, sizeof out);
    return out;
  }
};

struct SharedName {
  explicit SharedName(std::string_view name) : text(name), spelling(name) {}
  bool Is(std::string_view name, const Spelling& spelled) const {
    if (spelling.size != spelled.size || spelling.begin != spelled.begin || spelling.end != spelled.end)
      return false;
    return name.size() <= 16 || text == name;
  }

  const std::string text;
  const Spelling spelling;
};

std::array<std::atomic<const SharedName*>, kSlots> slots;

}  // namespace

const std::string* MemberName::FindShared(std::string_view text) {
  const Spelling spelling(text);
  const std::size_t first = spelling.FirstSlot();
  for (std::size_t i = 0; i < kSlotsOfAName; ++i) {
    const SharedName* found = slots[(first + i) % kSlots].load(std::memory_order_acquire);
    if (found == nullptr) return nullptr;
    if (found->Is(text, spelling)) return &found->text;
  }
  return nullptr;
}

const std::string* MemberName::Share(std::string_view text) {
  if (text.size() > kLongestShared) return nullptr;
  const Spelling spelling(text);
  const std::size_t first = spelling.FirstSlot();
  std::unique_ptr<const SharedName> made;
  for (std::size_t i = 0; i < kSlotsOfAName; ++i) {
    std::atomic<const SharedName*>& slot = slots[(first + i) % kSlots];
    const SharedName* found = slot.load(std::memory_order_acquire);
    if (found == nullptr) {
      if (made == nullptr) made = std::make_unique<const SharedName>(text);
      // Another thread may have taken the slot, perhaps with the same name.
      if (slot.compare_exchange_strong(found, made.get(), std::memory_order_acq_rel))
        return &made.release()->text;
    }
    if (found->Is(text, spelling)) return &found->text;
  }
  return nullptr;
}

}  // namespace terrarium::api

#include "api/json_text.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <utility>

#include "api/base/check.h"

namespace terrarium::api {
namespace {

constexpr std::uint64_t kEachByte = 0x0101010101010101u;

// Nonzero when one of the eight bytes is `c`.
std::uint64_t HasByte(std::uint64_t bytes, unsigned char c) {
  const std::uint64_t other = bytes ^ (kEachByte * c);
  return (other - kEachByte) & ~other & (kEachByte * 0x80);
}

// Printable ASCII that needs no escape; everything else is left to the library.
bool IsPlain(std::string_view text) {
  const char* at = text.data();
  std::size_t left = text.size();
  for (; left >= 8; at += 8, left -= 8) {
    std::uint64_t bytes;
    std::memcpy(&bytes, at, 8);
    const std::uint64_t control = (bytes - kEachByte * 0x20) & (kEachByte * 0x80);
    if ((bytes & (kEachByte * 0x80)) | control | HasByte(bytes, '"') | HasByte(bytes, '\\') |
        HasByte(bytes, 0x7f))
      return false;
  }
  for (; left > 0; ++at, --left) {
    const unsigned char c = static_cast<unsigned char>(*at);
    if (c < 0x20 || c >= 0x7f || c == '"' || c == '\\') return false;
  }
  return true;
}

void AppendString(const std::string& text, std::string& out) {
  if (!IsPlain(text)) {
    out += Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
    return;
  }
  const std::size_t size = out.size();
  out.resize(size + text.size() + 2);
  char* at = out.data() + size;
  *at = '"';
  std::memcpy(at + 1, text.data(), text.size());
  at[text.size() + 1] = '"';
}

template <typename Number>
void AppendNumber(Number number, std::string& out) {
  char digits[24];
  auto [end, error] = std::to_chars(digits, digits + sizeof digits, number);
  out.append(digits, end);
}

// Stored text is not quite in order: an object begins with its metadata, and that with its resourceVersion.
Json::object_t InOrder(Json::object_t::container members) {
  auto less = [](const auto& a, const auto& b) { return a.first.text() < b.first.text(); };
  auto at = std::is_sorted_until(members.begin(), members.end(), less);
  while (at != members.end()) {
    std::rotate(std::upper_bound(members.begin(), at, *at, less), at, std::next(at));
    at = std::is_sorted_until(at, members.end(), less);
  }
  return Json::object_t(std::move(members));
}

// Reads a value and leaves the position behind it. Our own text has no white space.
class Reader {
 public:
  explicit Reader(std::string_view text) : at_(text.data()), end_(text.data() + text.size()) {}

  Json Value() {
    CHECK(at_ < end_);
    switch (*at_) {
      case '{': return Object();
      case '[': return Array();
      case '"': return String();
      case 't': return Word("true", true);
      case 'f': return Word("false", false);
      case 'n': return Word("null", nullptr);
      default: return Number();
    }
  }
  bool AtEnd() const { return at_ == end_; }

  // Objects with the members of `keep` only; lists of them; other values as they are.
  Json Some(std::span<const Keep> keep) {
    CHECK(at_ < end_);
    if (keep.empty() || (*at_ != '{' && *at_ != '[')) return Value();
    if (*at_ == '{') {
      Json::object_t::container members;
      members.reserve(keep.size());
      EachMember([&](std::string_view key) {
        for (const Keep& kept : keep)
          if (kept.name == key) {
            members.emplace_back(MemberName(key), Some(kept.below));
            return;
          }
        SkipValue();
      });
      return InOrder(std::move(members));
    }
    Json out = Json::array();
    Skip('[');
    if (Skip(']')) return out;
    do out.push_back(Some(keep));
    while (Skip(','));
    CHECK(Skip(']'));
    return out;
  }

  // Gives `visit` each key; it reads or skips the value.
  template <typename Visit>
  void EachMember(Visit visit) {
    CHECK(Skip('{'));
    if (Skip('}')) return;
    do visit(Key());
    while (Skip(','));
    CHECK(Skip('}'));
  }

  // The text of the value of a member, or empty when the object has none of that name.
  std::string_view MemberText(std::string_view name) {
    CHECK(Skip('{'));
    if (Skip('}')) return {};
    do {
      const bool found = Key() == name;
      const char* start = at_;
      SkipValue();
      if (found) return std::string_view(start, at_);
    } while (Skip(','));
    return {};
  }

  void SkipValue() {
    CHECK(at_ < end_);
    if (*at_ == '"') return SkipString();
    if (*at_ != '{' && *at_ != '[') {
      while (at_ < end_ && *at_ != ',' && *at_ != '}' && *at_ != ']') ++at_;
      return;
    }
    int depth = 0;
    do {
      CHECK(at_ < end_);
      if (*at_ == '"') {
        SkipString();
        continue;
      }
      if (*at_ == '{' || *at_ == '[') ++depth;
      if (*at_ == '}' || *at_ == ']') --depth;
      ++at_;
    } while (depth > 0);
  }

 private:
  // A key as it is written, and the colon after it.
  std::string_view Key() {
    CHECK(*at_ == '"');
    const char* start = at_ + 1;
    SkipString();
    std::string_view key(start, at_ - 1);
    CHECK(Skip(':'));
    return key;
  }

  void SkipString() {
    ++at_;
    while (true) {
      const char* quote = FindQuote();
      // A quote is escaped when an odd number of backslashes stands before it.
      const char* before = quote;
      while (before > at_ && before[-1] == '\\') --before;
      at_ = quote + 1;
      if ((quote - before) % 2 == 0) return;
    }
  }

  // Most strings are a few letters: not worth a call.
  const char* FindQuote() const {
    const char* at = at_;
    if constexpr (std::endian::native == std::endian::little) {
      for (; end_ - at >= 8; at += 8) {
        std::uint64_t bytes;
        std::memcpy(&bytes, at, 8);
        // HasByte() may mark wrong bytes, but the lowest marked byte is a quote.
        if (const std::uint64_t quotes = HasByte(bytes, '"')) return at + std::countr_zero(quotes) / 8;
      }
    }
    const void* quote = std::memchr(at, '"', static_cast<std::size_t>(end_ - at));
    CHECK(quote != nullptr);
    return static_cast<const char*>(quote);
  }

  bool Skip(char c) {
    CHECK(at_ < end_);
    if (*at_ != c) return false;
    ++at_;
    return true;
  }
  Json Word(std::string_view word, Json value) {
    CHECK(std::string_view(at_, end_).starts_with(word));
    at_ += word.size();
    return value;
  }

  Json Object() {
    Skip('{');
    if (Skip('}')) return Json::object();
    const std::size_t first = open_.size();
    do {
      MemberName key = Name();
      Json value = Value();
      open_.emplace_back(std::move(key), std::move(value));
    } while (Skip(','));
    CHECK(Skip('}'));
    const auto begin = open_.begin() + static_cast<std::ptrdiff_t>(first);
    Json::object_t::container members(std::make_move_iterator(begin), std::make_move_iterator(open_.end()));
    open_.erase(begin, open_.end());
    return InOrder(std::move(members));
  }

  Json Array() {
    Json out = Json::array();
    auto& items = out.get_ref<Json::array_t&>();
    Skip('[');
    if (Skip(']')) return out;
    do items.push_back(Value());
    while (Skip(','));
    CHECK(Skip(']'));
    return out;
  }

  MemberName Name() {
    const std::string_view key = Key();
    if (key.find('\\') == std::string_view::npos) return MemberName(key);
    return MemberName(Json::parse(key.data() - 1, key.data() + key.size() + 1).get_ref<const std::string&>());
  }

  std::string String() {
    CHECK(Skip('"'));
    const char* start = at_;
    while (at_ < end_ && *at_ != '"' && *at_ != '\\') ++at_;
    CHECK(at_ < end_);
    if (*at_ == '"') return std::string(start, at_++);
    // Escapes are rare: the library knows them all.
    while (at_ < end_ && *at_ != '"') at_ += *at_ == '\\' ? 2 : 1;
    CHECK(at_ < end_);
    ++at_;
    return Json::parse(start - 1, at_).get<std::string>();
  }

  Json Number() {
    const char* start = at_;
    while (at_ < end_ && *at_ != ',' && *at_ != '}' && *at_ != ']') ++at_;
    std::int64_t integer = 0;
    auto [end, error] = std::from_chars(start, at_, integer);
    if (error != std::errc() || end != at_) return Json::parse(start, at_);
    // As in the library, integers from 0 on are unsigned.
    return integer < 0 ? Json(integer) : Json(static_cast<std::uint64_t>(integer));
  }

  const char* at_;
  const char* end_;
  // Members of the objects that are being read, the innermost one's last: an object's size is known at its
  // end.
  Json::object_t::container open_;
};

}  // namespace

Json ReadJson(std::string_view text) {
  Reader reader(text);
  Json out = reader.Value();
  CHECK(reader.AtEnd());
  return out;
}

Json ReadSome(std::string_view text, std::span<const Keep> keep) {
  Reader reader(text);
  return reader.Some(keep);
}

std::string_view FindMember(std::string_view text, std::string_view name) {
  return Reader(text).MemberText(name);
}

void AppendJson(const Json& value, std::string& out) {
  switch (value.type()) {
    case Json::value_t::object: {
      out += '{';
      bool first = true;
      for (auto it = value.begin(); it != value.end(); ++it) {
        if (!first) out += ',';
        first = false;
        AppendString(it.key(), out);
        out += ':';
        AppendJson(*it, out);
      }
      out += '}';
      return;
    }
    case Json::value_t::array: {
      out += '[';
      bool first = true;
      for (const Json& item : value) {
        if (!first) out += ',';
        first = false;
        AppendJson(item, out);
      }
      out += ']';
      return;
    }
    case Json::value_t::string: return AppendString(value.get_ref<const std::string&>(), out);
    case Json::value_t::number_integer: return AppendNumber(value.get<std::int64_t>(), out);
    case Json::value_t::number_unsigned: return AppendNumber(value.get<std::uint64_t>(), out);
    case Json::value_t::boolean: out += value.get<bool>() ? "true" : "false"; return;
    default: out += value.dump(-1, ' ', false, Json::error_handler_t::replace); return;
  }
}

}  // namespace terrarium::api

#include "api/json_text.h"

#include <charconv>
#include <cstdint>
#include <cstring>
#include <utility>

#include "api/base/check.h"

namespace terrarium::api {
namespace {

// Printable ASCII that needs no escape; everything else is left to the library.
bool IsPlain(const std::string& text) {
  for (unsigned char c : text)
    if (c < 0x20 || c >= 0x7f || c == '"' || c == '\\') return false;
  return true;
}

void AppendString(const std::string& text, std::string& out) {
  if (!IsPlain(text)) {
    out += Json(text).dump(-1, ' ', false, Json::error_handler_t::replace);
    return;
  }
  out += '"';
  out += text;
  out += '"';
}

template <typename Number>
void AppendNumber(Number number, std::string& out) {
  char digits[24];
  auto [end, error] = std::to_chars(digits, digits + sizeof digits, number);
  out.append(digits, end);
}

// Reads a value and leaves the position behind it. There is no white space in our own text.
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
      Json out = Json::object();
      auto& members = out.get_ref<Json::object_t&>();
      EachMember([&](std::string_view key) {
        for (const Keep& kept : keep)
          if (kept.name == key) {
            members.emplace_hint(members.end(), key, Some(kept.below));
            return;
          }
        SkipValue();
      });
      return out;
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
    do {
      CHECK(*at_ == '"');
      const char* start = at_ + 1;
      SkipString();
      std::string_view key(start, at_ - 1);
      CHECK(Skip(':'));
      visit(key);
    } while (Skip(','));
    CHECK(Skip('}'));
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
  const char* at() const { return at_; }

 private:
  void SkipString() {
    ++at_;
    while (true) {
      const void* quote = std::memchr(at_, '"', static_cast<std::size_t>(end_ - at_));
      CHECK(quote != nullptr);
      const char* found = static_cast<const char*>(quote);
      // A quote is escaped when an odd number of backslashes stands before it.
      const char* before = found;
      while (before > at_ && before[-1] == '\\') --before;
      at_ = found + 1;
      if ((found - before) % 2 == 0) return;
    }
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
    Json out = Json::object();
    auto& members = out.get_ref<Json::object_t&>();
    Skip('{');
    if (Skip('}')) return out;
    do {
      std::string key = String();
      CHECK(Skip(':'));
      // Members come sorted, so the next one belongs at the end.
      members.emplace_hint(members.end(), std::move(key), Value());
    } while (Skip(','));
    CHECK(Skip('}'));
    return out;
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
    // As the library does: what is not negative is unsigned.
    return integer < 0 ? Json(integer) : Json(static_cast<std::uint64_t>(integer));
  }

  const char* at_;
  const char* end_;
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
  Reader reader(text);
  std::string_view found;
  reader.EachMember([&](std::string_view key) {
    const char* start = reader.at();
    reader.SkipValue();
    if (key == name) found = std::string_view(start, reader.at());
  });
  return found;
}

void Discard(Json& document) {
  if (!document.is_structured()) return;
  for (Json& child : document) Discard(child);
  document.clear();
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

#include "api/apply/path_element.h"

#include <algorithm>
#include <charconv>
#include <functional>
#include <limits>
#include <utility>

#include "api/base/field_error.h"
#include "api/codec/decode.h"
#include "api/json_text.h"

namespace terrarium::api {
namespace {

int Rank(const Json& value) {
  switch (value.type()) {
    case Json::value_t::number_integer:
    case Json::value_t::number_unsigned:
    case Json::value_t::number_float: return 0;
    case Json::value_t::string: return 1;
    case Json::value_t::boolean: return 2;
    case Json::value_t::array: return 3;
    case Json::value_t::object: return 4;
    default: return 5;
  }
}

std::weak_ordering CompareNumbers(const Json& a, const Json& b) {
  if (a < b) return std::weak_ordering::less;
  return b < a ? std::weak_ordering::greater : std::weak_ordering::equivalent;
}

std::weak_ordering CompareLists(const Json& a, const Json& b) {
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i)
    if (auto order = CompareJson(a[i], b[i]); order != 0) return order;
  return a.size() <=> b.size();
}

std::weak_ordering CompareObjects(const Json& a, const Json& b) {
  auto x = a.begin();
  auto y = b.begin();
  for (; x != a.end() && y != b.end(); ++x, ++y) {
    if (auto order = x.key() <=> y.key(); order != 0) return order;
    if (auto order = CompareJson(*x, *y); order != 0) return order;
  }
  return a.size() <=> b.size();
}

// Go's encoder escapes these characters of strings, so that JSON can be part of HTML.
void AppendEscapedForHtml(std::string_view text, std::string& out) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    constexpr std::string_view kSeparators = "\xe2\x80";
    if (text[i] == '<') {
      out += "\\u003c";
    } else if (text[i] == '>') {
      out += "\\u003e";
    } else if (text[i] == '&') {
      out += "\\u0026";
    } else if (text.substr(i, 2) == kSeparators && i + 2 < text.size() &&
               (text[i + 2] == '\xa8' || text[i + 2] == '\xa9')) {
      out += text[i + 2] == '\xa8' ? "\\u2028" : "\\u2029";
      i += 2;
    } else {
      out += text[i];
    }
  }
}

void AppendValue(const Json& value, std::string& out) {
  std::string text;
  AppendJson(value, text);
  AppendEscapedForHtml(text, out);
}

std::size_t BytesOf(const Json& value) {
  constexpr std::size_t kScalar = 8;  // a short number or boolean, with its punctuation
  if (value.is_string()) return value.get_ref<const std::string&>().size() + kScalar;
  if (value.is_primitive()) return kScalar;
  std::string text;
  AppendJson(value, text);
  return text.size();
}

std::uint32_t ApproximateBytesOf(const Json& value) {
  std::size_t bytes = 0;
  if (value.is_object())
    for (auto it = value.begin(); it != value.end(); ++it) bytes += it.key().size() + BytesOf(*it);
  else
    bytes = BytesOf(value);
  return static_cast<std::uint32_t>(std::min<std::size_t>(bytes, std::numeric_limits<std::uint32_t>::max()));
}

std::string Printed(const Json& value) {
  if (value.is_string()) return Quote(value.get_ref<const std::string&>());
  std::string text;
  AppendJson(value, text);
  return text;
}

}  // namespace

PathElement::PathElement(Kind kind, Json value)
    : name_(std::string_view()),
      value_(std::make_shared<const Json>(std::move(value))),
      value_bytes_(ApproximateBytesOf(*value_)),
      kind_(kind) {}

std::size_t PathElement::ApproximateBytes() const {
  return kind_ == Kind::kField ? name().size() : value_bytes_;
}

PathElement PathElement::Key(Json keys) { return {Kind::kKey, std::move(keys)}; }
PathElement PathElement::Value(Json value) { return {Kind::kValue, std::move(value)}; }
PathElement PathElement::Index(std::int64_t index) { return {Kind::kIndex, index}; }

void PathElement::AppendTo(std::string& out) const {
  switch (kind_) {
    case Kind::kField: out.append("f:").append(name()); return;
    case Kind::kKey: out += "k:"; break;
    case Kind::kValue: out += "v:"; break;
    case Kind::kIndex: out += "i:"; break;
  }
  AppendValue(*value_, out);
}

std::optional<PathElement> PathElement::Parse(std::string_view text, std::string* error) {
  error->clear();
  if (text.size() < 2) return *error = "key must be 2 characters long:", std::nullopt;
  if (text[1] != ':') return *error = "missing colon: " + std::string(text), std::nullopt;
  const std::string_view rest = text.substr(2);
  switch (text[0]) {
    case 'f': return Field(rest);
    case 'i': {
      std::int64_t index = 0;
      auto [end, failure] = std::from_chars(rest.data(), rest.data() + rest.size(), index);
      if (failure == std::errc() && end == rest.data() + rest.size() && !rest.empty()) return Index(index);
      *error = "strconv.Atoi: parsing " + Quote(std::string(rest)) + ": invalid syntax";
      return std::nullopt;
    }
    case 'k':
    case 'v': {
      Decoded decoded = DecodeJson(rest, {.strict = false});
      if (decoded.error) return *error = decoded.error->message, std::nullopt;
      if (text[0] == 'v') return Value(std::move(decoded.object));
      if (decoded.object.is_object()) return Key(std::move(decoded.object));
      *error = "expect { or n, but found " + std::string(rest.substr(0, 1));
      return std::nullopt;
    }
    default: return std::nullopt;
  }
}

std::string PathElement::ToString() const {
  switch (kind_) {
    case Kind::kField: return "." + name();
    case Kind::kValue: return "[=" + Printed(*value_) + "]";
    case Kind::kIndex: return "[" + Printed(*value_) + "]";
    case Kind::kKey: break;
  }
  std::string text;
  for (auto it = value_->begin(); it != value_->end(); ++it)
    text += (text.empty() ? "" : ",") + it.key() + "=" + Printed(*it);
  return "[" + text + "]";
}

std::weak_ordering PathElement::operator<=>(const PathElement& other) const {
  if (kind_ != other.kind_) return kind_ <=> other.kind_;
  if (kind_ != Kind::kField)
    return value_ == other.value_ ? std::weak_ordering::equivalent : CompareJson(*value_, *other.value_);
  if (name_ == other.name_) return std::weak_ordering::equivalent;
  return name() <=> other.name();
}

std::size_t PathElement::Hash() const {
  if (kind_ != Kind::kField) return std::hash<Json>()(*value_);
  const std::string* shared = name_.shared();
  return shared != nullptr ? std::hash<const void*>()(shared) : std::hash<std::string>()(name());
}

std::string PathText(std::span<const PathElement> path) {
  std::string text;
  for (const PathElement& element : path) text += element.ToString();
  return text;
}

std::weak_ordering CompareJson(const Json& a, const Json& b) {
  const int rank = Rank(a);
  if (rank != Rank(b)) return rank <=> Rank(b);
  switch (rank) {
    case 0: return CompareNumbers(a, b);
    case 1: return a.get_ref<const std::string&>() <=> b.get_ref<const std::string&>();
    case 2: return a.get<bool>() <=> b.get<bool>();
    case 3: return CompareLists(a, b);
    case 4: return CompareObjects(a, b);
    default: return std::weak_ordering::equivalent;
  }
}

}  // namespace terrarium::api

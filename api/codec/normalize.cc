#include "api/codec/normalize.h"

#include <algorithm>
#include <limits>
#include <string_view>

#include "api/base/base64.h"
#include "api/base/clock.h"
#include "api/base/duration.h"
#include "api/base/quantity.h"
#include "api/codec/go_words.h"

namespace terrarium::api {
namespace {

// Go's zero time, which its encoder treats as "not set".
constexpr std::string_view kZeroTime = "0001-01-01T00:00:00Z";

// The Go type of an element, taken from the type of its list or map: "[]v1.Container", "map[string]string".
std::string_view ElementGoType(const Field& field) {
  std::string_view type = field.def.go_type;
  if (field.def.cardinality == Cardinality::kSingle) return type;
  const std::size_t close = type.find(']');
  return close == std::string_view::npos ? type : type.substr(close + 1);
}

class Normalizer {
 public:
  explicit Normalizer(std::vector<std::string>* strict_errors) : strict_errors_(strict_errors) {}

  std::optional<std::string> Run(const Message& message, Json& doc) {
    if (!doc.is_object())
      return "json: cannot unmarshal " + GoKind(doc) + " into Go value of type " + GoName(message);
    Struct(message, doc);
    return hard_error_ ? hard_error_ : saved_error_;
  }

 private:
  // Each returns false when the caller must drop the value: it was null, empty or of the wrong type.
  void Struct(const Message& message, Json& doc);
  bool Member(const Message& message, Json::object_t::value_type& member);
  bool FieldValue(const Field& field, Json& value);
  bool List(const Field& field, Json& value);
  bool Map(const Field& field, Json& value);
  bool Element(const Field& field, Json& value);
  bool Integer(const Field& field, Json& value);
  bool Bytes(const Field& field, Json& value);
  bool ByteArray(Json& value);
  bool DurationValue(Json& value);
  bool QuantityValue(Json& value);
  bool IntOrString(Json& value);
  bool TimeValue(const Field& field, Json& value);
  bool StringList(const Field& field, Json& value);

  static Json ZeroElement(const Field& field);
  void FillZero(const Field& field, Json& doc);
  static std::string GoName(const Message& message);

  bool TypeMismatch(const Json& value, std::string_view go_type);
  std::string Mismatch(std::string_view what, std::string_view go_type) const;
  // Go returns some errors immediately (hard) and saves others to the end. A hard error takes precedence.
  bool Hard(std::string error);
  bool Saved(std::string error);

  std::vector<std::string>* strict_errors_;
  std::string path_;                      // for strict errors: spec.containers[0].image
  std::vector<std::string_view> fields_;  // for type errors: JSON names without indexes
  const Message* struct_ = nullptr;       // the struct whose field is being decoded
  std::optional<std::string> saved_error_, hard_error_;
};

void Normalizer::Struct(const Message& message, Json& doc) {
  const Message* outer = struct_;
  doc.get_ref<Json::object_t&>().EraseIf(
      [&](auto& member) { return !hard_error_ && !Member(message, member); });
  if (hard_error_) return;  // keep the context for the error message
  struct_ = outer;
  for (const Field* field : message.always_written()) {
    if (!doc.contains(field->name())) FillZero(*field, doc);
  }
}

bool Normalizer::Member(const Message& message, Json::object_t::value_type& member) {
  const std::string& key = member.first.text();
  const Field* field = message.FindKey(key);
  if (field == nullptr) {
    if (strict_errors_ != nullptr && strict_errors_->size() < kMaxStrictErrors)
      AddStrictError("unknown", path_.empty() ? key : path_ + "." + key, strict_errors_);
    return false;
  }
  struct_ = &message;
  const std::size_t length = path_.size();
  const std::size_t depth = fields_.size();
  if (!field->embedded.empty()) fields_.push_back(field->embedded);
  fields_.push_back(field->name());
  if (strict_errors_ != nullptr) path_.append(path_.empty() ? "" : ".").append(field->name());
  const bool keep = FieldValue(*field, member.second);
  if (hard_error_) return true;
  path_.resize(length);
  fields_.resize(depth);
  return keep;
}

bool Normalizer::FieldValue(const Field& field, Json& value) {
  // Go hands null to the decoder of a duration, which refuses it.
  const bool takes_null = field.def.type == FieldType::kDuration && !field.Is(kPointer);
  if (value.is_null() && !takes_null) return false;
  switch (field.def.cardinality) {
    case Cardinality::kList: return List(field, value);
    case Cardinality::kMap: return Map(field, value);
    case Cardinality::kSingle: break;
  }
  if (!Element(field, value)) return false;
  if (field.Is(kPointer)) return true;
  if (field.Is(kOmitZero) && value.is_object() && value.empty()) return false;
  if (!field.Is(kOmitEmpty)) return true;
  switch (field.def.type) {
    case FieldType::kString:
    case FieldType::kBytes: return !value.get_ref<const std::string&>().empty();
    case FieldType::kBool: return value.get<bool>();
    case FieldType::kInt32:
    case FieldType::kInt64:
    case FieldType::kDouble: return value != 0;
    case FieldType::kStringList: return !value.empty();
    default: return true;
  }
}

bool Normalizer::List(const Field& field, Json& value) {
  if (!value.is_array()) return TypeMismatch(value, field.def.go_type);
  const std::size_t length = path_.size();
  std::size_t index = 0;
  for (Json& element : value) {
    if (strict_errors_ != nullptr) path_.append("[").append(std::to_string(index++)).append("]");
    if (element.is_null() || !Element(field, element)) element = ZeroElement(field);
    if (hard_error_) return false;
    path_.resize(length);
  }
  return !value.empty() || !field.Is(kOmitEmpty);
}

bool Normalizer::Map(const Field& field, Json& value) {
  if (!value.is_object()) return TypeMismatch(value, field.def.go_type);
  const std::size_t length = path_.size();
  for (auto it = value.begin(); it != value.end(); ++it) {
    if (strict_errors_ != nullptr) path_.append(".").append(it.key());
    if (it.value().is_null() || !Element(field, it.value())) it.value() = ZeroElement(field);
    if (hard_error_) return false;
    path_.resize(length);
  }
  return !value.empty() || !field.Is(kOmitEmpty);
}

bool Normalizer::Element(const Field& field, Json& value) {
  switch (field.def.type) {
    case FieldType::kString: return value.is_string() || TypeMismatch(value, ElementGoType(field));
    case FieldType::kDuration: return DurationValue(value);
    case FieldType::kBool: return value.is_boolean() || TypeMismatch(value, ElementGoType(field));
    case FieldType::kDouble: return value.is_number() || TypeMismatch(value, ElementGoType(field));
    case FieldType::kInt32:
    case FieldType::kInt64: return Integer(field, value);
    case FieldType::kBytes: return Bytes(field, value);
    case FieldType::kMessage:
      if (!value.is_object()) return TypeMismatch(value, ElementGoType(field));
      Struct(*field.message, value);
      return true;
    case FieldType::kQuantity: return QuantityValue(value);
    case FieldType::kIntOrString: return IntOrString(value);
    case FieldType::kTime:
    case FieldType::kMicroTime: return TimeValue(field, value);
    case FieldType::kStringList: return StringList(field, value);
    case FieldType::kRawObject:
    case FieldType::kFieldsV1:
    case FieldType::kAny: return true;
  }
  return true;
}

bool Normalizer::Integer(const Field& field, Json& value) {
  const std::string_view type = ElementGoType(field);
  if (!value.is_number()) return TypeMismatch(value, type);
  bool fits = value.is_number_integer();
  if (fits && value.is_number_unsigned()) {
    const auto limit = field.def.type == FieldType::kInt32
                           ? static_cast<std::uint64_t>(std::numeric_limits<std::int32_t>::max())
                           : static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
    fits = value.get<std::uint64_t>() <= limit;
  } else if (fits && field.def.type == FieldType::kInt32) {
    fits = value.get<std::int64_t>() >= std::numeric_limits<std::int32_t>::min();
  }
  return fits || Saved(Mismatch("number " + GoNumber(value), type));
}

bool Normalizer::Bytes(const Field& field, Json& value) {
  if (value.is_array()) return ByteArray(value);
  if (!value.is_string()) return TypeMismatch(value, ElementGoType(field));
  std::string& text = value.get_ref<std::string&>();
  std::string bytes;
  std::size_t bad = 0;
  if (!DecodeBase64(text, &bytes, &bad))
    return Saved("illegal base64 data at input byte " + std::to_string(bad));
  // Go encodes the bytes again: line breaks go, and so do bits that the padding leaves unused.
  if (text.ends_with('=') || text.find_first_of("\r\n") != std::string::npos) text = EncodeBase64(bytes);
  return true;
}

// Go also decodes a list of numbers as bytes.
bool Normalizer::ByteArray(Json& value) {
  std::string bytes;
  for (const Json& element : value) {
    if (!element.is_number() && !element.is_null()) return TypeMismatch(element, "uint8");
    const bool fits =
        element.is_null() || (element.is_number_unsigned() && element.get<std::uint64_t>() <= 255);
    if (!fits) return Saved(Mismatch("number " + GoNumber(element), "uint8"));
    bytes.push_back(static_cast<char>(element.is_null() ? 0 : element.get<std::uint64_t>()));
  }
  value = EncodeBase64(bytes);
  return true;
}

bool Normalizer::QuantityValue(Json& value) {
  std::string text = value.is_string() ? value.get<std::string>() : value.dump();
  const std::size_t first = text.find_first_not_of(" \t\r\n\v\f");
  text =
      first == std::string::npos ? "" : text.substr(first, text.find_last_not_of(" \t\r\n\v\f") - first + 1);
  std::string error;
  const std::optional<Quantity> quantity = Quantity::Parse(text, &error);
  if (!quantity) return Hard(std::move(error));
  value = quantity->ToString();
  return true;
}

bool Normalizer::DurationValue(Json& value) {
  if (!value.is_string() && !value.is_null()) return Hard(Mismatch(GoKind(value), "string"));
  const ParsedDuration parsed = ParseDuration(value.is_null() ? "" : value.get_ref<const std::string&>());
  if (!parsed) return Hard(parsed.error);
  value = FormatDuration(parsed.value);
  return true;
}

bool Normalizer::IntOrString(Json& value) {
  if (value.is_string()) return true;
  if (!value.is_number()) return Hard(Mismatch(GoKind(value), "int32"));
  if (value.is_number_integer()) {
    const auto n =
        value.get<std::int64_t>();  // an unsigned value beyond int64 becomes negative and is rejected below
    if (n >= std::numeric_limits<std::int32_t>::min() && n <= std::numeric_limits<std::int32_t>::max() &&
        (n >= 0 || !value.is_number_unsigned())) {
      return true;
    }
  }
  return Hard(Mismatch("number " + GoNumber(value), "int32"));
}

bool Normalizer::TimeValue(const Field& field, Json& value) {
  if (!value.is_string()) return Hard(Mismatch(GoKind(value), "string"));
  const std::string& text = value.get_ref<const std::string&>();
  const bool micro = field.def.type == FieldType::kMicroTime;
  const std::optional<Time> time = ParseTime(text);
  std::string formatted;
  if (time) formatted = micro ? FormatMicroTime(*time) : FormatTime(*time);
  if (!time || formatted != text) {  // text in our own format needs no check
    if (std::string error = GoTimeError(text, micro); !error.empty()) return Hard(std::move(error));
    if (!time) return Hard("parsing time " + GoQuote(text) + ": out of range");
    value = std::move(formatted);
  }
  if (value.get_ref<const std::string&>().starts_with(kZeroTime.substr(0, 19))) {
    // Go treats the zero time as not set. A pointer to it is still set and is encoded as null.
    value = nullptr;
    return field.Is(kPointer);
  }
  return true;
}

bool Normalizer::StringList(const Field& field, Json& value) {
  if (!value.is_array()) return TypeMismatch(value, ElementGoType(field));
  for (Json& element : value) {
    if (element.is_null()) element = "";
    if (!element.is_string()) return TypeMismatch(element, "string");
  }
  return true;
}

Json Normalizer::ZeroElement(const Field& field) {
  switch (field.def.type) {
    case FieldType::kString:
    case FieldType::kBytes: return "";
    case FieldType::kDuration: return "0s";
    case FieldType::kBool: return false;
    case FieldType::kInt32:
    case FieldType::kInt64:
    case FieldType::kDouble:
    case FieldType::kIntOrString: return 0;
    case FieldType::kQuantity: return "0";
    case FieldType::kMessage: {
      Json zero = Json::object();
      Normalizer(nullptr).Struct(*field.message, zero);
      return zero;
    }
    default: return nullptr;
  }
}

void Normalizer::FillZero(const Field& field, Json& doc) {
  const bool null = field.Is(kPointer) || field.def.cardinality != Cardinality::kSingle ||
                    field.def.type == FieldType::kBytes;
  doc[std::string(field.name())] = null ? Json() : ZeroElement(field);
}

std::string Normalizer::GoName(const Message& message) {
  const std::string_view name = message.name();
  const std::size_t type = name.rfind('.');
  return std::string(name.substr(name.rfind('.', type - 1) + 1));
}

bool Normalizer::TypeMismatch(const Json& value, std::string_view go_type) {
  return Saved(Mismatch(GoKind(value), go_type));
}

std::string Normalizer::Mismatch(std::string_view what, std::string_view go_type) const {
  std::string text = "json: cannot unmarshal ";
  text.append(what).append(" into Go struct field ").append(struct_->short_name());
  for (std::string_view name : fields_) text.append(".").append(name);
  return text.append(" of type ").append(go_type);
}

bool Normalizer::Hard(std::string error) {
  if (!hard_error_) hard_error_ = std::move(error);
  return false;
}

bool Normalizer::Saved(std::string error) {
  if (!saved_error_) saved_error_ = std::move(error);
  return false;
}

}  // namespace

void AddStrictError(const char* kind, const std::string& path, std::vector<std::string>* errors) {
  if (errors == nullptr || errors->size() >= kMaxStrictErrors) return;
  std::string text = std::string(kind) + " field " + GoQuote(path);
  if (std::find(errors->begin(), errors->end(), text) == errors->end()) errors->push_back(std::move(text));
}

std::optional<std::string> Normalize(const Message& message, Json& doc,
                                     std::vector<std::string>* strict_errors) {
  return Normalizer(strict_errors).Run(message, doc);
}

}  // namespace terrarium::api

#include <bit>
#include <iterator>
#include <vector>

#include "api/base/base64.h"
#include "api/base/clock.h"
#include "api/base/duration.h"
#include "api/codec/decode.h"
#include "api/codec/internal/utf8.h"
#include "api/codec/internal/wire.h"
#include "api/codec/normalize.h"
#include "api/codec/protobuf.h"

namespace terrarium::api {
namespace {

WireType Expected(FieldType type) {
  switch (type) {
    case FieldType::kBool:
    case FieldType::kInt32:
    case FieldType::kInt64: return WireType::kVarint;
    case FieldType::kDouble: return WireType::kFixed64;
    default: return WireType::kBytes;
  }
}

// Builds a document from the bytes of a message. Values keep the form they have on the wire. Normalize then
// handles zeros and empty collections as Go's encoder does.
class Decoder {
 public:
  bool Struct(const Message& message, std::string_view bytes, Json& doc);
  // Sorts the maps of a finished document.
  void Finish(Json& doc) {
    if (out_of_order_) SortMaps(doc);
  }
  std::string TakeError() { return std::move(error_); }

 private:
  bool FieldValue(const Field& field, WireType type, WireReader& reader, Json& doc);
  bool Packed(const Field& field, std::string_view bytes, Json& list);
  bool MapEntry(const Field& field, std::string_view bytes, Json& map);
  bool Value(const Field& field, WireReader& reader, Json& value);
  bool Number(const Field& field, WireReader& reader, Json& value);
  bool Body(const Field& field, std::string_view bytes, Json& value);
  bool Timestamp(const Field& field, std::string_view bytes, Json& value);
  bool GoDuration(std::string_view bytes, Json& value);
  bool IntOrString(std::string_view bytes, Json& value);
  bool Raw(std::string_view bytes, Json& value);
  // Reads the only field of a wrapper message. The last occurrence wins; if there is none, *out is unchanged.
  bool Wrapped(std::string_view bytes, std::string_view* out);

  bool Fail(std::string error) {
    if (error_.empty()) error_ = std::move(error);
    return false;
  }
  bool Eof() { return Fail("unexpected EOF"); }
  static void SortMaps(Json& value);

  std::string error_;
  bool out_of_order_ = false;  // at least one map is not sorted
};

bool Decoder::Struct(const Message& message, std::string_view bytes, Json& doc) {
  WireReader reader(bytes);
  while (!reader.AtEnd()) {
    std::uint32_t number = 0;
    WireType type{};
    if (!reader.Tag(&number, &type))
      return Fail("proto: " + std::string(message.short_name()) + ": illegal tag");
    const Field* field = message.FindByNumber(static_cast<int>(number));
    if (field == nullptr) {
      if (!reader.Skip(number, type)) return Eof();
      continue;
    }
    if (!FieldValue(*field, type, reader, doc)) return false;
  }
  return true;
}

bool Decoder::FieldValue(const Field& field, WireType type, WireReader& reader, Json& doc) {
  const FieldDef& def = field.def;
  const WireType element = Expected(def.type);
  const bool packed =
      def.cardinality == Cardinality::kList && element != WireType::kBytes && type == WireType::kBytes;
  const WireType expected = def.cardinality == Cardinality::kMap ? WireType::kBytes : element;
  if (type != expected && !packed) {
    return Fail("proto: wrong wireType = " + std::to_string(static_cast<int>(type)) + " for field " +
                std::string(def.name));
  }
  if (field.Is(kInline)) {
    std::string_view bytes;
    return reader.Bytes(&bytes) ? Struct(*field.message, bytes, doc) : Eof();
  }
  Json& slot = doc[std::string(def.name)];
  if (def.cardinality == Cardinality::kSingle) return Value(field, reader, slot);
  std::string_view bytes;
  if (def.cardinality == Cardinality::kMap)
    return reader.Bytes(&bytes) ? MapEntry(field, bytes, slot) : Eof();
  if (packed) return reader.Bytes(&bytes) ? Packed(field, bytes, slot) : Eof();
  return Value(field, reader, slot.emplace_back());
}

bool Decoder::Packed(const Field& field, std::string_view bytes, Json& list) {
  if (list.is_null()) list = Json::array();
  for (WireReader reader(bytes); !reader.AtEnd();) {
    if (!Number(field, reader, list.emplace_back())) return false;
  }
  return true;
}

bool Decoder::MapEntry(const Field& field, std::string_view bytes, Json& map) {
  std::string key;
  Json value;
  WireReader reader(bytes);
  while (!reader.AtEnd()) {
    std::uint32_t number = 0;
    WireType type{};
    std::string_view text;
    if (!reader.Tag(&number, &type)) return Eof();
    if (number == 1 && type == WireType::kBytes) {
      if (!reader.Bytes(&text)) return Eof();
      key = ValidUtf8(text);
    } else if (number == 2 && type == Expected(field.def.type)) {
      if (!Value(field, reader, value)) return false;
    } else if (!reader.Skip(number, type)) {
      return Eof();
    }
  }
  // Entries may come in any order, and other fields may come between the entries of a map. Finish sorts them
  // when the document is complete.
  if (map.is_null()) map = Json::object();
  auto& members = map.get_ref<Json::object_t&>();
  if (!members.empty() && std::prev(members.end())->first.text() >= key) out_of_order_ = true;
  members.AppendUnsorted(key) =
      std::move(value);  // null when the entry has no value: Normalize makes it the zero value
  return true;
}

void Decoder::SortMaps(Json& value) {
  if (value.is_object()) value.get_ref<Json::object_t&>().SortMembers();
  if (value.is_structured())
    for (Json& below : value) SortMaps(below);
}

bool Decoder::Value(const Field& field, WireReader& reader, Json& value) {
  if (Expected(field.def.type) != WireType::kBytes) return Number(field, reader, value);
  std::string_view bytes;
  return reader.Bytes(&bytes) ? Body(field, bytes, value) : Eof();
}

bool Decoder::Number(const Field& field, WireReader& reader, Json& value) {
  std::uint64_t bits = 0;
  if (field.def.type == FieldType::kDouble ? !reader.Fixed64(&bits) : !reader.Varint(&bits)) return Eof();
  switch (field.def.type) {
    case FieldType::kBool: value = bits != 0; break;
    case FieldType::kInt32: value = static_cast<std::int32_t>(bits); break;
    case FieldType::kDouble: value = std::bit_cast<double>(bits); break;
    default: value = static_cast<std::int64_t>(bits); break;
  }
  return true;
}

bool Decoder::Body(const Field& field, std::string_view bytes, Json& value) {
  switch (field.def.type) {
    case FieldType::kString: value = ValidUtf8(bytes); return true;
    case FieldType::kBytes: value = EncodeBase64(bytes); return true;
    case FieldType::kMessage:
      if (!value.is_object()) value = Json::object();
      return Struct(*field.message, bytes, value);
    case FieldType::kQuantity: {
      std::string_view text = "0";
      if (!Wrapped(bytes, &text)) return false;
      value = ValidUtf8(text);
      return true;
    }
    case FieldType::kIntOrString: return IntOrString(bytes, value);
    case FieldType::kTime:
    case FieldType::kMicroTime: return Timestamp(field, bytes, value);
    case FieldType::kDuration: return GoDuration(bytes, value);
    case FieldType::kRawObject:
    case FieldType::kFieldsV1: return Raw(bytes, value);
    case FieldType::kStringList: {
      value = Json::array();
      for (WireReader reader(bytes); !reader.AtEnd();) {
        std::uint32_t number = 0;
        WireType type{};
        std::string_view text;
        if (!reader.Tag(&number, &type)) return Eof();
        if (number != 1 || type != WireType::kBytes) {
          if (!reader.Skip(number, type)) return Eof();
          continue;
        }
        if (!reader.Bytes(&text)) return Eof();
        value.push_back(ValidUtf8(text));
      }
      return true;
    }
    default: return Fail("proto: field " + std::string(field.name()) + " has no protobuf form");
  }
}

bool Decoder::Wrapped(std::string_view bytes, std::string_view* out) {
  for (WireReader reader(bytes); !reader.AtEnd();) {
    std::uint32_t number = 0;
    WireType type{};
    if (!reader.Tag(&number, &type)) return Eof();
    const bool wanted = number == 1 && type == WireType::kBytes;
    if (wanted ? !reader.Bytes(out) : !reader.Skip(number, type)) return Eof();
  }
  return true;
}

bool Decoder::Timestamp(const Field& field, std::string_view bytes, Json& value) {
  std::uint64_t seconds = 0, nanos = 0;
  bool set = false;
  for (WireReader reader(bytes); !reader.AtEnd();) {
    std::uint32_t number = 0;
    WireType type{};
    if (!reader.Tag(&number, &type)) return Eof();
    std::uint64_t* target = number == 1 ? &seconds : number == 2 ? &nanos : nullptr;
    if (target == nullptr || type != WireType::kVarint) {
      if (!reader.Skip(number, type)) return Eof();
      continue;
    }
    if (!reader.Varint(target)) return Eof();
    set = true;
  }
  value = nullptr;
  if (!set) return true;
  // Go would encode other years as text that its own parser rejects. Seconds are limited before the sum,
  // which could overflow.
  constexpr std::int64_t kSecondsMax = std::int64_t{1} << 40;
  const auto unix_seconds = static_cast<std::int64_t>(seconds);
  if (unix_seconds < -kSecondsMax || unix_seconds > kSecondsMax) return Fail("proto: time out of range");
  const Time time =
      Time{std::chrono::seconds(unix_seconds)} +
      std::chrono::duration_cast<Duration>(std::chrono::nanoseconds(static_cast<std::int32_t>(nanos)));
  if (!HasFourDigitYear(time)) return Fail("proto: time out of range");
  value = field.def.type == FieldType::kMicroTime ? FormatMicroTime(time) : FormatTime(time);
  return true;
}

bool Decoder::GoDuration(std::string_view bytes, Json& value) {
  std::uint64_t nanos = 0;
  for (WireReader reader(bytes); !reader.AtEnd();) {
    std::uint32_t number = 0;
    WireType type{};
    if (!reader.Tag(&number, &type)) return Eof();
    const bool wanted = number == 1 && type == WireType::kVarint;
    if (wanted ? !reader.Varint(&nanos) : !reader.Skip(number, type)) return Eof();
  }
  value = FormatDuration(
      std::chrono::duration_cast<Duration>(std::chrono::nanoseconds(static_cast<std::int64_t>(nanos))));
  return true;
}

bool Decoder::IntOrString(std::string_view bytes, Json& value) {
  std::uint64_t is_string = 0, number_value = 0;
  std::string_view text;
  for (WireReader reader(bytes); !reader.AtEnd();) {
    std::uint32_t number = 0;
    WireType type{};
    if (!reader.Tag(&number, &type)) return Eof();
    bool ok = false;
    if (number == 1 && type == WireType::kVarint) {
      ok = reader.Varint(&is_string);
    } else if (number == 2 && type == WireType::kVarint) {
      ok = reader.Varint(&number_value);
    } else if (number == 3 && type == WireType::kBytes) {
      ok = reader.Bytes(&text);
    } else {
      ok = reader.Skip(number, type);
    }
    if (!ok) return Eof();
  }
  if (is_string != 0) {
    value = ValidUtf8(text);
  } else {
    value = static_cast<std::int32_t>(number_value);
  }
  return true;
}

bool Decoder::Raw(std::string_view bytes, Json& value) {
  std::string_view text;
  value = nullptr;
  if (!Wrapped(bytes, &text)) return false;
  if (text.empty()) return true;
  Decoded decoded = DecodeJson(text, {.strict = false});
  if (decoded.error) return Fail(std::move(decoded.error->message));
  value = std::move(decoded.object);
  return true;
}

}  // namespace

std::optional<Json> DecodeProtobufMessage(const Message& message, std::string_view bytes,
                                          std::string* error) {
  Decoder decoder;
  Json doc = Json::object();
  if (!decoder.Struct(message, bytes, doc)) {
    *error = decoder.TakeError();
    return std::nullopt;
  }
  decoder.Finish(doc);
  if (auto wrong = Normalize(message, doc, nullptr)) {
    *error = std::move(*wrong);
    return std::nullopt;
  }
  return doc;
}

std::optional<ProtobufEnvelope> OpenProtobufEnvelope(std::string_view bytes, std::string* error) {
  const auto fail = [error](const char* why) {
    *error = why;
    return std::nullopt;
  };
  if (!bytes.starts_with(kProtobufMagic)) {
    return fail("provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]");
  }
  ProtobufEnvelope envelope;
  std::string_view type_meta, content_type;
  for (WireReader reader(bytes.substr(kProtobufMagic.size())); !reader.AtEnd();) {
    std::uint32_t number = 0;
    WireType type{};
    if (!reader.Tag(&number, &type)) return fail("unexpected EOF");
    std::string_view* target = number == 1 && type == WireType::kBytes   ? &type_meta
                               : number == 2 && type == WireType::kBytes ? &envelope.raw
                               : number == 4 && type == WireType::kBytes ? &content_type
                                                                         : nullptr;
    if (target != nullptr ? !reader.Bytes(target) : !reader.Skip(number, type)) return fail("unexpected EOF");
  }
  envelope.content_type = ValidUtf8(content_type);
  for (WireReader reader(type_meta); !reader.AtEnd();) {
    std::uint32_t number = 0;
    WireType type{};
    std::string_view text;
    if (!reader.Tag(&number, &type)) return fail("unexpected EOF");
    if ((number != 1 && number != 2) || type != WireType::kBytes) {
      if (!reader.Skip(number, type)) return fail("unexpected EOF");
      continue;
    }
    if (!reader.Bytes(&text)) return fail("unexpected EOF");
    (number == 1 ? envelope.api_version : envelope.kind) = ValidUtf8(text);
  }
  return envelope;
}

std::optional<Json> DecodeProtobuf(const Message& message, const ProtobufEnvelope& envelope,
                                   std::string* error) {
  std::optional<Json> doc = DecodeProtobufMessage(message, envelope.raw, error);
  if (!doc) return std::nullopt;
  if (!envelope.api_version.empty()) (*doc)["apiVersion"] = envelope.api_version;
  if (!envelope.kind.empty()) (*doc)["kind"] = envelope.kind;
  return doc;
}

}  // namespace terrarium::api

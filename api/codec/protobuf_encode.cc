#include <algorithm>
#include <bit>
#include <vector>

#include "api/base/base64.h"
#include "api/base/clock.h"
#include "api/base/duration.h"
#include "api/codec/internal/wire.h"
#include "api/codec/protobuf.h"

namespace terrarium::api {
namespace {

const Json kNull = nullptr;

const Json& Member(const Json& doc, std::string_view name) {
  if (!doc.is_object()) return kNull;
  const auto it = doc.find(name);
  return it == doc.end() ? kNull : *it;
}

std::string_view Text(const Json& value) {
  return value.is_string() ? std::string_view(value.get_ref<const std::string&>()) : std::string_view();
}

// Everything is written in reverse, see WireWriter. A null value stands for the zero value of its type.
class Encoder {
 public:
  void Struct(const Message& message, const Json& doc);
  std::string Take() const { return writer_.Take(); }

 private:
  void Single(const Field& field, const Json& doc);
  void List(const Field& field, const Json& value);
  void Map(const Field& field, const Json& value);
  void Value(const Field& field, int number, const Json& value);
  // The inside of the types that are messages in protobuf only.
  void Body(const Field& field, const Json& value);
  void Timestamp(const Json& value);
  void IntOrString(const Json& value);

  WireWriter writer_;
};

void Encoder::Struct(const Message& message, const Json& doc) {
  const std::vector<const Field*>& fields = message.wire_order();
  for (auto it = fields.rbegin(); it != fields.rend(); ++it) {
    const Field& field = **it;
    if (field.def.cardinality == Cardinality::kSingle) {
      Single(field, doc);
      continue;
    }
    const Json& value = Member(doc, field.name());
    if (field.def.cardinality == Cardinality::kList && value.is_array()) List(field, value);
    if (field.def.cardinality == Cardinality::kMap && value.is_object()) Map(field, value);
  }
}

void Encoder::Single(const Field& field, const Json& doc) {
  if (field.Is(kInline)) {  // its fields are our own in JSON
    Value(field, field.def.proto_number, doc);
    return;
  }
  const Json& value = Member(doc, field.name());
  // In Go nil bytes and nil lists are not written, and neither is a nil pointer; all else always is.
  const bool nullable =
      field.Is(kPointer) || field.def.type == FieldType::kBytes || field.def.type == FieldType::kStringList;
  if (value.is_null() && nullable) return;
  Value(field, field.def.proto_number, value);
}

void Encoder::List(const Field& field, const Json& value) {
  for (auto it = value.rbegin(); it != value.rend(); ++it) Value(field, field.def.proto_number, *it);
}

void Encoder::Map(const Field& field, const Json& value) {
  for (auto it = value.rbegin(); it != value.rend(); ++it) {
    const std::size_t before = writer_.size();
    Value(field, 2, it.value());
    writer_.BytesField(1, it.key());
    writer_.LengthAndTag(field.def.proto_number, writer_.size() - before);
  }
}

void Encoder::Value(const Field& field, int number, const Json& value) {
  switch (field.def.type) {
    case FieldType::kString: writer_.BytesField(number, Text(value)); return;
    case FieldType::kBool:
      writer_.VarintField(number, value.is_boolean() && value.get<bool>() ? 1 : 0);
      return;
    case FieldType::kInt32:
    case FieldType::kInt64:
      writer_.VarintField(number,
                          value.is_number() ? static_cast<std::uint64_t>(value.get<std::int64_t>()) : 0);
      return;
    case FieldType::kDouble:
      writer_.Fixed64(std::bit_cast<std::uint64_t>(value.is_number() ? value.get<double>() : 0.0));
      writer_.Tag(number, WireType::kFixed64);
      return;
    case FieldType::kBytes: {
      std::string bytes;
      DecodeBase64(Text(value), &bytes);  // normalized documents hold valid base64
      writer_.BytesField(number, bytes);
      return;
    }
    default: {
      const std::size_t before = writer_.size();
      Body(field, value);
      writer_.LengthAndTag(number, writer_.size() - before);
    }
  }
}

void Encoder::Body(const Field& field, const Json& value) {
  switch (field.def.type) {
    case FieldType::kMessage: Struct(*field.message, value); return;
    case FieldType::kQuantity: writer_.BytesField(1, value.is_string() ? Text(value) : "0"); return;
    case FieldType::kIntOrString: IntOrString(value); return;
    case FieldType::kTime:
    case FieldType::kMicroTime: Timestamp(value); return;
    case FieldType::kRawObject:
    case FieldType::kFieldsV1:
      if (!value.is_null()) writer_.BytesField(1, value.dump());
      return;
    case FieldType::kStringList:
      if (!value.is_array()) return;
      for (auto it = value.rbegin(); it != value.rend(); ++it) writer_.BytesField(1, Text(*it));
      return;
    case FieldType::kDuration: {
      const auto microseconds = static_cast<std::uint64_t>(ParseDuration(Text(value)).value.count());
      writer_.VarintField(1, microseconds * 1000);  // in nanoseconds
      return;
    }
    default:  // kAny is in no message that has a protobuf form
      return;
  }
}

void Encoder::Timestamp(const Json& value) {
  const std::optional<Time> time = ParseTime(Text(value));
  if (!time) return;  // not set: an empty message
  const auto seconds = std::chrono::floor<std::chrono::seconds>(*time);
  const auto nanos = std::chrono::nanoseconds(*time - seconds).count();
  writer_.VarintField(2, static_cast<std::uint64_t>(nanos));
  writer_.VarintField(1, static_cast<std::uint64_t>(seconds.time_since_epoch().count()));
}

void Encoder::IntOrString(const Json& value) {
  writer_.BytesField(3, Text(value));
  writer_.VarintField(2, value.is_number() ? static_cast<std::uint64_t>(value.get<std::int64_t>()) : 0);
  writer_.VarintField(1, value.is_string() ? 1 : 0);
}

}  // namespace

std::string EncodeProtobufMessage(const Message& message, const Json& doc) {
  Encoder encoder;
  encoder.Struct(message, doc);
  return encoder.Take();
}

std::string MakeProtobufEnvelope(std::string_view api_version, std::string_view kind, std::string_view raw) {
  WireWriter writer;
  writer.BytesField(4, "");  // content type
  writer.BytesField(3, "");  // content encoding
  writer.BytesField(2, raw);
  const std::size_t before = writer.size();
  writer.BytesField(2, kind);
  writer.BytesField(1, api_version);
  writer.LengthAndTag(1, writer.size() - before);
  writer.Raw(kProtobufMagic);
  return writer.Take();
}

std::string EncodeProtobuf(const Message& message, const Json& doc) {
  return MakeProtobufEnvelope(Text(Member(doc, "apiVersion")), Text(Member(doc, "kind")),
                              EncodeProtobufMessage(message, doc));
}

std::string EncodeProtobufWatchFrame(std::string_view event_type, std::string_view enveloped) {
  WireWriter writer;
  writer.BytesField(1, enveloped);
  writer.LengthAndTag(2, writer.size());
  writer.BytesField(1, event_type);
  const std::size_t length = writer.size();
  const char prefix[] = {static_cast<char>(length >> 24), static_cast<char>(length >> 16),
                         static_cast<char>(length >> 8), static_cast<char>(length)};
  writer.Raw({prefix, sizeof prefix});
  return writer.Take();
}

}  // namespace terrarium::api

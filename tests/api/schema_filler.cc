#include "tests/api/schema_filler.h"

#include <string>

namespace terrarium::api {
namespace {

class Filler {
 public:
  explicit Filler(const FillOptions& options)
      : options_(options), state_(options.seed * 0x9e3779b97f4a7c15U + 1) {}

  Json Struct(const Message& message);

 private:
  void Fields(const Message& message, Json& doc);
  Json Value(const Field& field);
  Json Element(const Field& field);
  Json Zero(const Field& field);

  // splitmix64: the same documents on every machine.
  std::uint64_t Next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15U);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9U;
    z = (z ^ z >> 27) * 0x94d049bb133111ebU;
    return z ^ z >> 31;
  }
  std::uint64_t Below(std::uint64_t n) { return Next() % n; }
  std::string Word() {
    std::string text;
    for (std::uint64_t i = 0, n = 1 + Below(8); i < n; ++i)
      text.push_back(static_cast<char>('a' + Below(26)));
    if (Below(10) == 0) text += "\xc3\xa9\xf0\x9f\x8c\xb1 \"\\\n";
    return text;
  }
  // The last value: the empty one, where an enum has it, sorts first.
  std::string Enum(std::span<const std::string_view> values) { return std::string(values.back()); }

  FillOptions options_;
  std::uint64_t state_;
};

Json Filler::Struct(const Message& message) {
  Json doc = Json::object();
  Fields(message, doc);
  return doc;
}

void Filler::Fields(const Message& message, Json& doc) {
  for (const Field* field : message.wire_order()) {
    if (field->def.proto_number >= 1000 && !options_.own_fields) continue;
    if (field->Is(kInline)) {
      Fields(*field->message, doc);
      continue;
    }
    if (!options_.everything && Below(3) != 0) continue;
    doc[std::string(field->name())] = !options_.everything && Below(5) == 0 ? Zero(*field) : Value(*field);
  }
}

Json Filler::Value(const Field& field) {
  switch (field.def.cardinality) {
    case Cardinality::kSingle: return Element(field);
    case Cardinality::kList: {
      Json list = Json::array();
      for (std::uint64_t i = 0, n = 1 + Below(2); i < n; ++i) list.push_back(Element(field));
      return list;
    }
    case Cardinality::kMap: {
      Json map = Json::object();
      for (std::uint64_t i = 0, n = 1 + Below(2); i < n; ++i) map[Word()] = Element(field);
      return map;
    }
  }
  return nullptr;
}

Json Filler::Zero(const Field& field) {
  if (field.def.type == FieldType::kDuration) return "0s";  // null is an error
  if (Below(2) == 0) return nullptr;
  if (field.def.cardinality == Cardinality::kList) return Json::array();
  if (field.def.cardinality == Cardinality::kMap) return Json::object();
  switch (field.def.type) {
    case FieldType::kString:
    case FieldType::kBytes: return "";
    case FieldType::kBool: return false;
    case FieldType::kInt32:
    case FieldType::kInt64:
    case FieldType::kIntOrString: return 0;
    case FieldType::kQuantity: return "0";
    case FieldType::kMessage: return Json::object();
    case FieldType::kStringList: return Json::array();
    default: return nullptr;
  }
}

Json Filler::Element(const Field& field) {
  static constexpr const char* kQuantities[] = {"100m", "1",   "1Gi",    "1500m", "2k",
                                                "1e3",  "0.5", "1024Mi", "3"};
  const auto moment = [this](const char* fraction) {
    return "20" + std::to_string(10 + Below(30)) + "-0" + std::to_string(1 + Below(9)) + "-1" +
           std::to_string(Below(9)) + "T0" + std::to_string(Below(9)) + ":00:0" + std::to_string(Below(9)) +
           fraction + "Z";
  };
  switch (field.def.type) {
    case FieldType::kString: return field.enum_values().empty() ? Word() : Enum(field.enum_values());
    case FieldType::kBool: return true;
    case FieldType::kInt32:
      return Below(4) == 0 ? -static_cast<std::int64_t>(1 + Below(1000))
                           : static_cast<std::int64_t>(1 + Below(2147483647));
    case FieldType::kInt64:
      return Below(4) == 0 ? -static_cast<std::int64_t>(1 + Below(1000))
                           : static_cast<std::int64_t>(1 + (Next() >> (1 + Below(50))));
    case FieldType::kDouble: return 1.5;
    case FieldType::kBytes: return Below(2) == 0 ? "AAH/gA==" : "aGVsbG8=";
    case FieldType::kMessage: return Struct(*field.message);
    case FieldType::kQuantity: return kQuantities[Below(std::size(kQuantities))];
    case FieldType::kIntOrString: return Below(2) == 0 ? Json(1 + Below(100)) : Json(Word());
    case FieldType::kTime: return moment("");
    case FieldType::kMicroTime: return moment(".123456");
    case FieldType::kDuration: return "1s";
    case FieldType::kRawObject:
    case FieldType::kFieldsV1: return Json{{"f:" + Word(), {{".", Json::object()}, {"n", 1 + Below(9)}}}};
    case FieldType::kStringList: return Json::array({Word(), Word()});
    case FieldType::kAny: return Word();
  }
  return nullptr;
}

}  // namespace

Json Fill(const Message& message, const FillOptions& options) { return Filler(options).Struct(message); }

}  // namespace terrarium::api

#include "apiserver/openapi/internal/proto_v2.h"

#include <cstdint>
#include <string_view>

#include "api/base/check.h"

namespace terrarium::apiserver::openapi {
namespace {

using api::Json;

// What a JSON member becomes.
enum class As {
  kString,
  kBool,
  kStrings,         // repeated string
  kAny,             // Any: YAML text, and JSON is YAML
  kAnys,            // repeated Any
  kMessage,         // a message by its own table
  kNamed,           // a message with one repeated {name = 1, value = 2} at field 1
  kNamedPaths,      // the same at field 2
  kTypeItem,        // a string in a message of repeated strings
  kWrapped,         // a message at field 1 of a message
  kParameters,      // repeated ParametersItem
  kNamedResponses,  // the value is wrapped once more
};

struct Table;

struct Member {
  std::string_view name;
  int number;
  As as;
  const Table* table = nullptr;
};

struct Table {
  const Member* members;
  std::size_t size;
  int extensions;  // field number of vendor_extension, or 0
};

extern const Table kSchema;

constexpr Member kSchemaMembers[] = {
    {"$ref", 1, As::kString},
    {"format", 2, As::kString},
    {"description", 4, As::kString},
    {"default", 5, As::kAny},
    {"required", 19, As::kStrings},
    {"enum", 20, As::kAnys},
    {"additionalProperties", 21, As::kWrapped, &kSchema},
    {"type", 22, As::kTypeItem},
    {"items", 23, As::kWrapped, &kSchema},
    {"properties", 25, As::kNamed, &kSchema},
};
constexpr Table kSchema = {kSchemaMembers, std::size(kSchemaMembers), 31};

constexpr Member kBodyMembers[] = {
    {"description", 1, As::kString},
    {"name", 2, As::kString},
    {"in", 3, As::kString},
    {"required", 4, As::kBool},
    {"schema", 5, As::kMessage, &kSchema},
};
constexpr Table kBody = {kBodyMembers, std::size(kBodyMembers), 6};

constexpr Member kQueryMembers[] = {
    {"required", 1, As::kBool}, {"in", 2, As::kString},   {"description", 3, As::kString},
    {"name", 4, As::kString},   {"type", 6, As::kString},
};
constexpr Table kQuery = {kQueryMembers, std::size(kQueryMembers), 23};

constexpr Member kPathParameterMembers[] = {
    {"required", 1, As::kBool}, {"in", 2, As::kString},   {"description", 3, As::kString},
    {"name", 4, As::kString},   {"type", 5, As::kString},
};
constexpr Table kPathParameter = {kPathParameterMembers, std::size(kPathParameterMembers), 22};

constexpr Member kResponseMembers[] = {
    {"description", 1, As::kString},
    {"schema", 2, As::kWrapped, &kSchema},
};
constexpr Table kResponse = {kResponseMembers, std::size(kResponseMembers), 5};

constexpr Member kOperationMembers[] = {
    {"tags", 1, As::kStrings},
    {"description", 3, As::kString},
    {"operationId", 5, As::kString},
    {"produces", 6, As::kStrings},
    {"consumes", 7, As::kStrings},
    {"parameters", 8, As::kParameters},
    {"responses", 9, As::kNamedResponses, &kResponse},
    {"schemes", 10, As::kStrings},
};
constexpr Table kOperation = {kOperationMembers, std::size(kOperationMembers), 13};

constexpr Member kPathItemMembers[] = {
    {"get", 2, As::kMessage, &kOperation},   {"put", 3, As::kMessage, &kOperation},
    {"post", 4, As::kMessage, &kOperation},  {"delete", 5, As::kMessage, &kOperation},
    {"patch", 8, As::kMessage, &kOperation}, {"parameters", 9, As::kParameters},
};
constexpr Table kPathItem = {kPathItemMembers, std::size(kPathItemMembers), 10};

constexpr Member kInfoMembers[] = {{"title", 1, As::kString}, {"version", 2, As::kString}};
constexpr Table kInfo = {kInfoMembers, std::size(kInfoMembers), 7};

constexpr Member kDocumentMembers[] = {
    {"swagger", 1, As::kString},
    {"info", 2, As::kMessage, &kInfo},
    {"paths", 8, As::kNamedPaths, &kPathItem},
    {"definitions", 9, As::kNamed, &kSchema},
};
constexpr Table kDocument = {kDocumentMembers, std::size(kDocumentMembers), 16};

void Varint(std::uint64_t value, std::string& out) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(value | 0x80);
  out += static_cast<char>(value);
}

void Bytes(int number, std::string_view bytes, std::string& out) {
  Varint(static_cast<std::uint64_t>(number) << 3 | 2, out);
  Varint(bytes.size(), out);
  out += bytes;
}

void Bool(int number, bool value, std::string& out) {
  Varint(static_cast<std::uint64_t>(number) << 3, out);
  Varint(value ? 1 : 0, out);
}

std::string Wrap(int number, std::string_view bytes) {
  std::string out;
  Bytes(number, bytes, out);
  return out;
}

std::string Any(const Json& value) { return Wrap(2, value.dump() + "\n"); }

std::string Named(std::string_view name, std::string_view value) { return Wrap(1, name) + Wrap(2, value); }

std::string Message(const Json& object, const Table& table);

// ParametersItem{parameter = 1: Parameter{body_parameter = 1 | non_body_parameter = 2: {query = 3 | path =
// 4}}}
std::string ParameterItem(const Json& parameter) {
  const std::string& in = parameter["in"].get_ref<const std::string&>();
  if (in == "body") return Wrap(1, Wrap(1, Message(parameter, kBody)));
  if (in == "query") return Wrap(1, Wrap(2, Wrap(3, Message(parameter, kQuery))));
  CHECK(in == "path");
  return Wrap(1, Wrap(2, Wrap(4, Message(parameter, kPathParameter))));
}

void WriteMember(const Member& member, const Json& value, std::string& out) {
  std::string inner;
  switch (member.as) {
    case As::kString: Bytes(member.number, value.get_ref<const std::string&>(), out); return;
    case As::kBool: Bool(member.number, value.get<bool>(), out); return;
    case As::kStrings:
      for (const Json& item : value) Bytes(member.number, item.get_ref<const std::string&>(), out);
      return;
    case As::kAny: Bytes(member.number, Any(value), out); return;
    case As::kAnys:
      for (const Json& item : value) Bytes(member.number, Any(item), out);
      return;
    case As::kMessage: Bytes(member.number, Message(value, *member.table), out); return;
    case As::kParameters:
      for (const Json& item : value) Bytes(member.number, ParameterItem(item), out);
      return;
    case As::kWrapped: Bytes(member.number, Wrap(1, Message(value, *member.table)), out); return;
    case As::kTypeItem: Bytes(member.number, Wrap(1, value.get_ref<const std::string&>()), out); return;
    case As::kNamed:
    case As::kNamedPaths:
      for (const auto& [name, item] : value.items())
        Bytes(member.as == As::kNamedPaths ? 2 : 1, Named(name, Message(item, *member.table)), inner);
      Bytes(member.number, inner, out);
      return;
    case As::kNamedResponses:
      for (const auto& [name, item] : value.items())
        Bytes(1, Named(name, Wrap(1, Message(item, *member.table))), inner);
      Bytes(member.number, inner, out);
      return;
  }
}

std::string Message(const Json& object, const Table& table) {
  std::string out;
  std::size_t written = 0;
  for (std::size_t i = 0; i < table.size; ++i) {
    auto it = object.find(table.members[i].name);
    if (it == object.end()) continue;
    WriteMember(table.members[i], *it, out);
    ++written;
  }
  for (const auto& [name, value] : object.items()) {
    if (!name.starts_with("x-")) continue;
    Bytes(table.extensions, Named(name, Any(value)), out);
    ++written;
  }
  CHECK(written == object.size());  // a member that no table knows would be lost
  return out;
}

}  // namespace

std::string EncodeV2(const Json& document) { return Message(document, kDocument); }

}  // namespace terrarium::apiserver::openapi

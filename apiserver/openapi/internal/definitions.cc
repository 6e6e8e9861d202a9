#include "apiserver/openapi/internal/definitions.h"

#include <utility>

#include "apiserver/openapi/internal/well_known.h"

namespace terrarium::apiserver::openapi {
namespace {

using api::Cardinality;
using api::Field;
using api::FieldType;
using api::Json;
using api::Message;

constexpr const char* kNoFieldText = "No description has been written for this field yet.";
constexpr const char* kNoKindText = "No description has been written for this kind yet.";

std::string_view WellKnownName(FieldType type) {
  switch (type) {
    case FieldType::kQuantity: return kQuantity;
    case FieldType::kIntOrString: return kIntOrString;
    case FieldType::kTime: return kTime;
    case FieldType::kMicroTime: return kMicroTime;
    case FieldType::kDuration: return kDuration;
    case FieldType::kRawObject: return kRawExtension;
    case FieldType::kFieldsV1: return kFieldsV1;
    default: return {};
  }
}

Json Scalar(FieldType type) {
  switch (type) {
    case FieldType::kBool: return {{"type", "boolean"}};
    case FieldType::kInt32: return {{"type", "integer"}, {"format", "int32"}};
    case FieldType::kInt64: return {{"type", "integer"}, {"format", "int64"}};
    case FieldType::kDouble: return {{"type", "number"}, {"format", "double"}};
    case FieldType::kBytes: return {{"type", "string"}, {"format", "byte"}};
    case FieldType::kStringList: return {{"type", "array"}, {"items", {{"type", "string"}}}};
    case FieldType::kAny: return Json::object();
    default: return {{"type", "string"}};
  }
}

std::string PatchStrategyText(std::uint8_t strategy) {
  std::string out;
  for (auto [bit, word] : {std::pair{api::kPatchMerge, "merge"},
                           {api::kPatchRetainKeys, "retainKeys"},
                           {api::kPatchReplace, "replace"}})
    if ((strategy & bit) != 0) out.append(out.empty() ? "" : ",").append(word);
  return out;
}

Json SplitKeys(std::string_view keys) {
  Json out = Json::array();
  while (!keys.empty()) {
    std::size_t comma = keys.find(',');
    out.push_back(keys.substr(0, comma));
    keys.remove_prefix(comma == std::string_view::npos ? keys.size() : comma + 1);
  }
  return out;
}

void AddExtensions(const Field& field, Json& schema) {
  const api::FieldDef& def = field.def;
  switch (def.list_type) {
    case api::ListType::kNone: break;
    case api::ListType::kAtomic: schema["x-kubernetes-list-type"] = "atomic"; break;
    case api::ListType::kSet: schema["x-kubernetes-list-type"] = "set"; break;
    case api::ListType::kMap:
      schema["x-kubernetes-list-type"] = "map";
      schema["x-kubernetes-list-map-keys"] = SplitKeys(def.list_map_keys);
      break;
  }
  if (def.patch_strategy != api::kPatchNone)
    schema["x-kubernetes-patch-strategy"] = PatchStrategyText(def.patch_strategy);
  if (!def.patch_merge_key.empty()) schema["x-kubernetes-patch-merge-key"] = def.patch_merge_key;
  if (def.atomic) schema["x-kubernetes-map-type"] = "atomic";
}

}  // namespace

Json GvkJson(const Gvk& gvk) { return {{"group", gvk.group}, {"version", gvk.version}, {"kind", gvk.kind}}; }

Definitions::Definitions(Dialect dialect, const ResourceTable& table) : dialect_(dialect) {
  for (const ResourceInfo& r : table.all()) {
    const std::string group(r.group), version(r.version), kind(r.kind), name(r.message);
    AddKind(name, {group, version, kind});
    if (r.schema != nullptr) added_schemas_.insert(r.schema.get());
    if (r.HasVerb("list")) AddKind(name + "List", {group, version, kind + "List"});
    for (const SubresourceInfo& sub : r.subresources) {
      if (sub.version.empty()) continue;
      AddKind(SchemaName(sub.group, sub.version, sub.kind),
              {std::string(sub.group), std::string(sub.version), std::string(sub.kind)});
    }
  }
  for (const char* kind : {"APIGroup", "APIGroupList", "APIResourceList", "APIVersions", "Status"})
    AddKind(std::string(kMeta) + kind, {"", "v1", kind});
  for (const GroupVersion& gv : table.group_versions())
    for (const char* kind : {"DeleteOptions", "WatchEvent"})
      AddKind(std::string(kMeta) + kind, {std::string(gv.group), std::string(gv.version), kind});
}

void Definitions::AddKind(const std::string& name, Gvk gvk) {
  std::vector<Gvk>& known = kinds_[name];
  for (const Gvk& other : known)
    if (other.group == gvk.group && other.version == gvk.version && other.kind == gvk.kind) return;
  known.push_back(std::move(gvk));
}

Json Definitions::Ref(std::string_view name) {
  if (!done_.contains(name)) wanted_.insert(std::string(name));
  const char* where = dialect_ == Dialect::kV2 ? "#/definitions/" : "#/components/schemas/";
  return {{"$ref", where + std::string(name)}};
}

Json Definitions::Take() {
  while (!wanted_.empty()) {
    std::string name = wanted_.extract(wanted_.begin()).value();
    done_[name] = Json();  // from here on a reference to it, even from itself, asks for nothing
    done_[name] = Describe(name);
  }
  return std::move(done_);
}

const Message* Definitions::FindMessage(std::string_view name) const {
  if (const Message* message = api::Schema::Get().Find(name)) return message;
  for (const api::Schema* schema : added_schemas_)
    if (const Message* message = schema->Find(name)) return message;
  return nullptr;
}

Json Definitions::Describe(const std::string& name) {
  const Message* message = FindMessage(name);
  Json schema = message == nullptr ? WellKnownSchema(name, dialect_) : Struct(*message);
  if (auto kind = kinds_.find(name); kind != kinds_.end()) {
    for (const Gvk& gvk : kind->second) schema["x-kubernetes-group-version-kind"].push_back(GvkJson(gvk));
  }
  return schema;
}

Json Definitions::Struct(const Message& message) {
  Json schema = {{"type", "object"}};
  // `kubectl explain` prints this below the description of the referring field, so only kinds need a text of
  // their own.
  if (!message.description().empty())
    schema["description"] = message.description();
  else if (kinds_.contains(std::string(message.name())))
    schema["description"] = kNoKindText;
  for (const Field& field : message.fields()) {
    const std::string name(field.name());
    schema["properties"][name] = Property(field);
    if (field.Is(api::kRequired)) schema["required"].push_back(name);
  }
  if (message.atomic_struct()) schema["x-kubernetes-map-type"] = "atomic";
  return schema;
}

// Version 3 allows nothing beside a $ref, and a property has a description, so it goes through allOf there.
Json Definitions::Reference(std::string_view name) {
  if (dialect_ == Dialect::kV2) return Ref(name);
  return {{"allOf", Json::array({Ref(name)})}};
}

Json Definitions::Element(const Field& field) {
  if (field.message != nullptr) return Reference(field.message->name());
  if (std::string_view name = WellKnownName(field.def.type); !name.empty()) return Reference(name);
  Json schema = Scalar(field.def.type);
  for (std::string_view value : field.enum_values()) schema["enum"].push_back(value);
  return schema;
}

Json Definitions::Property(const Field& field) {
  Json schema = Element(field);
  if (field.def.cardinality == Cardinality::kList) schema = {{"type", "array"}, {"items", std::move(schema)}};
  if (field.def.cardinality == Cardinality::kMap)
    schema = {{"type", "object"}, {"additionalProperties", std::move(schema)}};
  // Go writes an empty list or map as null unless it may leave the field out.
  const bool may_be_null = field.def.cardinality != Cardinality::kSingle && !field.Is(api::kOmitEmpty);
  if (dialect_ == Dialect::kV3 && may_be_null) schema["nullable"] = true;
  schema["description"] = field.description.empty() ? kNoFieldText : field.description;
  if (!field.default_value.is_null()) schema["default"] = field.default_value;
  AddExtensions(field, schema);
  return schema;
}

}  // namespace terrarium::apiserver::openapi

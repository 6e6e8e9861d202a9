#include "apiserver/internal/encode.h"

#include <utility>
#include <vector>

#include "api/apply/managed_fields.h"
#include "api/codec/normalize.h"
#include "api/codec/protobuf.h"
#include "api/codec/yaml.h"
#include "api/json_access.h"
#include "apiserver/strategy/autoscaler_conversion.h"
#include "apiserver/strategy/event_conversion.h"
#include "apiserver/table/partial_metadata.h"
#include "apiserver/table/table.h"

namespace terrarium::apiserver {
namespace {

const api::Message& MetaSchema(std::string_view kind) {
  return api::Schema::Get().Must("io.k8s.apimachinery.pkg.apis.meta.v1." + std::string(kind));
}

bool IsAutoscalerV1(const ResourceInfo& resource) {
  return resource.group == "autoscaling" && resource.version == "v1";
}

// The document in the form of the resource's group, without kind and apiVersion, as items of a list are.
Json PresentedItem(const ResourceInfo& resource, const api::Object& object) {
  Json document = object.ParseWithOwners();
  ToPresentedForm(resource, document);
  return document;
}

// Stored text can be sent as it is: no other form, no indentation.
bool IsPlainJson(const Call& call) {
  const Negotiated& output = call.output;
  return output.media_type == MediaType::kJson && output.shape == Shape::kObject && !output.pretty &&
         IsStoredForm(call.resource());
}

Json MetaDocument(const ListMeta& meta) {
  Json out = {{"resourceVersion", std::to_string(meta.revision)}};
  if (!meta.continue_token.empty()) out["continue"] = meta.continue_token;
  if (meta.remaining > 0) out["remainingItemCount"] = meta.remaining;
  return out;
}

TableOptions OptionsOfTable(const Call& call, bool no_headers) {
  auto parsed = ParseTableOptions(call.request);
  TableOptions options =
      parsed ? *parsed : TableOptions{};  // a bad value was refused when the call was routed
  options.no_headers = no_headers;
  options.meta_version = call.output.meta_version;
  options.now = call.server.env.clock.Now();
  return options;
}

Json TableOf(const Call& call, std::span<const api::ObjectPtr> objects, const TableMeta& meta,
             bool no_headers) {
  TableOptions options = OptionsOfTable(call, no_headers);
  if (IsStoredForm(call.resource())) return MakeTable(KindOf(call.resource()), objects, meta, options);
  std::vector<Json> documents;
  for (const api::ObjectPtr& object : objects)
    documents.push_back(PresentedDocument(call.resource(), *object));
  return MakeTable(KindOf(call.resource()), documents, meta, options);
}

// One object in the shape that the client asked for, with the schema of that shape.
struct Shaped {
  Json document;
  const api::Message& schema;
};

Shaped ShapeObject(const Call& call, const api::ObjectPtr& object, bool no_headers) {
  switch (call.output.shape) {
    case Shape::kTable:
      return {TableOf(call, std::span(&object, 1), {std::to_string(object->revision()), "", {}}, no_headers),
              MetaSchema("Table")};
    case Shape::kPartialObjectMetadata:
    case Shape::kPartialObjectMetadataList:
      return {MakePartialMetadata(PresentedDocument(call.resource(), *object), call.output.meta_version),
              MetaSchema("PartialObjectMetadata")};
    case Shape::kObject: break;
  }
  return {PresentedDocument(call.resource(), *object), call.resource().Schema()};
}

// A list of whole objects, or of their metadata.
std::string EncodeItems(const Call& call, std::vector<Json> documents, Json list_metadata) {
  const ResourceInfo& resource = call.resource();
  Json items = Json::array();
  const bool metadata_only = call.output.shape != Shape::kObject;
  for (Json& document : documents)
    items.push_back(metadata_only ? MakePartialMetadata(document, call.output.meta_version)
                                  : std::move(document));
  if (metadata_only)
    return EncodeDocument(
        call.output,
        MakePartialMetadataList(std::move(list_metadata), std::move(items), call.output.meta_version),
        MetaSchema("PartialObjectMetadataList"));
  Json list = {{"kind", std::string(resource.kind) + "List"},
               {"apiVersion", resource.GroupVersion()},
               {"metadata", std::move(list_metadata)},
               {"items", std::move(items)}};
  return EncodeDocument(call.output, list, resource.ListSchema());
}

std::size_t OwnersBytes(const api::Object& object) {
  return object.owners() == nullptr ? 0 : object.owners()->ApproximateBytes();
}

std::string PlainList(const ResourceInfo& resource, std::span<const api::ObjectPtr> items,
                      const ListMeta& meta) {
  std::size_t size = 256;
  for (const api::ObjectPtr& item : items) size += item->body().size() + OwnersBytes(*item) + 1;
  std::string out;
  out.reserve(size);
  out.append(R"({"kind":")")
      .append(resource.kind)
      .append(R"(List","apiVersion":")")
      .append(resource.GroupVersion());
  out.append(R"(","metadata":)").append(MetaDocument(meta).dump()).append(R"(,"items":[)");
  for (std::size_t i = 0; i < items.size(); ++i) {
    if (i > 0) out += ',';
    items[i]->AppendItem(out);
  }
  out += "]}\n";
  return out;
}

}  // namespace

bool IsStoredForm(const ResourceInfo& resource) {
  return resource.group != "events.k8s.io" && !IsAutoscalerV1(resource);
}

void ToPresentedForm(const ResourceInfo& resource, Json& document) {
  if (IsStoredForm(resource)) return;
  if (IsAutoscalerV1(resource)) return AutoscalerToV1(document);
  EventToEventsV1(document);
  // Fields that the other group always writes; a document that was stored once cannot fail here.
  auto error = api::Normalize(resource.Schema(), document, nullptr);
  CHECK(!error.has_value());
}

Json PresentedDocument(const ResourceInfo& resource, const api::Object& object) {
  Json document = PresentedWithoutOwners(resource, object);
  if (object.owners() != nullptr)
    document["metadata"]["managedFields"] = api::ManagedFieldsJson(*object.owners());
  return document;
}

Json PresentedWithoutOwners(const ResourceInfo& resource, const api::Object& object) {
  Json document = object.Parse();
  ToPresentedForm(resource, document);
  document["kind"] = resource.kind;
  document["apiVersion"] = resource.GroupVersion();
  return document;
}

std::string EncodeDocument(const Negotiated& output, const Json& document, const api::Message& schema) {
  switch (output.media_type) {
    case MediaType::kYaml: return api::WriteYaml(document);
    case MediaType::kProtobuf: return api::EncodeProtobuf(schema, document);
    case MediaType::kJson: break;
  }
  return document.dump(output.pretty ? 2 : -1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string EncodeObject(const Call& call, const api::ObjectPtr& object) {
  const ResourceInfo& resource = call.resource();
  if (IsPlainJson(call)) {
    std::string text = object->Text(resource.GroupVersion(), resource.kind);
    text += '\n';
    return text;
  }
  Shaped shaped = ShapeObject(call, object, false);
  return EncodeDocument(call.output, shaped.document, shaped.schema);
}

std::string EncodeUnstored(const Call& call, const Json& document, const api::Message& schema) {
  const Negotiated& output = call.output;
  if (output.shape == Shape::kObject) return EncodeDocument(output, document, schema);
  if (output.shape != Shape::kTable)
    return EncodeDocument(output, MakePartialMetadata(document, output.meta_version),
                          MetaSchema("PartialObjectMetadata"));
  const std::string_view api_version = api::StringAt(document, "apiVersion");
  const std::size_t slash = api_version.find('/');
  const bool core = slash == std::string_view::npos;
  TableKind kind{core ? std::string_view{} : api_version.substr(0, slash),
                 core ? api_version : api_version.substr(slash + 1), api::StringAt(document, "kind")};
  TableMeta meta{std::string(api::StringAt(document, "metadata", "resourceVersion")), "", {}};
  Json table = MakeTable(kind, std::span<const Json>(&document, 1), meta, OptionsOfTable(call, false));
  return EncodeDocument(output, table, MetaSchema("Table"));
}

std::string EncodeUnstoredList(const Call& call, std::vector<Json> items) {
  if (call.output.shape == Shape::kTable)
    return EncodeDocument(call.output,
                          MakeTable(KindOf(call.resource()), items, {}, OptionsOfTable(call, false)),
                          MetaSchema("Table"));
  return EncodeItems(call, std::move(items), Json::object());
}

std::string EncodeList(const Call& call, std::span<const api::ObjectPtr> items, const ListMeta& meta) {
  const ResourceInfo& resource = call.resource();
  if (IsPlainJson(call)) return PlainList(resource, items, meta);
  if (call.output.shape == Shape::kTable) {
    TableMeta table_meta{std::to_string(meta.revision), meta.continue_token, {}};
    if (meta.remaining > 0) table_meta.remaining_item_count = meta.remaining;
    return EncodeDocument(call.output, TableOf(call, items, table_meta, false), MetaSchema("Table"));
  }
  std::vector<Json> documents;
  documents.reserve(items.size());
  for (const api::ObjectPtr& item : items) documents.push_back(PresentedItem(resource, *item));
  return EncodeItems(call, std::move(documents), MetaDocument(meta));
}

void EventEncoder::Append(std::string_view type, const api::ObjectPtr& object, std::string& out) {
  const ResourceInfo& resource = call_->resource();
  if (IsPlainJson(*call_)) {
    out.append(R"({"type":")").append(type).append(R"(","object":)");
    object->AppendText(resource.GroupVersion(), resource.kind, out);
    out += "}\n";
    return;
  }
  Shaped shaped = ShapeObject(*call_, object, table_headers_sent_);
  table_headers_sent_ = true;
  AppendFrame(type, shaped.document, shaped.schema, out);
}

void EventEncoder::AppendBookmark(std::int64_t revision, bool initial_end, std::string& out) {
  const ResourceInfo& resource = call_->resource();
  Json document = {{"metadata", {{"resourceVersion", std::to_string(revision)}}}};
  if (initial_end) document["metadata"]["annotations"] = {{"k8s.io/initial-events-end", "true"}};
  // What Go would print for an otherwise empty object of the kind.
  auto error = api::Normalize(resource.Schema(), document, nullptr);
  CHECK(!error.has_value());
  document["kind"] = resource.kind;
  document["apiVersion"] = resource.GroupVersion();
  if (call_->output.shape == Shape::kTable) {
    Json table = MakeTable(KindOf(resource), std::span<const Json>(&document, 1),
                           {std::to_string(revision), "", {}}, OptionsOfTable(*call_, table_headers_sent_));
    table_headers_sent_ = true;
    return AppendFrame("BOOKMARK", table, MetaSchema("Table"), out);
  }
  if (call_->output.shape != Shape::kObject)
    return AppendFrame("BOOKMARK", MakePartialMetadata(document, call_->output.meta_version),
                       MetaSchema("PartialObjectMetadata"), out);
  AppendFrame("BOOKMARK", document, resource.Schema(), out);
}

void EventEncoder::AppendError(const api::Status& status, std::string& out) {
  AppendFrame("ERROR", status.ToJson(), MetaSchema("Status"), out);
}

void EventEncoder::AppendFrame(std::string_view type, const Json& document, const api::Message& schema,
                               std::string& out) {
  if (call_->output.media_type == MediaType::kProtobuf) {
    out += api::EncodeProtobufWatchFrame(type, api::EncodeProtobuf(schema, document));
    return;
  }
  Json frame = {{"type", type}, {"object", document}};
  if (call_->output.media_type == MediaType::kYaml)
    out += "---\n" + api::WriteYaml(frame);
  else
    out += frame.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace terrarium::apiserver

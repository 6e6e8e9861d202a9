#include "apiserver/table/table.h"

#include <algorithm>
#include <utility>

#include "api/base/errors.h"
#include "api/json_access.h"
#include "apiserver/table/internal/printer.h"
#include "apiserver/table/partial_metadata.h"

namespace terrarium::apiserver {
namespace {

using table::Column;
using table::Printer;

// For kinds without a printer of their own.
constexpr Column kDefaultColumns[] = {table::kNameColumn,
                                      {"Created At", "date", "", table::kAgeColumn.description}};

std::vector<Json> DefaultCells(const Json& object, api::Time) {
  // Go prints the zero time for an object that has none.
  return {table::Name(object),
          table::OrElse(api::StringAt(object, "metadata", "creationTimestamp"), "0001-01-01T00:00:00Z")};
}

constexpr Printer kDefaultPrinter = {"", "", kDefaultColumns, DefaultCells};

const Printer& BuiltInPrinterOf(const TableKind& kind) {
  constexpr std::span<const Printer> (*kFamilies[])() = {
      table::PodPrinters,        table::WorkloadPrinters,       table::BatchPrinters,
      table::CorePrinters,       table::ServicePrinters,        table::NodePrinters,
      table::EventPrinters,      table::PolicyPrinters,         table::StoragePrinters,
      table::NetworkingPrinters, table::AdministrationPrinters, table::AutoscalingPrinters};
  for (auto family : kFamilies)
    for (const Printer& printer : family())
      if (printer.kind == kind.kind && printer.group == kind.group) return printer;
  return kDefaultPrinter;
}

Json ColumnDefinitions(std::span<const Column> columns) {
  Json out = Json::array();
  for (const Column& c : columns) {
    out.push_back({{"name", c.name},
                   {"type", c.type},
                   {"format", c.format},
                   {"description", c.description},
                   {"priority", c.priority}});
  }
  return out;
}

// The printer that a resource brings with it, or the built-in one.
class AnyPrinter {
 public:
  explicit AnyPrinter(const TableKind& kind)
      : own_(kind.printer), built_in_(own_ == nullptr ? BuiltInPrinterOf(kind) : kDefaultPrinter) {}

  Json Columns() const {
    return own_ != nullptr ? own_->ColumnDefinitions() : ColumnDefinitions(built_in_.columns);
  }
  std::vector<Json> Cells(const Json& object, api::Time now) const {
    return own_ != nullptr ? own_->Cells(object, now) : built_in_.cells(object, now);
  }
  Json Conditions(const Json& object) const {
    return own_ == nullptr && built_in_.conditions != nullptr ? built_in_.conditions(object) : Json();
  }

 private:
  const TablePrinter* own_;
  const Printer& built_in_;
};

Json WholeObject(const TableKind& kind, const Json& document) {
  Json out = document;
  out["kind"] = kind.kind;
  out["apiVersion"] = kind.group.empty() ? std::string(kind.version)
                                         : std::string(kind.group).append("/").append(kind.version);
  return out;
}

bool IsInitialEventsEnd(const Json& document) {
  return api::StringAt(document, "metadata", "annotations", "k8s.io/initial-events-end") == "true";
}

Json MakeRow(const AnyPrinter& printer, const TableKind& kind, const Json& document,
             const TableOptions& options) {
  Json row = {{"cells", printer.Cells(document, options.now)}, {"object", nullptr}};
  if (Json conditions = printer.Conditions(document); !conditions.is_null())
    row["conditions"] = std::move(conditions);
  IncludeObject include = options.include_object;
  // The bookmark that closes a streamed list is known by its annotation, which must reach the client in any
  // case.
  if (include == IncludeObject::kNone && IsInitialEventsEnd(document)) include = IncludeObject::kMetadata;
  switch (include) {
    case IncludeObject::kNone: break;
    case IncludeObject::kMetadata: row["object"] = MakePartialMetadata(document, options.meta_version); break;
    case IncludeObject::kObject: row["object"] = WholeObject(kind, document); break;
  }
  return row;
}

Json Assemble(const AnyPrinter& printer, Json rows, const TableMeta& meta, const TableOptions& options) {
  Json metadata = Json::object();
  if (!meta.resource_version.empty()) metadata["resourceVersion"] = meta.resource_version;
  if (!meta.continue_token.empty()) metadata["continue"] = meta.continue_token;
  if (meta.remaining_item_count) metadata["remainingItemCount"] = *meta.remaining_item_count;
  return {{"kind", "Table"},
          {"apiVersion", std::string("meta.k8s.io/").append(options.meta_version)},
          {"metadata", std::move(metadata)},
          {"columnDefinitions", options.no_headers ? Json() : printer.Columns()},
          {"rows", std::move(rows)}};
}

}  // namespace

api::Result<TableOptions> ParseTableOptions(const Request& request) {
  TableOptions out;
  const std::string* include = request.Query("includeObject");
  if (include == nullptr || include->empty() || *include == "Metadata") return out;
  if (*include == "None") {
    out.include_object = IncludeObject::kNone;
  } else if (*include == "Object") {
    out.include_object = IncludeObject::kObject;
  } else {
    return api::BadRequest("Unable to convert to Table as requested: includeObject: Invalid value: " +
                           api::Quote(*include) + ": must be 'Metadata', 'Object', 'None', or empty");
  }
  return out;
}

TableKind KindOf(const ResourceInfo& resource) {
  return {resource.group, resource.version, resource.kind, resource.printer.get()};
}

Json MakeTable(const TableKind& kind, std::span<const Json> documents, const TableMeta& meta,
               const TableOptions& options) {
  const AnyPrinter printer(kind);
  Json rows = Json::array();
  for (const Json& document : documents) rows.push_back(MakeRow(printer, kind, document, options));
  return Assemble(printer, std::move(rows), meta, options);
}

Json MakeTable(const TableKind& kind, std::span<const api::ObjectPtr> objects, const TableMeta& meta,
               const TableOptions& options) {
  const AnyPrinter printer(kind);
  Json rows = Json::array();
  for (const api::ObjectPtr& object : objects)
    rows.push_back(MakeRow(printer, kind, object->ParseWithOwners(), options));
  return Assemble(printer, std::move(rows), meta, options);
}

}  // namespace terrarium::apiserver

#pragma once

// Server-side printing: objects as the rows of a meta.k8s.io Table, with the columns that `kubectl get` and
// `kubectl get -o wide` show for each kind (the wide ones have priority 1).

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/clock.h"
#include "api/base/status.h"
#include "api/json.h"
#include "api/object.h"
#include "apiserver/request.h"
#include "apiserver/resource_table.h"

namespace terrarium::apiserver {

// The contents of each row besides its cells.
enum class IncludeObject { kNone, kMetadata, kObject };

struct TableOptions {
  IncludeObject include_object = IncludeObject::kMetadata;
  bool no_headers = false;               // no column definitions, as in a watch after its first event
  std::string_view meta_version = "v1";  // of meta.k8s.io: v1 or v1beta1
  api::Time now{};                       // ages are counted up to here
};

// From the query: includeObject=None|Metadata|Object. 400 for another value. `now` and `meta_version` are the
// caller's.
api::Result<TableOptions> ParseTableOptions(const Request& request);

// The metadata of the table: a list's own, or an object's resourceVersion for a table of one.
struct TableMeta {
  std::string resource_version;
  std::string continue_token;
  std::optional<std::int64_t> remaining_item_count;
};

// The printer of a resource that defines its own columns. Immutable.
class TablePrinter {
 public:
  virtual ~TablePrinter() = default;
  virtual Json ColumnDefinitions() const = 0;  // a list of metav1.TableColumnDefinition
  virtual std::vector<Json> Cells(const Json& object, api::Time now) const = 0;  // one per column
};

// The kind of the documents; a subresource's differs from its resource's (Scale).
struct TableKind {
  std::string_view group;
  std::string_view version;
  std::string_view kind;
  const TablePrinter* printer = nullptr;  // nullptr: the built-in one of the kind, or name and creation time
};
TableKind KindOf(const ResourceInfo& resource);

// One row per document. Documents are in the form that the kind's clients see; kind and apiVersion may be
// missing.
Json MakeTable(const TableKind& kind, std::span<const Json> documents, const TableMeta& meta,
               const TableOptions& options);
// The same from stored objects, parsed one at a time. Cells of events.k8s.io are read from stored core Events
// as well, but with IncludeObject::kObject their rows would carry the stored form: use documents there.
Json MakeTable(const TableKind& kind, std::span<const api::ObjectPtr> objects, const TableMeta& meta,
               const TableOptions& options);

}  // namespace terrarium::apiserver

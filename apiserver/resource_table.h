#pragma once

// The resources that a control plane serves at one moment. Routing, discovery, storage names, OpenAPI paths,
// tables and watches read only this. A control plane's current table is in its ResourceRegistry.

#include <cstdint>
#include <map>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "api/base/errors.h"
#include "api/schema/schema.h"
#include "apiserver/strategy.h"

namespace terrarium::apiserver {

class OpenApiDocuments;
class TablePrinter;
class Uptime;
struct ResourceInfo;
using ResourcePtr = std::shared_ptr<const ResourceInfo>;

struct SubresourceInfo {
  std::string name;   // "status", "scale", ...
  std::string group;  // of its own kind, where that is not the parent's ("autoscaling" for scale)
  std::string version;
  std::string kind;
  std::vector<std::string> verbs;  // as discovery lists them
  bool connects = false;           // a connection to a container (exec), for every verb

  // Its updates write the status of the parent and nothing else.
  bool WritesStatus() const { return name == "status" || name == "approval"; }
};

// One resource in one version.
struct ResourceInfo {
  std::string group;
  std::string version;
  std::string kind;
  std::string plural;
  std::string singular;
  bool namespaced = true;
  std::vector<std::string> short_names = {};
  std::vector<std::string> categories = {};
  std::vector<std::string> verbs;  // as discovery lists them; empty verbs beyond create for reviews
  std::vector<SubresourceInfo> subresources = {};
  std::string message;           // schema name of the kind
  std::string storage;           // storage name, which is also the name that an api::Client uses
  std::string etcd_prefix = {};  // of keys as clients read them in errors; empty: the plural
  // nullptr for virtual kinds (reviews), which are never stored.
  std::shared_ptr<const Strategy> strategy = nullptr;
  // The resource whose objects these are in another version or group (events of both groups); nullptr: its
  // own.
  ResourcePtr stored_as = nullptr;
  // Where `message` and the message of its list are; nullptr: in the built-in schema.
  std::shared_ptr<const api::Schema> schema = nullptr;
  std::shared_ptr<const TablePrinter> printer = nullptr;  // nullptr: by kind, see table/table.h
  // Set by the registry: ends when the resource is no longer served. nullptr: built-in, always served.
  std::shared_ptr<Uptime> uptime = nullptr;
  std::uint64_t serial = 0;  // see NextResourceSerial(); set by the registry

  std::string GroupVersion() const;
  api::GroupResource Resource() const;
  api::GroupKind Kind() const;
  const api::Message& Schema() const;
  const api::Message& ListSchema() const;
  // The resource that owns the storage name: itself, or stored_as.
  const ResourceInfo& Stored() const { return stored_as == nullptr ? *this : *stored_as; }
  const SubresourceInfo* Subresource(std::string_view name) const;
  bool HasVerb(std::string_view verb) const;
};

// Unique in the process, so that it identifies an entry even after its memory is reused.
std::uint64_t NextResourceSerial();

struct GroupVersion {
  std::string_view group;
  std::string_view version;
};

// Immutable, and thread-safe as such. Returned pointers live as long as the table.
class ResourceTable {
 public:
  // The built-in resources alone: one table for all control planes of a process.
  static const std::shared_ptr<const ResourceTable>& BuiltIn();
  // The built-in resources and `added`: groups by name after the built-in ones, versions by Kubernetes'
  // order.
  static std::shared_ptr<const ResourceTable> Make(std::vector<ResourcePtr> added);
  ~ResourceTable();

  const ResourceInfo* Find(std::string_view group, std::string_view version, std::string_view plural) const;
  const ResourceInfo* FindKind(std::string_view group, std::string_view version, std::string_view kind) const;
  // The resource that owns a storage name.
  const ResourceInfo* FindStorage(std::string_view storage) const;
  // As `const ResourceInfo&`, in the order of discovery.
  auto all() const {
    return resources_ |
           std::views::transform([](const ResourcePtr& entry) -> const ResourceInfo& { return *entry; });
  }
  // Those beyond the built-in ones.
  std::span<const ResourcePtr> added() const { return std::span(resources_).subspan(built_in_); }
  // In the order of discovery: core first, then by Kubernetes' group priority.
  std::span<const GroupVersion> group_versions() const { return group_versions_; }
  bool HasGroup(std::string_view group) const;
  bool HasGroupVersion(std::string_view group, std::string_view version) const;
  // Documents of this table, made on first use.
  const OpenApiDocuments& openapi() const { return *openapi_; }

 private:
  using Name =
      std::tuple<std::string_view, std::string_view, std::string_view>;  // plural or kind comes first

  explicit ResourceTable(std::vector<ResourcePtr> resources, std::size_t built_in);

  std::vector<ResourcePtr> resources_;
  std::size_t built_in_;
  std::vector<GroupVersion> group_versions_;
  std::map<Name, const ResourceInfo*> by_plural_;
  std::map<Name, const ResourceInfo*> by_kind_;
  std::map<std::string_view, const ResourceInfo*> by_storage_;
  std::unique_ptr<OpenApiDocuments> openapi_;
};

}  // namespace terrarium::apiserver

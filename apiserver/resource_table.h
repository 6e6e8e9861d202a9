#pragma once

// The one list of what the API serves. Routing, discovery, storage names, OpenAPI paths and watches read only this.

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/errors.h"
#include "api/schema/schema.h"
#include "apiserver/strategy.h"

namespace terrarium::apiserver {

struct SubresourceInfo {
  std::string_view name;     // "status", "scale", ...
  std::string_view group;    // of the kind it speaks, where that is not the parent's ("autoscaling" for scale)
  std::string_view version;
  std::string_view kind;
  std::vector<std::string_view> verbs;  // as discovery lists them
};

struct ResourceInfo {
  std::string_view group;
  std::string_view version;
  std::string_view kind;
  std::string_view plural;
  std::string_view singular;
  bool namespaced = true;
  std::vector<std::string_view> short_names;
  std::vector<std::string_view> categories;
  std::vector<std::string_view> verbs;  // as discovery lists them; empty verbs beyond create for reviews
  std::vector<SubresourceInfo> subresources;
  std::string_view message;             // schema name of the kind
  std::string_view storage;             // storage name; events of both groups share one
  const Strategy* strategy = nullptr;   // nullptr for virtual kinds (reviews), which are answered and never stored

  std::string GroupVersion() const;
  api::GroupResource Resource() const;
  api::GroupKind Kind() const;
  const api::Message& Schema() const;
  const SubresourceInfo* Subresource(std::string_view name) const;
  bool HasVerb(std::string_view verb) const;
};

struct GroupVersion {
  std::string_view group;
  std::string_view version;
};

class ResourceTable {
 public:
  static const ResourceTable& Get();
  const ResourceInfo* Find(std::string_view group, std::string_view version, std::string_view plural) const;
  const ResourceInfo* FindKind(std::string_view group, std::string_view version, std::string_view kind) const;
  // The resource that owns a storage name (for header derivation at load).
  const ResourceInfo* FindStorage(std::string_view storage) const;
  std::span<const ResourceInfo> all() const { return resources_; }
  // In the order of discovery: core first, then by Kubernetes' group priority.
  std::span<const GroupVersion> group_versions() const { return group_versions_; }
  bool HasGroup(std::string_view group) const;

 private:
  ResourceTable();
  std::vector<ResourceInfo> resources_;
  std::vector<GroupVersion> group_versions_;
};

}  // namespace terrarium::apiserver

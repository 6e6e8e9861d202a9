#include "apiserver/discovery.h"

#include <algorithm>
#include <cstdint>
#include <cstdio>

namespace terrarium::apiserver {
namespace {

using api::Json;

#if defined(__aarch64__)
constexpr std::string_view kPlatform = "linux/arm64";
#else
constexpr std::string_view kPlatform = "linux/amd64";
#endif

std::string JoinGroupVersion(const GroupVersion& gv) {
  return gv.group.empty() ? std::string(gv.version) : std::string(gv.group).append("/").append(gv.version);
}

// Versions of a group as the table orders them; the first is the preferred one.
Json GroupDocument(const ResourceTable& table, std::string_view group) {
  Json versions = Json::array();
  for (const GroupVersion& gv : table.group_versions())
    if (gv.group == group)
      versions.push_back({{"groupVersion", JoinGroupVersion(gv)}, {"version", gv.version}});
  Json preferred = versions.front();
  return {{"name", group}, {"versions", std::move(versions)}, {"preferredVersion", std::move(preferred)}};
}

void AddUnlessEmpty(Json& object, const char* key, const std::vector<std::string>& list) {
  if (!list.empty()) object[key] = list;
}

Json LegacyResource(const ResourceInfo& resource) {
  Json out = {{"name", resource.plural},
              {"singularName", resource.singular},
              {"namespaced", resource.namespaced},
              {"kind", resource.kind},
              {"verbs", resource.verbs}};
  AddUnlessEmpty(out, "shortNames", resource.short_names);
  AddUnlessEmpty(out, "categories", resource.categories);
  return out;
}

Json LegacySubresource(const ResourceInfo& resource, const SubresourceInfo& subresource) {
  Json out = {{"name", std::string(resource.plural).append("/").append(subresource.name)},
              {"singularName", ""},
              {"namespaced", resource.namespaced},
              {"kind", subresource.kind},
              {"verbs", subresource.verbs}};
  if (!subresource.group.empty()) out["group"] = subresource.group;
  if (!subresource.version.empty()) out["version"] = subresource.version;
  return out;
}

// Group and version are empty if they equal the group and version of the document.
Json ResponseKind(std::string_view group, std::string_view version, std::string_view kind) {
  return {{"group", group}, {"version", version}, {"kind", kind}};
}

Json AggregatedResource(const ResourceInfo& resource) {
  Json out = {{"resource", resource.plural},
              {"responseKind", ResponseKind("", "", resource.kind)},
              {"scope", resource.namespaced ? "Namespaced" : "Cluster"},
              {"singularResource", resource.singular},
              {"verbs", resource.verbs}};
  AddUnlessEmpty(out, "shortNames", resource.short_names);
  AddUnlessEmpty(out, "categories", resource.categories);
  Json subresources = Json::array();
  for (const SubresourceInfo& s : resource.subresources) {
    subresources.push_back({{"subresource", s.name},
                            {"responseKind", ResponseKind(s.group, s.version, s.kind)},
                            {"verbs", s.verbs}});
  }
  if (!subresources.empty()) out["subresources"] = std::move(subresources);
  return out;
}

Json AggregatedVersion(const ResourceTable& table, const GroupVersion& gv) {
  Json resources = Json::array();
  for (const ResourceInfo& r : table.all())
    if (r.group == gv.group && r.version == gv.version) resources.push_back(AggregatedResource(r));
  return {{"version", gv.version}, {"resources", std::move(resources)}, {"freshness", "Current"}};
}

// Calls `use` once per named group, in the order of discovery.
template <typename Use>
void ForEachNamedGroup(const ResourceTable& table, Use use) {
  std::string_view last;
  for (const GroupVersion& gv : table.group_versions()) {
    if (!gv.group.empty() && gv.group != last) use(gv.group);
    last = gv.group;
  }
}

Json AggregatedGroup(const ResourceTable& table, std::string_view group) {
  Json metadata = Json::object();
  if (!group.empty()) metadata["name"] = group;
  Json versions = Json::array();
  for (const GroupVersion& gv : table.group_versions())
    if (gv.group == group) versions.push_back(AggregatedVersion(table, gv));
  return {{"metadata", std::move(metadata)}, {"versions", std::move(versions)}};
}

}  // namespace

Json ApiVersionsDocument(std::string_view server_address) {
  Json address = {{"clientCIDR", "0.0.0.0/0"}, {"serverAddress", server_address}};
  return {{"kind", "APIVersions"},
          {"versions", Json::array({"v1"})},
          {"serverAddressByClientCIDRs", Json::array({std::move(address)})}};
}

Json ApiGroupListDocument(const ResourceTable& table) {
  Json groups = Json::array();
  ForEachNamedGroup(table, [&](std::string_view group) { groups.push_back(GroupDocument(table, group)); });
  return {{"kind", "APIGroupList"}, {"apiVersion", "v1"}, {"groups", std::move(groups)}};
}

std::optional<Json> ApiGroupDocument(const ResourceTable& table, std::string_view group) {
  if (group.empty() || !table.HasGroup(group)) return std::nullopt;
  Json out = GroupDocument(table, group);
  out["kind"] = "APIGroup";
  out["apiVersion"] = "v1";
  return out;
}

std::optional<Json> ApiResourceListDocument(const ResourceTable& table, std::string_view group,
                                            std::string_view version) {
  auto gv = std::find_if(table.group_versions().begin(), table.group_versions().end(),
                         [&](const GroupVersion& g) { return g.group == group && g.version == version; });
  if (gv == table.group_versions().end()) return std::nullopt;
  Json resources = Json::array();
  for (const ResourceInfo& r : table.all()) {
    if (r.group != group || r.version != version) continue;
    resources.push_back(LegacyResource(r));
    for (const SubresourceInfo& s : r.subresources) resources.push_back(LegacySubresource(r, s));
  }
  Json out = {{"kind", "APIResourceList"},
              {"groupVersion", JoinGroupVersion(*gv)},
              {"resources", std::move(resources)}};
  // The core group's list has never had an apiVersion.
  if (!group.empty()) out["apiVersion"] = "v1";
  return out;
}

Json AggregatedDiscoveryDocument(const ResourceTable& table, std::string_view version, bool core) {
  Json items = Json::array();
  if (core)
    items.push_back(AggregatedGroup(table, ""));
  else
    ForEachNamedGroup(table, [&](std::string_view group) { items.push_back(AggregatedGroup(table, group)); });
  return {{"kind", "APIGroupDiscoveryList"},
          {"apiVersion", std::string("apidiscovery.k8s.io/").append(version)},
          {"metadata", Json::object()},
          {"items", std::move(items)}};
}

Json VersionDocument() {
  // What follows the plus sign is build metadata: tools that compare versions (Helm's kubeVersion, kubectl's
  // skew check) pass over it, while a suffix with a dash would make it a pre-release, older than 1.36.4.
  return {{"major", "1"},
          {"minor", "36"},
          {"emulationMajor", "1"},
          {"emulationMinor", "36"},
          {"minCompatibilityMajor", "1"},
          {"minCompatibilityMinor", "35"},
          {"gitVersion", "v1.36.4+terrarium"},
          {"gitCommit", "0000000000000000000000000000000000000000"},
          {"gitTreeState", "clean"},
          {"buildDate", "1970-01-01T00:00:00Z"},
          {"goVersion", "none"},
          {"compiler", "g++"},
          {"platform", kPlatform}};
}

std::string DiscoveryEtag(const Json& document) {
  // 64-bit FNV-1a, twice with different starts: no secret is kept here, two documents only have to differ.
  constexpr std::uint64_t kPrime = 1099511628211ULL;
  std::uint64_t a = 14695981039346656037ULL;
  std::uint64_t b = 0x9E3779B97F4A7C15ULL;
  for (unsigned char c : document.dump()) {
    a = (a ^ c) * kPrime;
    b = (b ^ c) * kPrime;
  }
  char text[40];
  std::snprintf(text, sizeof text, "\"%016llX%016llX\"", static_cast<unsigned long long>(a),
                static_cast<unsigned long long>(b));
  return text;
}

}  // namespace terrarium::apiserver

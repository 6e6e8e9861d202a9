#include "apiserver/resources/internal/row.h"

#include <algorithm>
#include <cctype>
#include <memory>
#include <utility>

namespace terrarium::apiserver::resources {
namespace {

Names StoredVerbs(bool deletes_collections) {
  Names verbs = {"create", "delete"};
  if (deletes_collections) verbs.push_back("deletecollection");
  for (const char* verb : {"get", "list", "patch", "update", "watch"}) verbs.push_back(verb);
  return verbs;
}

// Built-in strategies live as long as the program, and nothing owns them.
std::shared_ptr<const Strategy> Static(const Strategy& strategy) {
  return {std::shared_ptr<const Strategy>(), &strategy};
}

std::string Lowercase(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return text;
}

}  // namespace

ResourceInfo Row(const Package& package, const char* kind, const char* plural, const Strategy& strategy,
                 RowOptions options) {
  std::vector<SubresourceInfo> subresources = std::move(options.subresources);
  if (options.status) subresources.push_back(Subresource("status", kind, {"get", "patch", "update"}));
  return {.group = package.group,
          .version = package.version,
          .kind = kind,
          .plural = plural,
          .singular = Lowercase(kind),
          .namespaced = options.namespaced,
          .short_names = std::move(options.short_names),
          .categories = std::move(options.categories),
          .verbs = StoredVerbs(options.deletes_collections),
          .subresources = std::move(subresources),
          .message = std::string(package.prefix) + kind,
          .storage = plural,
          .etcd_prefix = options.etcd_prefix,
          .strategy = Static(strategy)};
}

ResourceInfo VirtualRow(const Package& package, const char* kind, const char* plural, bool namespaced) {
  return {.group = package.group,
          .version = package.version,
          .kind = kind,
          .plural = plural,
          .singular = Lowercase(kind),
          .namespaced = namespaced,
          .verbs = {"create"},
          .message = std::string(package.prefix) + kind,
          .storage = ""};
}

ResourceInfo ComputedRow(const Package& package, const char* kind, const char* plural, bool namespaced) {
  ResourceInfo row = VirtualRow(package, kind, plural, namespaced);
  row.singular = "";
  row.verbs = {"get", "list"};
  return row;
}

SubresourceInfo Scale() {
  return {.name = "scale",
          .group = "autoscaling",
          .version = "v1",
          .kind = "Scale",
          .verbs = {"get", "patch", "update"}};
}

SubresourceInfo Subresource(const char* name, const char* kind, Names verbs) {
  return {.name = name, .group = "", .version = "", .kind = kind, .verbs = std::move(verbs)};
}

SubresourceInfo Connection(const char* name, const char* kind) {
  SubresourceInfo connection = Subresource(name, kind, {"create", "get"});
  connection.connects = true;
  return connection;
}

}  // namespace terrarium::apiserver::resources

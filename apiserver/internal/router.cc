#include "apiserver/internal/router.h"

#include <utility>

#include "apiserver/internal/options.h"

namespace terrarium::apiserver {
namespace {

// The parts of a path after its group and version.
struct ResourcePath {
  std::string_view group;
  std::string_view version;
  std::vector<std::string_view> rest;
};

// /api/v1/... and /apis/GROUP/VERSION/... of a group version that is served.
bool ParseGroupVersion(const ResourceTable& table, const std::vector<std::string_view>& parts,
                       ResourcePath* out) {
  std::size_t used = 0;
  if (parts.size() >= 3 && parts[0] == "api") {
    out->group = "";
    out->version = parts[1];
    used = 2;
  } else if (parts.size() >= 4 && parts[0] == "apis") {
    out->group = parts[1];
    out->version = parts[2];
    used = 3;
  } else {
    return false;
  }
  out->rest.assign(parts.begin() + static_cast<std::ptrdiff_t>(used), parts.end());
  return table.HasGroupVersion(out->group, out->version);
}

// The verb of a method on a collection or an object; false when there is none.
bool MethodVerb(const Request& request, bool has_name, bool legacy_watch, Verb* verb) {
  if (request.method == "GET") {
    if (legacy_watch || (!has_name && QueryBool(request, "watch").value_or(false)))
      *verb = Verb::kWatch;
    else
      *verb = has_name ? Verb::kGet : Verb::kList;
    return true;
  }
  if (request.method == "POST") return *verb = Verb::kCreate, true;
  if (request.method == "PUT") return *verb = Verb::kUpdate, has_name;
  if (request.method == "PATCH") return *verb = Verb::kPatch, has_name;
  if (request.method == "DELETE") return *verb = has_name ? Verb::kDelete : Verb::kDeleteCollection, true;
  return false;
}

bool Allowed(const Route& route, bool all_namespaces) {
  std::string_view verb = VerbName(route.verb);
  if (route.subresource != nullptr) {
    for (std::string_view v : route.subresource->verbs)
      if (v == verb) return true;
    return false;
  }
  if (!route.resource->HasVerb(verb)) return false;
  bool has_name = !route.name.empty();
  if (route.verb == Verb::kCreate) return !has_name && !all_namespaces;
  // Collections of all namespaces can be read, not deleted.
  return route.verb != Verb::kDeleteCollection || !all_namespaces;
}

}  // namespace

std::string_view VerbName(Verb verb) {
  switch (verb) {
    case Verb::kCreate: return "create";
    case Verb::kGet: return "get";
    case Verb::kList: return "list";
    case Verb::kWatch: return "watch";
    case Verb::kUpdate: return "update";
    case Verb::kPatch: return "patch";
    case Verb::kDelete: return "delete";
    case Verb::kDeleteCollection: return "deletecollection";
  }
  return "";
}

std::vector<std::string_view> SplitPath(std::string_view path) {
  std::vector<std::string_view> parts;
  while (!path.empty()) {
    if (path.front() == '/') {
      path.remove_prefix(1);
      continue;
    }
    std::size_t slash = path.find('/');
    parts.push_back(path.substr(0, slash));
    path = slash == std::string_view::npos ? std::string_view{} : path.substr(slash);
  }
  return parts;
}

Route FindRoute(const Request& request, std::shared_ptr<const ResourceTable> current) {
  Route route;
  route.table = std::move(current);
  const ResourceTable& table = *route.table;
  ResourcePath path;
  if (!ParseGroupVersion(table, SplitPath(request.path), &path)) return route;
  route.target = Route::Target::kUnknownResource;

  // The deprecated form /api/v1/watch/...
  bool legacy_watch = path.rest.size() >= 2 && path.rest[0] == "watch";
  if (legacy_watch) path.rest.erase(path.rest.begin());

  // namespaces/NS/RESOURCE...; namespaces/NAME[/status|/finalize] is the Namespace itself.
  bool in_namespace = false;
  if (path.rest.size() >= 3 && path.rest[0] == "namespaces") {
    const ResourceInfo* namespaces =
        path.group.empty() ? table.Find("", path.version, "namespaces") : nullptr;
    bool own_subresource =
        namespaces != nullptr && path.rest.size() == 3 && namespaces->Subresource(path.rest[2]) != nullptr;
    if (!own_subresource) {
      in_namespace = true;
      route.ns = path.rest[1];
      path.rest.erase(path.rest.begin(), path.rest.begin() + 2);
    }
  }
  if (path.rest.empty() || path.rest.size() > 3) return route;

  route.resource = table.Find(path.group, path.version, path.rest[0]);
  if (route.resource == nullptr || (in_namespace && !route.resource->namespaced)) return route;
  bool has_name = path.rest.size() >= 2;
  bool all_namespaces = route.resource->namespaced && !in_namespace;
  if (has_name && all_namespaces) return route;
  if (has_name) route.name = path.rest[1];
  if (path.rest.size() == 3) {
    route.subresource = route.resource->Subresource(path.rest[2]);
    if (route.subresource == nullptr) return route;
  }

  bool known = MethodVerb(request, has_name, legacy_watch, &route.verb);
  route.target =
      known && Allowed(route, all_namespaces) ? Route::Target::kResource : Route::Target::kMethodNotAllowed;
  return route;
}

}  // namespace terrarium::apiserver

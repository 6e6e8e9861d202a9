#include "apiserver/openapi/internal/operations.h"

#include <algorithm>
#include <cctype>
#include <utility>

#include "apiserver/openapi/internal/parameters.h"

namespace terrarium::apiserver::openapi {
namespace {

std::string Capital(std::string_view word) {
  std::string out(word);
  if (!out.empty()) out[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(out[0])));
  return out;
}

// "core" for the core group, "events" for events.k8s.io; "stableExampleCom" for a group that is not
// Kubernetes' own.
std::string Package(std::string_view group) {
  if (group.empty()) return "core";
  std::size_t dot = group.find('.');
  std::string out(group.substr(0, dot));
  if (group.ends_with(".k8s.io")) return out;
  while (dot != std::string_view::npos) {
    group.remove_prefix(dot + 1);
    dot = group.find('.');
    out += Capital(group.substr(0, dot));
  }
  return out;
}

std::string Prefix(std::string_view group, std::string_view version) {
  return group.empty() ? "api/" + std::string(version)
                       : "apis/" + std::string(group) + "/" + std::string(version);
}

std::string Meta(std::string_view kind) { return std::string(kMeta).append(kind); }

// The paths of one resource.
class ResourcePaths {
 public:
  explicit ResourcePaths(const ResourceInfo& resource)
      : r_(resource), document_(Prefix(r_.group, r_.version)) {}

  std::vector<PathItem> Build() {
    std::string scope = r_.namespaced ? "/namespaces/{namespace}" : "";
    Add(Root() + scope + "/" + std::string(r_.plural), CollectionOperations());
    if (r_.namespaced && r_.HasVerb("list")) Add(Root() + "/" + std::string(r_.plural), {List(true)});
    std::string object = Root() + scope + "/" + std::string(r_.plural) + "/{name}";
    Add(object, ObjectOperations());
    for (const SubresourceInfo& sub : r_.subresources)
      Add(object + "/" + std::string(sub.name), SubresourceOperations(sub));
    return std::move(paths_);
  }

 private:
  std::string Root() const { return "/" + document_; }

  void Add(std::string path, std::vector<Operation> operations) {
    if (operations.empty()) return;
    PathItem item{.path = std::move(path),
                  .document = document_,
                  .tag = Package(r_.group) + "_" + std::string(r_.version),
                  .in_path = {},
                  .operations = std::move(operations)};
    if (item.path.find("{name}") != std::string::npos) item.in_path.push_back(NameParameter());
    if (item.path.find("{namespace}") != std::string::npos) item.in_path.push_back(NamespaceParameter());
    paths_.push_back(std::move(item));
  }

  // "createAppsV1NamespacedDeployment", "replaceAppsV1NamespacedDeploymentScale"
  std::string Id(std::string_view verb, std::string_view before = "", std::string_view after = "") const {
    std::string group_version = Capital(Package(r_.group)) + Capital(r_.version);
    return std::string(verb) + group_version + std::string(before) + (r_.namespaced ? "Namespaced" : "") +
           std::string(r_.kind) + std::string(after);
  }

  Gvk OwnGvk() const { return {std::string(r_.group), std::string(r_.version), std::string(r_.kind)}; }

  Operation List(bool all_namespaces) const {
    std::string id = all_namespaces ? "list" + Capital(Package(r_.group)) + Capital(r_.version) +
                                          std::string(r_.kind) + "ForAllNamespaces"
                                    : Id("list");
    return {.method = "get",
            .id = std::move(id),
            .action = "list",
            .description = "list or watch objects of kind " + std::string(r_.kind),
            .gvk = OwnGvk(),
            .query = ListParameters(),
            .body = Body::kNone,
            .body_schema = {},
            .codes = {200},
            .results = {std::string(r_.message) + "List"},
            .streams = true};
  }

  Operation Make(std::string_view method, std::string id, std::string action, std::string description,
                 std::vector<Parameter> query, std::vector<int> codes) const {
    return {.method = method,
            .id = std::move(id),
            .action = std::move(action),
            .description = std::move(description),
            .gvk = OwnGvk(),
            .query = std::move(query),
            .body = Body::kNone,
            .body_schema = {},
            .codes = std::move(codes),
            .results = {std::string(r_.message)}};
  }

  Operation WithObject(Operation operation) const {
    operation.body = Body::kObject;
    operation.body_schema = operation.results.front();
    return operation;
  }

  std::vector<Operation> CollectionOperations() const {
    std::vector<Operation> out;
    std::string kind(r_.kind);
    if (r_.HasVerb("list")) out.push_back(List(false));
    if (r_.HasVerb("create"))
      out.push_back(WithObject(
          Make("post", Id("create"), "post", "create one " + kind, WriteParameters(), {200, 201, 202})));
    if (r_.HasVerb("deletecollection")) {
      out.push_back(Make("delete", Id("delete", "Collection"), "deletecollection",
                         "delete every " + kind + " that is selected", DeleteCollectionParameters(), {200}));
      out.back().body = Body::kDeleteOptions;
      out.back().results = {Meta("Status"), std::string(r_.message) + "List"};
    }
    return out;
  }

  std::vector<Operation> ObjectOperations() const {
    std::vector<Operation> out;
    std::string kind(r_.kind);
    if (r_.HasVerb("get"))
      out.push_back(Make("get", Id("read"), "get", "read one " + kind, ReadParameters(), {200}));
    if (r_.HasVerb("update"))
      out.push_back(WithObject(
          Make("put", Id("replace"), "put", "replace one " + kind, WriteParameters(), {200, 201})));
    if (r_.HasVerb("patch")) {
      out.push_back(
          Make("patch", Id("patch"), "patch", "change parts of one " + kind, PatchParameters(), {200, 201}));
      out.back().body = Body::kPatch;
    }
    if (r_.HasVerb("delete")) {
      out.push_back(
          Make("delete", Id("delete"), "delete", "delete one " + kind, DeleteParameters(), {200, 202}));
      out.back().body = Body::kDeleteOptions;
      out.back().results = {Meta("Status"), std::string(r_.message)};
    }
    return out;
  }

  std::vector<Operation> SubresourceOperations(const SubresourceInfo& sub) const {
    const Gvk gvk = {std::string(sub.version.empty() ? r_.group : sub.group),
                     std::string(sub.version.empty() ? r_.version : sub.version), std::string(sub.kind)};
    // A subresource that answers with its parent's kind (status) has the parent's schema, whatever its name.
    const bool is_parent = sub.version.empty() && sub.kind == r_.kind;
    const std::string schema = is_parent ? r_.message : SchemaName(gvk.group, gvk.version, gvk.kind);
    const std::string what = std::string(sub.name) + " of one " + std::string(r_.kind);
    const std::string after = Capital(sub.name);
    std::vector<Operation> out;
    if (sub.connects) {
      for (std::string_view method : {"get", "post"})
        out.push_back({.method = method,
                       .id = Id("connect", Capital(method), after),
                       .action = "connect",
                       .description = "connect to " + what,
                       .gvk = gvk,
                       .query = ConnectParameters(sub.name),
                       .body = Body::kNone,
                       .body_schema = {},
                       .codes = {200},
                       .results = {},
                       .plain_text = true});
      return out;
    }
    for (std::string_view verb : sub.verbs) {
      if (verb == "get")
        out.push_back(Make("get", Id("read", "", after), "get", "read " + what, ReadParameters(), {200}));
      if (verb == "update")
        out.push_back(
            Make("put", Id("replace", "", after), "put", "replace " + what, WriteParameters(), {200, 201}));
      if (verb == "patch")
        out.push_back(Make("patch", Id("patch", "", after), "patch", "change parts of the " + what,
                           PatchParameters(), {200, 201}));
      if (verb == "create")
        out.push_back(Make("post", Id("create", "", after), "post", "create " + what, WriteParameters(),
                           {200, 201, 202}));
      Operation& operation = out.back();
      operation.gvk = gvk;
      operation.results = {schema};
      if (verb == "update" || verb == "create") operation = WithObject(std::move(operation));
      if (verb == "patch") operation.body = Body::kPatch;
      // A binding or an eviction that was accepted is answered with a Status.
      if (verb == "create") operation.results.push_back(Meta("Status"));
      if (sub.name == "log") {
        operation.plain_text = true;
        operation.query = LogParameters();
      }
    }
    return out;
  }

  const ResourceInfo& r_;
  std::string document_;
  std::vector<PathItem> paths_;
};

PathItem Discovery(std::string document, std::string tag, std::string id, std::string description,
                   std::string result) {
  Operation operation{.method = "get",
                      .id = std::move(id),
                      .action = {},
                      .description = std::move(description),
                      .gvk = std::nullopt,
                      .query = {},
                      .body = Body::kNone,
                      .body_schema = {},
                      .codes = {200},
                      .results = {std::move(result)}};
  return {.path = "/" + document + "/",
          .document = document,
          .tag = std::move(tag),
          .in_path = {},
          .operations = {std::move(operation)}};
}

}  // namespace

std::string SchemaName(std::string_view group, std::string_view version, std::string_view kind) {
  return "io.k8s.api." + Package(group) + "." + std::string(version) + "." + std::string(kind);
}

std::string DocumentOf(const ResourceInfo& resource) { return Prefix(resource.group, resource.version); }

std::vector<PathItem> AllPaths(const ResourceTable& table) {
  std::vector<PathItem> out;
  out.push_back(Discovery("api", "core", "getCoreAPIVersions", "list the versions of the core group",
                          Meta("APIVersions")));
  out.push_back(Discovery("apis", "apis", "getAPIVersions", "list the API groups", Meta("APIGroupList")));
  out.push_back(Discovery("version", "version", "getCodeVersion", "get the version of this server",
                          "io.k8s.apimachinery.pkg.version.Info"));
  std::string_view last_group;
  for (const GroupVersion& gv : table.group_versions()) {
    std::string package = Package(gv.group);
    if (!gv.group.empty() && std::exchange(last_group, gv.group) != gv.group)
      out.push_back(Discovery("apis/" + std::string(gv.group), package, "get" + Capital(package) + "APIGroup",
                              "describe the group", Meta("APIGroup")));
    out.push_back(Discovery(Prefix(gv.group, gv.version), package + "_" + std::string(gv.version),
                            "get" + Capital(package) + Capital(gv.version) + "APIResources",
                            "list the resources of the group", Meta("APIResourceList")));
  }
  for (const ResourceInfo& resource : table.all())
    for (PathItem& item : ResourcePaths(resource).Build()) out.push_back(std::move(item));
  std::sort(out.begin(), out.end(), [](const PathItem& a, const PathItem& b) { return a.path < b.path; });
  return out;
}

}  // namespace terrarium::apiserver::openapi

#include "testbed/embedding/manifests.h"

#include <utility>

#include "api/base/errors.h"
#include "api/codec/decode.h"
#include "api/codec/yaml.h"
#include "api/json_access.h"
#include "api/patch/three_way.h"
#include "apiserver/resource_table.h"

namespace terrarium::testbed {
namespace {

using api::Json;
using api::Result;
using api::Status;
using api::StringAt;
using apiserver::Request;
using apiserver::ResourceInfo;
using apiserver::ResourceTable;
using apiserver::Response;

constexpr const char* kLastApplied = "kubectl.kubernetes.io/last-applied-configuration";

// Splits "apps/v1" into group and version. The group of "v1" is empty: the core group.
std::pair<std::string_view, std::string_view> SplitApiVersion(std::string_view api_version) {
  std::size_t slash = api_version.find('/');
  if (slash == std::string_view::npos) return {"", api_version};
  return {api_version.substr(0, slash), api_version.substr(slash + 1)};
}

// Like kubectl, treats every kind that ends in List and has items as a list.
bool IsList(const Json& object) {
  const Json* items = api::Find(object, "items");
  return items != nullptr && items->is_array() && StringAt(object, "kind").ends_with("List");
}

// An item of a PodList may omit kind and apiVersion.
void TakeTypeFromList(const Json& list, Json& item) {
  std::string kind(StringAt(list, "kind"));
  kind.resize(kind.size() - std::string_view("List").size());
  if (kind.empty() || !item.is_object() || item.contains("kind")) return;
  item["kind"] = kind;
  item["apiVersion"] = StringAt(list, "apiVersion");
}

Result<const ResourceInfo*> ResourceOf(const Json& object, const ResourceTable& served) {
  std::string kind(StringAt(object, "kind"));
  std::string api_version(StringAt(object, "apiVersion"));
  if (kind.empty()) return api::BadRequest("Object 'Kind' is missing in '" + object.dump() + "'");
  if (api_version.empty())
    return api::BadRequest("Object 'apiVersion' is missing in '" + object.dump() + "'");
  auto [group, version] = SplitApiVersion(api_version);
  const ResourceInfo* resource = served.FindKind(group, version, kind);
  if (resource == nullptr) {
    Status none = api::UnknownResource();
    none.message = "no matches for kind " + api::Quote(kind) + " in version " + api::Quote(api_version);
    return none;
  }
  return resource;
}

// Sends requests about one object.
class Target {
 public:
  Target(const ResourceInfo& resource, api::ObjectName name, const ServeNow& serve)
      : resource_(resource), name_(std::move(name)), serve_(serve) {}

  Response Get() const { return Send("GET", "/" + name_.name, "", nullptr); }
  Response Create(const Json& object) const { return Send("POST", "", "application/json", &object); }
  Response Patch(const Json& patch) const {
    return Send("PATCH", "/" + name_.name, "application/strategic-merge-patch+json", &patch);
  }

 private:
  Response Send(const char* method, const std::string& rest, const char* content_type,
                const Json* body) const {
    Request request;
    request.method = method;
    request.path = (resource_.group.empty() ? "/api/" : "/apis/") + resource_.GroupVersion();
    if (resource_.namespaced) request.path += "/namespaces/" + name_.ns;
    request.path += "/" + std::string(resource_.plural) + rest;
    request.content_type = content_type;
    request.accept = "application/json";
    request.user_agent = "terrarium-apply";
    if (body != nullptr) {
      request.query = {{"fieldManager", "kubectl-client-side-apply"}, {"fieldValidation", "Strict"}};
      request.body = body->dump();
    }
    return serve_(std::move(request));
  }

  const ResourceInfo& resource_;
  api::ObjectName name_;
  const ServeNow& serve_;
};

// Escapes <, > and & as Go's JSON encoder does.
std::string GoJson(const Json& value) {
  std::string out;
  for (char c : value.dump()) {
    if (c == '<')
      out += "\\u003c";
    else if (c == '>')
      out += "\\u003e";
    else if (c == '&')
      out += "\\u0026";
    else
      out += c;
  }
  return out;
}

// Adds the last-applied annotation, which holds the object itself.
Json Annotated(Json object) {
  Json& annotations = object["metadata"]["annotations"];
  if (!annotations.is_object()) annotations = Json::object();
  annotations.erase(kLastApplied);
  std::string text = GoJson(object) + "\n";
  object["metadata"]["annotations"][kLastApplied] = std::move(text);
  return object;
}

// The last applied state. Empty if the annotation is absent or not an object.
Json LastApplied(const Json& current) {
  std::string text(StringAt(current, "metadata", "annotations", kLastApplied));
  Json last = text.empty() ? Json::object() : api::DecodeJson(text, {.strict = false}).object;
  return last.is_object() ? last : Json::object();
}

Result<api::ObjectName> NameOf(const Json& object, const ResourceInfo& resource,
                               const ApplyOptions& options) {
  api::ObjectName name{std::string(StringAt(object, "metadata", "namespace")),
                       std::string(StringAt(object, "metadata", "name"))};
  std::string_view generated = StringAt(object, "metadata", "generateName");
  if (name.name.empty() && !generated.empty())
    return api::BadRequest("from " + std::string(generated) + ": cannot use generate name with apply");
  // The apiserver rejects a name that is not a string.
  const Json* named = api::Find(object, "metadata", "name");
  if (name.name.empty() && (named == nullptr || named->is_string()))
    return api::BadRequest("resource name may not be empty");
  if (resource.namespaced && name.ns.empty()) name.ns = options.ns;
  if (!resource.namespaced) name.ns.clear();
  return name;
}

}  // namespace

Status StatusOf(const Response& response) {
  Json body = Json::parse(response.body, nullptr, /*allow_exceptions=*/false);
  Status status;
  status.code = response.code;
  if (StringAt(body, "kind") != "Status") {
    status.message = response.body;
    return status;
  }
  status.reason = StringAt(body, "reason");
  status.message = StringAt(body, "message");
  if (const Json* from = api::Find(body, "details")) {
    api::StatusDetails details;
    details.name = StringAt(*from, "name");
    details.group = StringAt(*from, "group");
    details.kind = StringAt(*from, "kind");
    details.uid = StringAt(*from, "uid");
    for (const Json& cause : api::ListAt(*from, "causes"))
      details.causes.push_back({std::string(StringAt(cause, "reason")),
                                std::string(StringAt(cause, "message")),
                                std::string(StringAt(cause, "field"))});
    details.retry_after_seconds = static_cast<int>(api::IntAt(*from, 0, "retryAfterSeconds"));
    status.details = std::move(details);
  }
  return status;
}

std::string Manifest::String() const {
  std::string out = "document " + std::to_string(document) + ", line " + std::to_string(line);
  if (item > 0) out += ", item " + std::to_string(item);
  std::string kind(StringAt(object, "kind"));
  api::ObjectName name{std::string(StringAt(object, "metadata", "namespace")),
                       std::string(StringAt(object, "metadata", "name"))};
  if (kind.empty() && name.name.empty()) return out;
  return out + " (" + kind + (kind.empty() || name.name.empty() ? "" : " ") + name.String() + ")";
}

std::string Applied::String() const {
  constexpr const char* kWords[] = {"created", "configured", "unchanged"};
  return api::GroupResource{group, singular}.String() + "/" + name.name + " " +
         kWords[static_cast<int>(action)];
}

std::string ApplyFailure::String() const {
  return manifest.empty() ? status.message : manifest + ": " + status.message;
}

std::string ApplyReport::String() const {
  std::string out;
  for (const Applied& one : applied) out += one.String() + "\n";
  for (const ApplyFailure& failure : failures) out += failure.String() + "\n";
  return out;
}

Result<std::vector<Manifest>> ReadManifests(std::string_view text) {
  std::string error;
  auto documents = api::ParseYamlStream(text, &error);
  if (!documents) return api::BadRequest("error converting YAML to JSON: " + error);
  std::vector<Manifest> out;
  int number = 0;
  for (api::YamlDocument& document : *documents) {
    Manifest manifest{std::move(document.value), ++number, document.line, 0};
    if (!document.strict_errors.empty())
      return api::BadRequest(manifest.String() +
                             ": strict decoding error: " + document.strict_errors.front());
    if (!manifest.object.is_object()) return api::BadRequest(manifest.String() + ": not an object");
    if (!IsList(manifest.object)) {
      out.push_back(std::move(manifest));
      continue;
    }
    int count = 0;
    for (Json& item : manifest.object["items"]) {
      TakeTypeFromList(manifest.object, item);
      Manifest one{item, number, document.line, ++count};
      if (!item.is_object()) return api::BadRequest(one.String() + ": not an object");
      out.push_back(std::move(one));
    }
  }
  return out;
}

Result<Applied> ApplyManifest(const Json& object, const ApplyOptions& options, const ResourceTable& served,
                              const ServeNow& serve) {
  auto resource = ResourceOf(object, served);
  if (!resource) return resource.status();
  if (const Json* metadata = api::Find(object, "metadata"); metadata != nullptr && !metadata->is_object())
    return api::BadRequest("metadata is not an object");
  auto name = NameOf(object, **resource, options);
  if (!name) return name.status();
  Json wanted = object;
  const Json* ns = api::Find(object, "metadata", "namespace");
  if ((*resource)->namespaced && (ns == nullptr || *ns == "")) wanted["metadata"]["namespace"] = name->ns;
  wanted = Annotated(std::move(wanted));

  Applied applied{Applied::Action::kCreated,
                  std::string((*resource)->plural),
                  std::string((*resource)->group),
                  std::string((*resource)->singular),
                  *name,
                  {}};
  Target target(**resource, *name, serve);
  Response written;
  Response found;
  if (!name->name.empty()) found = target.Get();
  if (name->name.empty() || found.code == 404) {
    written = target.Create(wanted);
  } else if (found.code >= 400) {
    return StatusOf(found);
  } else {
    Json current = Json::parse(found.body);
    Json last = LastApplied(current);
    Json patch = api::ThreeWayPatch({last, wanted, current}, (*resource)->Schema());
    applied.action = Applied::Action::kUnchanged;
    if (patch.empty()) return applied;
    written = target.Patch(patch);
    if (written.code < 400 && StringAt(Json::parse(written.body), "metadata", "resourceVersion") !=
                                  StringAt(current, "metadata", "resourceVersion"))
      applied.action = Applied::Action::kConfigured;
  }
  if (written.code >= 400) return StatusOf(written);
  applied.warnings = std::move(written.warnings);
  return applied;
}

ApplyReport ApplyManifests(std::string_view text, const ApplyOptions& options, const ResourceTable& served,
                           const ServeNow& serve) {
  ApplyReport report;
  auto manifests = ReadManifests(text);
  if (!manifests) {
    report.failures.push_back({"", manifests.status()});
    return report;
  }
  for (const Manifest& manifest : *manifests) {
    auto applied = ApplyManifest(manifest.object, options, served, serve);
    if (applied)
      report.applied.push_back(std::move(*applied));
    else
      report.failures.push_back({manifest.String(), applied.status()});
  }
  return report;
}

}  // namespace terrarium::testbed

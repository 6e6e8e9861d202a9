#pragma once

// The paths of the API and their operations, derived from the resource table, independent of the OpenAPI
// version.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "apiserver/resource_table.h"

namespace terrarium::apiserver::openapi {

struct Gvk {
  std::string group;
  std::string version;
  std::string kind;
};

struct Parameter {
  std::string_view name;
  std::string_view type;  // "string", "integer" or "boolean"
  std::string_view description;
};

enum class Body { kNone, kObject, kPatch, kDeleteOptions };

struct Operation {
  std::string_view method;  // "get", "put", ...
  std::string id;
  std::string action;  // x-kubernetes-action; empty for discovery
  std::string description;
  std::optional<Gvk> gvk;
  std::vector<Parameter> query;
  Body body = Body::kNone;
  std::string body_schema;           // for Body::kObject
  std::vector<int> codes;            // of success
  std::vector<std::string> results;  // schema names of a successful response. v2 names the first only.
  bool streams = false;              // can be watched
  bool plain_text = false;           // responds with text (logs)
};

struct PathItem {
  std::string path;
  std::string document;            // v3 document that holds it, e.g. "apis/apps/v1"
  std::string tag;                 // "apps_v1"
  std::vector<Parameter> in_path;  // parameters of the path itself
  std::vector<Operation> operations;
};

std::vector<PathItem> AllPaths(const ResourceTable& table);

// The name of the v3 document that describes a resource: "apis/apps/v1".
std::string DocumentOf(const ResourceInfo& resource);

// The schema name of a kind: "io.k8s.api.apps.v1.Deployment". The group's first label names the package.
std::string SchemaName(std::string_view group, std::string_view version, std::string_view kind);

inline constexpr std::string_view kMeta = "io.k8s.apimachinery.pkg.apis.meta.v1.";

}  // namespace terrarium::apiserver::openapi

#include <utility>

#include "apiserver/openapi/internal/definitions.h"
#include "apiserver/openapi/internal/render.h"
#include "apiserver/openapi/internal/well_known.h"

namespace terrarium::apiserver::openapi {
namespace {

using api::Json;

Json MediaTypes(const Operation& operation) {
  Json out = {"application/json", "application/yaml", "application/vnd.kubernetes.protobuf"};
  if (operation.streams) {
    out.push_back("application/json;stream=watch");
    out.push_back("application/vnd.kubernetes.protobuf;stream=watch");
  }
  if (operation.plain_text) out.insert(out.begin(), "text/plain");
  return out;
}

Json BodyMediaTypes(const Operation& operation) {
  if (operation.body != Body::kPatch)
    return {"application/json", "application/yaml", "application/vnd.kubernetes.protobuf"};
  return {"application/json-patch+json", "application/merge-patch+json",
          "application/strategic-merge-patch+json", "application/apply-patch+yaml"};
}

Json ParameterJson(const Parameter& parameter, bool in_path) {
  Json out = {{"name", parameter.name},
              {"in", in_path ? "path" : "query"},
              {"type", parameter.type},
              {"description", parameter.description}};
  if (in_path) out["required"] = true;
  return out;
}

Json BodyJson(const Operation& operation, Definitions& definitions) {
  Json out = {{"name", "body"}, {"in", "body"}};
  switch (operation.body) {
    case Body::kDeleteOptions: out["schema"] = definitions.Ref(std::string(kMeta) + "DeleteOptions"); break;
    case Body::kPatch: out["schema"] = definitions.Ref(kPatch); break;
    default: out["schema"] = definitions.Ref(operation.body_schema);
  }
  if (operation.body != Body::kDeleteOptions) out["required"] = true;
  return out;
}

Json OperationJson(const PathItem& item, const Operation& operation, Definitions& definitions) {
  Json out = {{"operationId", operation.id},
              {"description", operation.description},
              {"tags", {item.tag}},
              {"schemes", {"https", "http"}},
              {"produces", MediaTypes(operation)},
              {"consumes", BodyMediaTypes(operation)}};
  Json parameters = Json::array();
  if (operation.body != Body::kNone) parameters.push_back(BodyJson(operation, definitions));
  for (const Parameter& parameter : operation.query) parameters.push_back(ParameterJson(parameter, false));
  if (!parameters.empty()) out["parameters"] = std::move(parameters);

  const Json schema =
      operation.plain_text ? Json{{"type", "string"}} : definitions.Ref(operation.results.front());
  for (int code : operation.codes)
    out["responses"][std::to_string(code)] = {{"description", CodeText(code)}, {"schema", schema}};
  out["responses"]["401"] = {{"description", "Unauthorized"}};
  out["responses"]["default"] = {{"description", "What went wrong."},
                                 {"schema", definitions.Ref(std::string(kMeta) + "Status")}};
  if (!operation.action.empty()) out["x-kubernetes-action"] = operation.action;
  if (operation.gvk) out["x-kubernetes-group-version-kind"] = GvkJson(*operation.gvk);
  return out;
}

}  // namespace

std::string CodeText(int code) { return code == 200 ? "OK" : code == 201 ? "Created" : "Accepted"; }

Json Info() { return {{"title", "Kubernetes"}, {"version", "v1.36.0"}}; }

Json RenderV2(const std::vector<PathItem>& paths, const ResourceTable& table) {
  Definitions definitions(Dialect::kV2, table);
  definitions.Ref(std::string(kMeta) + "WatchEvent");  // sent by watches, which version 2 cannot describe
  Json out = {{"swagger", "2.0"}, {"info", Info()}};
  for (const PathItem& item : paths) {
    Json& path = out["paths"][item.path];
    for (const Operation& operation : item.operations)
      path[std::string(operation.method)] = OperationJson(item, operation, definitions);
    for (const Parameter& parameter : item.in_path)
      path["parameters"].push_back(ParameterJson(parameter, true));
  }
  out["definitions"] = definitions.Take();
  return out;
}

}  // namespace terrarium::apiserver::openapi

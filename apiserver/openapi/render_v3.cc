#include <utility>

#include "apiserver/openapi/internal/definitions.h"
#include "apiserver/openapi/internal/render.h"
#include "apiserver/openapi/internal/well_known.h"

namespace terrarium::apiserver::openapi {
namespace {

using api::Json;

Json ParameterJson(const Parameter& parameter, bool in_path) {
  Json out = {{"name", parameter.name},
              {"in", in_path ? "path" : "query"},
              {"description", parameter.description},
              {"schema", {{"type", parameter.type}}}};
  if (in_path) out["required"] = true;
  return out;
}

Json Content(const std::initializer_list<const char*>& media_types, const Json& schema) {
  Json out = Json::object();
  for (const char* media_type : media_types) out[media_type] = {{"schema", schema}};
  return out;
}

Json BodyJson(const Operation& operation, Definitions& definitions) {
  if (operation.body == Body::kPatch) {
    Json content = Content({"application/merge-patch+json", "application/strategic-merge-patch+json",
                            "application/apply-patch+yaml"},
                           definitions.Ref(kPatch));
    content["application/json-patch+json"] = {{"schema", JsonPatchSchema()}};
    return {{"content", std::move(content)}, {"required", true}};
  }
  const bool optional = operation.body == Body::kDeleteOptions;
  Json schema = definitions.Ref(optional ? std::string(kMeta) + "DeleteOptions" : operation.body_schema);
  Json out = {{"content", Content({"application/json", "application/yaml"}, schema)}};
  if (!optional) out["required"] = true;
  return out;
}

Json ResultContent(const Operation& operation, Definitions& definitions) {
  if (operation.plain_text) return Content({"text/plain"}, {{"type", "string"}});
  Json schema;
  if (operation.results.size() == 1) {
    schema = definitions.Ref(operation.results.front());
  } else {
    for (const std::string& name : operation.results) schema["anyOf"].push_back(definitions.Ref(name));
  }
  Json out = Content({"application/json", "application/yaml", "application/vnd.kubernetes.protobuf"}, schema);
  if (operation.streams) {
    out.update(Content({"application/json;stream=watch", "application/vnd.kubernetes.protobuf;stream=watch"},
                       definitions.Ref(std::string(kMeta) + "WatchEvent")));
  }
  return out;
}

Json OperationJson(const PathItem& item, const Operation& operation, Definitions& definitions) {
  Json out = {{"operationId", operation.id}, {"description", operation.description}, {"tags", {item.tag}}};
  for (const Parameter& parameter : operation.query)
    out["parameters"].push_back(ParameterJson(parameter, false));
  if (operation.body != Body::kNone) out["requestBody"] = BodyJson(operation, definitions);
  const Json content = ResultContent(operation, definitions);
  for (int code : operation.codes)
    out["responses"][std::to_string(code)] = {{"description", CodeText(code)}, {"content", content}};
  const Json status = Content({"application/json", "application/yaml", "application/vnd.kubernetes.protobuf"},
                              definitions.Ref(std::string(kMeta) + "Status"));
  out["responses"]["401"] = {{"description", "Unauthorized"}, {"content", status}};
  out["responses"]["default"] = {{"description", "What went wrong."}, {"content", status}};
  if (!operation.action.empty()) out["x-kubernetes-action"] = operation.action;
  if (operation.gvk) out["x-kubernetes-group-version-kind"] = GvkJson(*operation.gvk);
  return out;
}

}  // namespace

Json RenderV3(const std::string& document, const std::vector<PathItem>& paths, const ResourceTable& table) {
  Definitions definitions(Dialect::kV3, table);
  Json out = {{"openapi", "3.0.0"}, {"info", Info()}};
  for (const PathItem& item : paths) {
    if (item.document != document) continue;
    Json& path = out["paths"][item.path];
    for (const Operation& operation : item.operations)
      path[std::string(operation.method)] = OperationJson(item, operation, definitions);
    for (const Parameter& parameter : item.in_path)
      path["parameters"].push_back(ParameterJson(parameter, true));
  }
  out["components"]["schemas"] = definitions.Take();
  return out;
}

}  // namespace terrarium::apiserver::openapi

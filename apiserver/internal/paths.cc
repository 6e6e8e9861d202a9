#include "apiserver/internal/paths.h"

#include <utility>

#include "api/base/errors.h"
#include "apiserver/discovery.h"
#include "apiserver/internal/encode.h"
#include "apiserver/internal/respond.h"
#include "apiserver/openapi/openapi.h"

namespace terrarium::apiserver {
namespace {

Response PlainText(int code, std::string body) {
  Response response;
  response.code = code;
  response.content_type = "text/plain; charset=utf-8";
  response.body = std::move(body);
  return response;
}

Response NotFoundPage() { return PlainText(404, "404 page not found\n"); }

// A discovery document in the client's media type.
Response Document(const Request& request, const Json& document, std::string_view schema) {
  auto output = Negotiate(request, Endpoint::kObject);
  if (!output) return ErrorResponse({}, output.status());
  Response response;
  response.content_type = output->ContentType();
  response.body = EncodeDocument(
      *output, document, api::Schema::Get().Must("io.k8s.apimachinery.pkg.apis.meta.v1." + std::string(schema)));
  return response;
}

Response WithEtag(const Request& request, Response response, const std::string& etag) {
  response.headers.emplace_back("ETag", etag);
  response.headers.emplace_back("Vary", "Accept");
  if (request.if_none_match != etag) return response;
  response.code = 304;
  response.body.clear();
  return response;
}

Response Aggregated(const Request& request, const AggregatedDiscovery& wanted, bool core) {
  Json document = AggregatedDiscoveryDocument(wanted.version, core);
  Response response;
  response.content_type = wanted.ContentType();
  Negotiated output;
  output.media_type = wanted.media_type;
  response.body = EncodeDocument(
      output, document, api::Schema::Get().Must("io.k8s.api.apidiscovery.v2.APIGroupDiscoveryList"));
  return WithEtag(request, std::move(response), DiscoveryEtag(document));
}

// kubectl asks for these before it says that it knows no such kind; there are none.
constexpr std::string_view kCustomResourceDefinitions = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

Response NoCustomResources() {
  Response response;
  response.body = Json{{"kind", "CustomResourceDefinitionList"},
                       {"apiVersion", "apiextensions.k8s.io/v1"},
                       {"metadata", {{"resourceVersion", "1"}}},
                       {"items", Json::array()}}
                      .dump() +
                  "\n";
  return response;
}

Response ServeDiscovery(const Request& request, const std::vector<std::string_view>& parts) {
  if (request.method == "HEAD") return ErrorResponse({}, api::MethodNotAllowed());
  bool core = parts[0] == "api";
  if (parts.size() == 1) {
    if (auto wanted = NegotiateAggregatedDiscovery(request.accept)) return Aggregated(request, *wanted, core);
    return core ? Document(request, ApiVersionsDocument(request.host), "APIVersions")
                : Document(request, ApiGroupListDocument(), "APIGroupList");
  }
  if (request.path == kCustomResourceDefinitions) return NoCustomResources();
  std::optional<Json> resources;
  if (core && parts.size() == 2) resources = ApiResourceListDocument("", parts[1]);
  if (!core && parts.size() == 3) resources = ApiResourceListDocument(parts[1], parts[2]);
  if (resources) return Document(request, *resources, "APIResourceList");
  if (!core && parts.size() == 2)
    if (auto group = ApiGroupDocument(parts[1])) return Document(request, *group, "APIGroup");
  return NotFoundPage();
}

// Readiness is that of the process: whoever can ask gets an answer from a store that is open.
Response ServeHealth(const Request& request, const std::vector<std::string_view>& parts) {
  static constexpr std::string_view kChecks[] = {"ping", "log", "store"};
  if (parts.size() == 2) {
    for (std::string_view check : kChecks)
      if (parts[1] == check) return PlainText(200, "ok");
    return NotFoundPage();
  }
  if (request.Query("verbose") == nullptr) return PlainText(200, "ok");
  std::string text;
  for (std::string_view check : kChecks) text.append("[+]").append(check).append(" ok\n");
  return PlainText(200, text + std::string(parts[0]) + " check passed\n");
}

Response ServeOpenApi(const Request& request) {
  const std::string* hash = request.Query("hash");
  auto response = AnswerOpenApi({request.path, hash == nullptr ? std::string_view{} : std::string_view(*hash),
                                 request.accept, request.if_none_match});
  return response ? std::move(*response) : NotFoundPage();
}

Response ServeIndex() {
  Json paths = Json::array({"/api", "/api/v1", "/apis"});
  for (const GroupVersion& gv : ResourceTable::Get().group_versions()) {
    if (gv.group.empty()) continue;
    paths.push_back("/apis/" + std::string(gv.group));
    paths.push_back("/apis/" + std::string(gv.group) + "/" + std::string(gv.version));
  }
  for (const char* path : {"/healthz", "/livez", "/metrics", "/openapi/v2", "/openapi/v3", "/readyz", "/version"})
    paths.push_back(path);
  Response response;
  response.body = Json{{"paths", std::move(paths)}}.dump(2) + "\n";
  return response;
}

}  // namespace

Response ServePath(Server& server, const Request& request) {
  std::vector<std::string_view> parts = SplitPath(request.path);
  if (request.method != "GET" && request.method != "HEAD") return NotFoundPage();
  if (parts.empty()) return ServeIndex();
  if (parts[0] == "api" || parts[0] == "apis") return ServeDiscovery(request, parts);
  if (parts[0] == "openapi") return ServeOpenApi(request);
  if (parts.size() <= 2 && (parts[0] == "healthz" || parts[0] == "livez" || parts[0] == "readyz"))
    return ServeHealth(request, parts);
  if (parts.size() != 1) return NotFoundPage();
  if (parts[0] == "version") {
    Response response;
    response.body = VersionDocument().dump(2) + "\n";
    return response;
  }
  if (parts[0] == "metrics") {
    std::string text = server.metrics.Text(server.store);
    if (server.options.more_metrics) text += server.options.more_metrics();
    Response response = PlainText(200, std::move(text));
    response.content_type = "text/plain; version=0.0.4; charset=utf-8";
    return response;
  }
  return NotFoundPage();
}

}  // namespace terrarium::apiserver

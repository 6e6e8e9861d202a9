#include "apiserver/internal/paths.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "api/base/errors.h"
#include "apiserver/discovery.h"
#include "apiserver/internal/encode.h"
#include "apiserver/internal/respond.h"
#include "apiserver/openapi/openapi.h"
#include "storage/store.h"

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
  response.body =
      EncodeDocument(*output, document,
                     api::Schema::Get().Must("io.k8s.apimachinery.pkg.apis.meta.v1." + std::string(schema)));
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

Response Aggregated(const ResourceTable& table, const Request& request, const AggregatedDiscovery& wanted,
                    bool core) {
  Json document = AggregatedDiscoveryDocument(table, wanted.version, core);
  Response response;
  response.content_type = wanted.ContentType();
  Negotiated output;
  output.media_type = wanted.media_type;
  response.body = EncodeDocument(output, document,
                                 api::Schema::Get().Must("io.k8s.api.apidiscovery.v2.APIGroupDiscoveryList"));
  return WithEtag(request, std::move(response), DiscoveryEtag(document));
}

// kubectl requests these before it reports an unknown kind; the list is empty.
constexpr std::string_view kCustomResourceDefinitions =
    "/apis/apiextensions.k8s.io/v1/customresourcedefinitions";

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

Response ServeDiscovery(const ResourceTable& table, const Request& request,
                        const std::vector<std::string_view>& parts) {
  if (request.method == "HEAD") return ErrorResponse({}, api::MethodNotAllowed());
  bool core = parts[0] == "api";
  if (parts.size() == 1) {
    if (auto wanted = NegotiateAggregatedDiscovery(request.accept))
      return Aggregated(table, request, *wanted, core);
    return core ? Document(request, ApiVersionsDocument(request.host), "APIVersions")
                : Document(request, ApiGroupListDocument(table), "APIGroupList");
  }
  if (request.path == kCustomResourceDefinitions) return NoCustomResources();
  std::optional<Json> resources;
  if (core && parts.size() == 2) resources = ApiResourceListDocument(table, "", parts[1]);
  if (!core && parts.size() == 3) resources = ApiResourceListDocument(table, parts[1], parts[2]);
  if (resources) return Document(request, *resources, "APIResourceList");
  if (!core && parts.size() == 2)
    if (auto group = ApiGroupDocument(table, parts[1])) return Document(request, *group, "APIGroup");
  return NotFoundPage();
}

// The process is alive and healthy if it answers; it is ready if its store will keep what it is given.
Response ServeHealth(const Server& server, const Request& request,
                     const std::vector<std::string_view>& parts) {
  static constexpr std::string_view kStore = "store";
  static constexpr std::string_view kChecks[] = {"ping", "log", kStore};
  const std::string trouble = parts[0] == "readyz" ? server.store.Trouble() : "";
  if (parts.size() == 2) {
    if (std::find(std::begin(kChecks), std::end(kChecks), parts[1]) == std::end(kChecks))
      return NotFoundPage();
    if (parts[1] == kStore && !trouble.empty())
      return PlainText(500, "internal server error: " + trouble + "\n");
    return PlainText(200, "ok");
  }
  if (request.Query("verbose") == nullptr && trouble.empty()) return PlainText(200, "ok");
  std::string text;
  for (std::string_view check : kChecks) {
    const bool failed = check == kStore && !trouble.empty();
    text.append(failed ? "[-]" : "[+]")
        .append(check)
        .append(failed ? " failed: " + trouble : " ok")
        .append("\n");
  }
  text.append(parts[0]).append(trouble.empty() ? " check passed\n" : " check failed\n");
  return PlainText(trouble.empty() ? 200 : 500, text);
}

Response ServeOpenApi(const ResourceTable& table, const Request& request) {
  const std::string* hash = request.Query("hash");
  auto response =
      table.openapi().Answer({request.path, hash == nullptr ? std::string_view{} : std::string_view(*hash),
                              request.accept, request.if_none_match});
  return response ? std::move(*response) : NotFoundPage();
}

Response ServeIndex(const ResourceTable& table) {
  Json paths = Json::array({"/api", "/api/v1", "/apis"});
  for (const GroupVersion& gv : table.group_versions()) {
    if (gv.group.empty()) continue;
    const std::string group = "/apis/" + std::string(gv.group);
    if (paths.back() != group && !paths.back().get_ref<const std::string&>().starts_with(group + "/"))
      paths.push_back(group);
    paths.push_back("/apis/" + std::string(gv.group) + "/" + std::string(gv.version));
  }
  for (const char* path :
       {"/healthz", "/livez", "/metrics", "/openapi/v2", "/openapi/v3", "/readyz", "/version"})
    paths.push_back(path);
  Response response;
  response.body = Json{{"paths", std::move(paths)}}.dump(2) + "\n";
  return response;
}

}  // namespace

Response ServePath(Server& server, const ResourceTable& table, const Request& request) {
  std::vector<std::string_view> parts = SplitPath(request.path);
  if (request.method != "GET" && request.method != "HEAD") return NotFoundPage();
  if (parts.empty()) return ServeIndex(table);
  if (parts[0] == "api" || parts[0] == "apis") return ServeDiscovery(table, request, parts);
  if (parts[0] == "openapi") return ServeOpenApi(table, request);
  if (parts.size() <= 2 && (parts[0] == "healthz" || parts[0] == "livez" || parts[0] == "readyz"))
    return ServeHealth(server, request, parts);
  if (parts.size() != 1) return NotFoundPage();
  if (parts[0] == "version") {
    Response response;
    response.body = VersionDocument().dump(2) + "\n";
    return response;
  }
  if (parts[0] == "metrics") {
    std::string text = server.metrics.Text(server.store, table);
    if (server.options.more_metrics) text += server.options.more_metrics();
    Response response = PlainText(200, std::move(text));
    response.content_type = "text/plain; version=0.0.4; charset=utf-8";
    return response;
  }
  return NotFoundPage();
}

}  // namespace terrarium::apiserver

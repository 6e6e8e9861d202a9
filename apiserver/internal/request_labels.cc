#include "apiserver/internal/request_labels.h"

#include "apiserver/internal/media_type.h"

namespace terrarium::apiserver {
namespace {

// Requests that Kubernetes forwards to a kubelet.
bool IsConnection(const SubresourceInfo* subresource) {
  return subresource != nullptr && (subresource->connects || subresource->name == "log");
}

// Kubernetes reports the HTTP method, but distinguishes GET, LIST and WATCH. The deletion of a collection is
// a DELETE.
std::string_view MetricsVerb(const Route& route, const Request& request) {
  if (IsConnection(route.subresource)) return "CONNECT";
  switch (route.verb) {
    case Verb::kCreate: return "POST";
    case Verb::kGet: return "GET";
    case Verb::kList: return "LIST";
    case Verb::kWatch: return "WATCH";
    case Verb::kUpdate: return "PUT";
    case Verb::kPatch: return MediaTypeOf(request.content_type) == kApplyPatch ? "APPLY" : "PATCH";
    case Verb::kDelete:
    case Verb::kDeleteCollection: return "DELETE";
  }
  return "";
}

std::string_view ScopeLabel(const Route& route) {
  if (!route.name.empty() || route.verb == Verb::kCreate) return "resource";
  return route.ns.empty() ? "cluster" : "namespace";
}

std::string_view DryRunLabel(const Request& request) {
  std::string_view out;
  for (const auto& [key, value] : request.query) {
    if (key != "dryRun") continue;
    if (value != "All") return "invalid";
    out = "All";
  }
  return out;
}

}  // namespace

RequestLabels ResourceLabels(const Route& route, const Request& request) {
  return {.verb = MetricsVerb(route, request),
          .resource = ResourcePtr(route.table, route.resource),
          .subresource = route.subresource == nullptr ? std::string_view{} : route.subresource->name,
          .scope = ScopeLabel(route),
          .dry_run = DryRunLabel(request)};
}

std::optional<RequestLabels> PathLabels(const Request& request, const Response& response) {
  for (std::string_view path : {"/healthz", "/livez", "/readyz"})
    if (request.path == path)
      return RequestLabels{.verb = "GET", .subresource = path, .component = "", .code = response.code};
  const bool whole_discovery = response.content_type.find("as=APIGroupDiscoveryList") != std::string::npos;
  for (std::string_view path : {"/api", "/apis"})
    if (whole_discovery && request.path == path)
      return RequestLabels{.verb = "GET", .subresource = path, .code = response.code};
  return std::nullopt;
}

}  // namespace terrarium::apiserver

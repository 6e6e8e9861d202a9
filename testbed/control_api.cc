#include "testbed/control_api.h"

#include <string_view>
#include <utility>

#include "api/base/clock.h"
#include "api/base/errors.h"
#include "api/base/feature_gates.h"

namespace terrarium::testbed {
namespace {

using api::Json;
using apiserver::Request;
using apiserver::Response;

constexpr std::string_view kPrefix = "/terrarium/v1";

Response Answer(int code, const Json& document) {
  Response response;
  response.code = code;
  response.body = document.dump(2) + "\n";
  return response;
}

Json GetClock(Plane& plane) { return {{"mode", "real"}, {"now", api::FormatMicroTime(plane.env().clock.Now())}}; }

Json GetGates(Plane& plane) {
  Json gates = Json::object();
  for (const auto& [name, on] : plane.env().gates.values()) gates[name] = on;
  return gates;
}

// Forgets the history of all objects, so that watches and lists of older revisions get 410 Expired.
Json CompactStore(Plane& plane) {
  plane.store().Compact(plane.store().CurrentRevision());
  return {{"compactedRevision", plane.store().CompactedRevision()}};
}

struct Endpoint {
  std::string_view method;
  std::string_view path;
  std::string_view about;
  Json (*serve)(Plane& plane);
};

constexpr Endpoint kEndpoints[] = {
    {"GET", "/clock", "the plane's clock", GetClock},
    {"GET", "/components/apiserver/feature-gates", "the apiserver's feature gates", GetGates},
    {"POST", "/store/compact", "forget the history: older revisions are answered with 410", CompactStore},
};

Json Index() {
  Json list = Json::array();
  for (const Endpoint& endpoint : kEndpoints)
    list.push_back({{"method", endpoint.method},
                    {"path", std::string(kPrefix) + std::string(endpoint.path)},
                    {"about", endpoint.about}});
  return {{"endpoints", std::move(list)}};
}

}  // namespace

bool IsControlPath(const std::string& path) {
  return path.starts_with(kPrefix) && (path.size() == kPrefix.size() || path[kPrefix.size()] == '/');
}

Response ServeControl(Plane& plane, const Request& request) {
  std::string_view rest = std::string_view(request.path).substr(kPrefix.size());
  if (rest.empty() || rest == "/") return Answer(200, Index());
  bool known = false;
  for (const Endpoint& endpoint : kEndpoints) {
    if (rest != endpoint.path) continue;
    known = true;
    if (request.method == endpoint.method) return Answer(200, endpoint.serve(plane));
  }
  api::Status status = known ? api::MethodNotAllowed() : api::UnknownResource();
  return Answer(status.code, status.ToJson());
}

}  // namespace terrarium::testbed

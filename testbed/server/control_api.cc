#include "testbed/server/control_api.h"

#include <algorithm>
#include <map>
#include <utility>

#include "api/base/errors.h"
#include "api/codec/decode.h"
#include "testbed/server/control/endpoint.h"

namespace terrarium::testbed {
namespace {

using api::Json;
using apiserver::Request;
using apiserver::Response;
using control::Endpoint;

constexpr std::string_view kPrefix = "/terrarium/v1";
constexpr std::string_view kJsonType = "application/json";

// Clusters are the server's: a cluster among others has no such endpoints.
const std::vector<Endpoint>& EndpointsOf(bool server) {
  static const std::vector<Endpoint> of_control_plane = [] {
    std::vector<Endpoint> out;
    for (auto list : {control::ClockEndpoints(), control::PodEndpoints(), control::NodeEndpoints(),
                      control::ComponentEndpoints(), control::GateEndpoints(), control::StoreEndpoints(),
                      control::ServiceEndpoints(), control::WhyEndpoints()})
      out.insert(out.end(), list.begin(), list.end());
    return out;
  }();
  static const std::vector<Endpoint> of_server = [] {
    std::vector<Endpoint> out = of_control_plane;
    for (const Endpoint& endpoint : control::ClusterEndpoints()) out.push_back(endpoint);
    return out;
  }();
  return server ? of_server : of_control_plane;
}

Response Answer(int code, const Json& document) {
  Response response;
  response.code = code;
  response.headers.emplace_back("Cache-Control", "no-cache, private");  // as on every other path
  response.body = document.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
  return response;
}

Response Answer(const api::Result<Json>& result) {
  return result ? Answer(200, *result) : Answer(result.status().code, result.status().ToJson());
}

std::vector<std::string_view> Split(std::string_view path) {
  std::vector<std::string_view> out;
  while (!path.empty()) {
    path.remove_prefix(1);
    std::size_t end = std::min(path.find('/'), path.size());
    out.push_back(path.substr(0, end));
    path.remove_prefix(end);
  }
  return out;
}

// The names in `path` where `pattern` has a {name}, or nullopt when they differ elsewhere.
std::optional<std::vector<std::string>> MatchPath(std::string_view pattern, std::string_view path) {
  std::vector<std::string_view> wanted = Split(pattern), given = Split(path);
  if (wanted.size() != given.size()) return std::nullopt;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    if (wanted[i].starts_with('{'))
      names.emplace_back(given[i]);
    else if (wanted[i] != given[i])
      return std::nullopt;
  }
  return names;
}

// The pattern with `names`, separated by slashes, where it has {name}s.
std::string WithNames(std::string path, std::string_view names) {
  for (std::size_t open = path.find('{'); open != std::string::npos; open = path.find('{')) {
    std::string_view name = names.substr(0, names.find('/'));
    path.replace(open, path.find('}') + 1 - open, name);
    names.remove_prefix(std::min(names.size(), name.size() + 1));
  }
  return path;
}

Json Index(const std::vector<Endpoint>& endpoints) {
  Json list = Json::array();
  for (const Endpoint& endpoint : endpoints) {
    std::string path = std::string(kPrefix) + std::string(endpoint.path);
    std::string example = WithNames(path, endpoint.example_name);
    std::string curl = "curl ";
    if (endpoint.method != "GET") curl += "-X " + std::string(endpoint.method) + " ";
    if (!endpoint.example_body.empty()) curl += "--json '" + std::string(endpoint.example_body) + "' ";
    if (endpoint.example_query.empty())
      curl += "$URL" + example;
    else
      curl += "\"$URL" + example + "?" + std::string(endpoint.example_query) + "\"";
    list.push_back({{"method", endpoint.method}, {"path", path}, {"about", endpoint.about}, {"curl", curl}});
  }
  return {{"endpoints", std::move(list)}};
}

bool HasParameter(const Endpoint& endpoint, const std::string& name) {
  return ("&" + std::string(endpoint.example_query)).find("&" + name + "=") != std::string::npos;
}

api::Result<std::map<std::string, std::string>> ParseQuery(const Request& request, const Endpoint& endpoint) {
  std::map<std::string, std::string> query;
  for (const auto& [name, value] : request.query) {
    if (!HasParameter(endpoint, name)) return api::BadRequest("unknown parameter " + api::Quote(name));
    if (!query.emplace(name, value).second)
      return api::BadRequest("parameter " + api::Quote(name) + " comes twice");
  }
  return query;
}

// A page of another site can send text and forms to any server without asking it first, but not JSON.
api::Result<Json> ParseBody(const Request& request) {
  if (request.body.empty()) return Json::object();
  if (request.MediaType() != kJsonType) {
    api::Status status = api::UnsupportedMediaType(kJsonType);
    status.message = "the content type of the body must be " + std::string(kJsonType) + ", not " +
                     api::Quote(request.content_type) +
                     ": with curl use --json '{...}' instead of -d '{...}'";
    return status;
  }
  api::Decoded decoded = api::DecodeJson(request.body);
  if (decoded.error) return api::BadRequest("the body is not JSON: " + decoded.error->message);
  if (!decoded.object.is_object()) return api::BadRequest("the body must be a JSON object");
  return std::move(decoded.object);
}

}  // namespace

api::Result<void> control::CheckTexts(const Json& body, std::initializer_list<std::string_view> known) {
  for (const auto& [name, value] : body.items()) {
    if (std::find(known.begin(), known.end(), name) == known.end())
      return api::BadRequest("unknown field " + api::Quote(name));
    if (!value.is_string()) return api::BadRequest(name + " must be a string");
  }
  return {};
}

bool ControlApi::IsControlPath(const std::string& path) {
  return path.starts_with(kPrefix) && (path.size() == kPrefix.size() || path[kPrefix.size()] == '/');
}

Response ControlApi::Refusal(const api::Status& status) { return Answer(status); }

void ControlApi::Serve(const Request& request, apiserver::Responder respond) {
  std::string_view rest = std::string_view(request.path).substr(kPrefix.size());
  const std::vector<Endpoint>& endpoints = EndpointsOf(clusters_ != nullptr);
  if (rest.empty() || rest == "/")
    return respond(request.method == "GET" ? Answer(200, Index(endpoints)) : Answer(api::MethodNotAllowed()));
  bool known = false;
  for (const Endpoint& endpoint : endpoints) {
    auto names = MatchPath(endpoint.path, rest);
    if (!names) continue;
    known = true;
    if (request.method != endpoint.method) continue;
    auto body = ParseBody(request);
    if (!body) return respond(Answer(body.status()));
    if (endpoint.example_body.empty())
      if (auto fine = control::CheckTexts(*body, {}); !fine) return respond(Answer(fine.status()));
    auto query = ParseQuery(request, endpoint);
    if (!query) return respond(Answer(query.status()));
    return endpoint.serve(
        {*this, std::move(*names), std::move(*body), std::move(*query),
         [respond = std::move(respond)](api::Result<Json> result) { respond(Answer(result)); },
         request.client_gone});
  }
  respond(Answer(known ? api::MethodNotAllowed() : api::UnknownResource()));
}

}  // namespace terrarium::testbed

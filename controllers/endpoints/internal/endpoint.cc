#include "controllers/endpoints/internal/endpoint.h"

#include <algorithm>
#include <string_view>
#include <tuple>
#include <utility>

#include "api/json_access.h"

namespace terrarium::controllers::endpoints {
namespace {

using api::Json;

std::optional<bool> ReadBool(const Json& holder, std::string_view key) {
  const Json* value = api::Find(holder, key);
  return value == nullptr ? std::nullopt : std::optional(value->get<bool>());
}

std::optional<std::string> ReadText(const Json& holder, std::string_view key) {
  const Json* value = api::Find(holder, key);
  return value == nullptr ? std::nullopt : std::optional(value->get<std::string>());
}

std::vector<std::string> ReadNames(const Json& list) {
  std::vector<std::string> names;
  for (const Json& item : list) names.emplace_back(api::StringAt(item, "name"));
  return names;
}

Json NamesJson(const std::vector<std::string>& names) {
  Json list = Json::array();
  for (const std::string& name : names) list.push_back({{"name", name}});
  return list;
}

auto IdentityOf(const Endpoint& endpoint) {
  static const std::string kNone;
  const bool targeted = endpoint.target.has_value();
  return std::tie(targeted ? endpoint.target->ns : kNone, targeted ? endpoint.target->name : kNone,
                  endpoint.hostname ? *endpoint.hostname : kNone, endpoint.addresses);
}

}  // namespace

std::optional<TargetReference> ReadTarget(const Json* reference) {
  if (reference == nullptr) return std::nullopt;
  auto text = [&](std::string_view key) { return std::string(api::StringAt(*reference, key)); };
  return TargetReference{.api_version = text("apiVersion"),
                         .field_path = text("fieldPath"),
                         .kind = text("kind"),
                         .name = text("name"),
                         .ns = text("namespace"),
                         .resource_version = text("resourceVersion"),
                         .uid = text("uid")};
}

Json ToJson(const TargetReference& target) {
  Json out = Json::object();
  auto set = [&](const char* key, const std::string& value) {
    if (!value.empty()) out[key] = value;
  };
  set("apiVersion", target.api_version);
  set("fieldPath", target.field_path);
  set("kind", target.kind);
  set("name", target.name);
  set("namespace", target.ns);
  set("resourceVersion", target.resource_version);
  set("uid", target.uid);
  return out;
}

bool IsSameTarget(const std::optional<TargetReference>& a, const std::optional<TargetReference>& b) {
  if (!a || !b) return a.has_value() == b.has_value();
  auto all = [](const TargetReference& of) {
    return std::tie(of.api_version, of.field_path, of.kind, of.name, of.ns, of.uid);
  };
  return all(*a) == all(*b);
}

Endpoint ReadEndpoint(const Json& endpoint) {
  Endpoint out;
  for (const Json& address : api::ListAt(endpoint, "addresses"))
    out.addresses.push_back(address.get<std::string>());
  std::sort(out.addresses.begin(), out.addresses.end());
  const Json& conditions = api::ObjectAt(endpoint, "conditions");
  out.ready = ReadBool(conditions, "ready");
  out.serving = ReadBool(conditions, "serving");
  out.terminating = ReadBool(conditions, "terminating");
  out.hostname = ReadText(endpoint, "hostname");
  out.node_name = ReadText(endpoint, "nodeName");
  out.zone = ReadText(endpoint, "zone");
  out.target = ReadTarget(api::Find(endpoint, "targetRef"));
  if (const Json* hints = api::Find(endpoint, "hints"))
    out.hints = Hints{ReadNames(api::ListAt(*hints, "forZones")), ReadNames(api::ListAt(*hints, "forNodes"))};
  return out;
}

Json ToJson(const Endpoint& endpoint) {
  Json out = {{"addresses", endpoint.addresses}, {"conditions", Json::object()}};
  Json& conditions = out["conditions"];
  if (endpoint.ready) conditions["ready"] = *endpoint.ready;
  if (endpoint.serving) conditions["serving"] = *endpoint.serving;
  if (endpoint.terminating) conditions["terminating"] = *endpoint.terminating;
  if (endpoint.hints) {
    Json hints = Json::object();
    if (!endpoint.hints->zones.empty()) hints["forZones"] = NamesJson(endpoint.hints->zones);
    if (!endpoint.hints->nodes.empty()) hints["forNodes"] = NamesJson(endpoint.hints->nodes);
    out["hints"] = std::move(hints);
  }
  if (endpoint.hostname) out["hostname"] = *endpoint.hostname;
  if (endpoint.node_name) out["nodeName"] = *endpoint.node_name;
  if (endpoint.zone) out["zone"] = *endpoint.zone;
  if (endpoint.target) out["targetRef"] = ToJson(*endpoint.target);
  return out;
}

bool IdentityLess::operator()(const Endpoint& a, const Endpoint& b) const {
  return IdentityOf(a) < IdentityOf(b);
}

bool IsUpToDate(const Endpoint& stored, const Endpoint& desired) {
  return stored.node_name == desired.node_name && stored.zone == desired.zone &&
         stored.ready == desired.ready && stored.serving == desired.serving &&
         stored.terminating == desired.terminating && IsSameTarget(stored.target, desired.target);
}

}  // namespace terrarium::controllers::endpoints

#include "controllers/replicaset/internal/picker_call.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "api/base/base64.h"
#include "api/json_access.h"

namespace terrarium::controllers::replicaset {
namespace {

using api::Json;
using api::StringAt;

bool IsTls(const Json& http) {
  const std::string_view scheme = StringAt(http, "scheme");
  return scheme == "HTTPS" || scheme == "https";
}

std::string PortOf(const Json& http) {
  const Json* port = api::Find(http, "port");
  if (port == nullptr) return "";
  return port->is_string() ? port->get<std::string>() : port->dump();
}

std::string PathOf(const Json& http) {
  const std::string_view path = StringAt(http, "path");
  return path.empty() ? "/" : std::string(path);
}

PickFault Unusable(const std::string& secret, std::string_view key, const char* why) {
  std::string message = "Secret \"" + secret + "\"";
  if (!key.empty()) message.append(", key \"").append(key).append("\",");
  return {pick_outcome::kSecret, message + " " + why, false};
}

bool IsControl(char c) {
  const auto byte = static_cast<unsigned char>(c);
  return (byte < 0x20 && c != '\t') || byte == 0x7f;
}

// The value, or nothing for one that is optional and not there.
std::variant<std::optional<std::string>, PickFault> ValueOf(const Json& selector, const FindSecret& find) {
  const std::string name(StringAt(selector, "name"));
  const std::string_view key = StringAt(selector, "key");
  const bool optional = api::BoolAt(selector, "optional");
  const api::ObjectPtr secret = find(name);
  if (secret == nullptr) {
    if (optional) return std::nullopt;
    return Unusable(name, "", "does not exist");
  }
  const std::shared_ptr<const Json> document = secret->Document();
  const Json* encoded = api::Find(*document, "data", key);
  if (encoded == nullptr) {
    if (optional) return std::nullopt;
    return Unusable(name, key, "does not exist");
  }
  std::string value;
  if (!encoded->is_string() || !api::DecodeBase64(encoded->get_ref<const std::string&>(), &value))
    return Unusable(name, key, "cannot be read");
  if (std::any_of(value.begin(), value.end(), IsControl))
    return Unusable(name, key,
                    "cannot be sent in a header: it has a line break or another control character");
  return value;
}

}  // namespace

std::variant<api::HttpCall, PickFault> CallOf(const Json& picker, const PickRequest& request,
                                              const FindSecret& secret) {
  const Json& http = api::ObjectAt(picker, "http");
  api::HttpCall call;
  call.tls = IsTls(http);
  call.host = StringAt(http, "host");
  call.port = PortOf(http);
  call.path = PathOf(http);
  call.body = request.ToJson().dump();
  call.timeout = std::chrono::seconds(api::IntAt(picker, 1, "timeoutSeconds"));
  for (const Json& header : api::ListAt(http, "httpHeaders")) {
    std::string name(StringAt(header, "name"));
    const Json* selector = api::Find(header, "valueFrom", "secretKeyRef");
    if (selector == nullptr) {
      call.headers.emplace_back(std::move(name), StringAt(header, "value"));
      continue;
    }
    auto value = ValueOf(*selector, secret);
    if (auto* fault = std::get_if<PickFault>(&value)) return std::move(*fault);
    if (auto& text = std::get<std::optional<std::string>>(value))
      call.headers.emplace_back(std::move(name), *text);
  }
  return call;
}

std::string UrlOf(const Json& picker) {
  const Json& http = api::ObjectAt(picker, "http");
  std::string host(StringAt(http, "host"));
  if (host.find(':') != std::string::npos) host = "[" + host + "]";
  const std::string path = PathOf(http);
  return (IsTls(http) ? "https://" : "http://") + host + ":" + PortOf(http) + path.substr(0, path.find('?'));
}

}  // namespace terrarium::controllers::replicaset

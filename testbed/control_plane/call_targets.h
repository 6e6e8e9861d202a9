#pragma once

// Where a control plane's calls to its users' services go. No container runs, so nothing listens behind a
// Service. Instead, users register the address where the service really listens, on the developer's own
// machine. All methods are thread-safe.

#include <functional>
#include <map>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "api/base/status.h"
#include "api/http_caller.h"
#include "api/json.h"
#include "api/object_name.h"
#include "testbed/control_plane/host_allow_list.h"
#include "testbed/control_plane/http_client/http_caller.h"

namespace terrarium::testbed {

struct ServicePort {
  std::string name;
  std::uint16_t number = 0;
};

class CallTargets {
 public:
  // The ports in the Service object; empty when there is no such Service.
  using ServicePorts = std::function<std::vector<ServicePort>(const api::ObjectName& service)>;

  explicit CallTargets(HostAllowList allowed = HostAllowList::Default()) : allowed_(std::move(allowed)) {}
  // REQUIRES: no concurrent call to Find().
  void SetServicePorts(ServicePorts ports);

  // Registers {"address": "HOST:PORT", "ports": {"NAME OR NUMBER": PORT, ...}} and replaces an earlier
  // registration. The address may omit :PORT, and "ports" is optional. The Service need not exist. Returns
  // the registration. Fails with 400 for a malformed address and for a host that is not on the allow list.
  api::Result<api::Json> Register(const api::ObjectName& service, const api::Json& body);
  api::Result<api::Json> Unregister(const api::ObjectName& service);
  // {"services": [...]}, by namespace and name.
  api::Json List() const;

  // The target of a call, or its error: kNotAllowed or kUnknownHost.
  std::variant<CallTarget, api::HttpAnswer> Find(const api::HttpCall& call) const;

 private:
  struct Registration {
    std::string host;
    std::optional<std::uint16_t> port;
    std::map<std::string, std::uint16_t> ports;
  };
  static api::Json ToJson(const api::ObjectName& service, const Registration& registration);
  api::Result<Registration> Parse(const api::Json& body) const;
  std::variant<CallTarget, api::HttpAnswer> FindService(const api::HttpCall& call,
                                                        const api::ObjectName& service) const;
  // The port of the registered host that replaces `port` of the Service.
  std::optional<std::uint16_t> PortOf(const api::ObjectName& service, const Registration& registration,
                                      const std::string& port) const;

  const HostAllowList allowed_;
  ServicePorts service_ports_;
  mutable std::mutex mutex_;
  std::map<api::ObjectName, Registration> registered_;  // under mutex_
};

}  // namespace terrarium::testbed

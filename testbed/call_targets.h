#pragma once

// Where the calls of a plane to its users' services go. No packet reaches a Service here, since no container runs: an
// address can be registered for it instead, where the service really listens, on the developer's own machine. All
// methods are thread-safe.

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
#include "testbed/host_allow_list.h"
#include "testbed/http_caller/http_caller.h"

namespace terrarium::testbed {

struct ServicePort {
  std::string name;
  std::uint16_t number = 0;
};

class CallTargets {
 public:
  // The ports of a Service as its object has them; none when there is no such Service.
  using ServicePorts = std::function<std::vector<ServicePort>(const api::ObjectName& service)>;

  explicit CallTargets(HostAllowList allowed = HostAllowList::Default()) : allowed_(std::move(allowed)) {}
  // REQUIRES: nobody calls Find meanwhile.
  void SetServicePorts(ServicePorts ports);

  // Registers, or registers anew, {"address": "HOST:PORT", "ports": {"NAME OR NUMBER": PORT, ...}}, each of which may
  // be left out of the address or altogether. The Service itself need not exist. Gives back what is registered. Fails
  // for what is no address and for one that may not be called.
  api::Result<api::Json> Register(const api::ObjectName& service, const api::Json& body);
  api::Result<api::Json> Unregister(const api::ObjectName& service);
  // {"services": [...]}, by namespace and name.
  api::Json List() const;

  // Where a call goes, or the answer it gets instead: kNotAllowed or kUnknownHost.
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
  // Which port of the registered host stands for that port of the Service.
  std::optional<std::uint16_t> PortOf(const api::ObjectName& service, const Registration& registration,
                                      const std::string& port) const;

  const HostAllowList allowed_;
  ServicePorts service_ports_;
  mutable std::mutex mutex_;
  std::map<api::ObjectName, Registration> registered_;  // under mutex_
};

}  // namespace terrarium::testbed

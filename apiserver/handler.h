#pragma once

// The apiserver without HTTP: takes a plain request and returns a response or a stream. Thread-safe.

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/clock.h"
#include "api/base/env.h"
#include "api/client.h"
#include "api/container_log.h"
#include "api/container_usage.h"
#include "api/object.h"
#include "api/object_name.h"
#include "apiserver/request.h"
#include "apiserver/request_scope.h"

namespace terrarium::storage {
class Store;
}

namespace terrarium::apiserver {

class GateLog;
class ResourceRegistry;
class Uptime;

// Returns the output of the latest run of a container, or of the run before it if `previous` is set. The
// kubelet provides it. nullptr: no kubelet responds, or the kubelet knows no such run.
using PodLogSource = std::function<std::shared_ptr<api::ContainerLog>(
    const api::ObjectName& pod, const std::string& container, bool previous)>;

// Returns what the running containers of a pod use now, init containers included. The kubelet provides it.
// nullopt: no kubelet responds, or the kubelet does not know the pod.
using PodUsageSource = std::function<std::optional<std::vector<api::ContainerUsage>>(const api::Object& pod)>;

// Returns the user that a bearer token belongs to; nullopt: the token is unknown.
using TokenAuthenticator = std::function<std::optional<UserInfo>(const std::string& token)>;

struct HandlerOptions {
  // Limits on the requests in flight, like the kube-apiserver flags of the same names. Watches, logs and
  // connections to containers are not counted.
  int max_requests_inflight = 400;
  int max_mutating_requests_inflight = 200;
  std::size_t object_bytes_max = 3 * 512 * 1024;  // 1.5 MiB, etcd's limit
  // A request without a response after this time gets 504. Watches and logs continue: their response is a
  // stream that has begun.
  api::Duration request_timeout = std::chrono::seconds(60);
  api::Duration bookmark_period = std::chrono::minutes(1);
  // A watch without timeoutSeconds ends after a random time between this one and twice this one, as in
  // Kubernetes.
  api::Duration watch_timeout_min = std::chrono::minutes(30);
  // A watch whose client has more undelivered events, or events of more bytes, ends.
  std::size_t watch_buffer_events = 1000;
  std::size_t watch_buffer_bytes = 16 * 1024 * 1024;
  // The clock of connections: it decides when a request times out, and when a watch ends or gets a bookmark.
  // Clients measure wall-clock time even if the control plane has a virtual clock. Unset: the clock and the
  // executor of the control plane.
  const api::Clock* connection_clock = nullptr;
  api::Executor* connection_executor = nullptr;
  PodLogSource pod_log;
  PodUsageSource pod_usage;
  std::function<std::string()> more_metrics;  // Prometheus text of the other components
  // A warning for clients that create objects of the resource with this storage name. Empty: none.
  std::function<std::string(std::string_view resource)> create_warning;
  // Records what writes did to fields that have a feature gate. It outlives the handler.
  GateLog* gate_log = nullptr;
  // Admission plugins that are off, by Kubernetes' names (apiserver/admission/admission_plugins.h).
  // ServiceAccount needs a controller that makes the accounts.
  std::set<std::string, std::less<>> disabled_admission = {"ServiceAccount"};
  TokenAuthenticator authenticate;  // for TokenReviews; a request already carries its user
  // The resources that the control plane serves. nullptr: the handler makes its own registry of the built-in
  // resources.
  std::shared_ptr<ResourceRegistry> registry = nullptr;
};

class Handler {
 public:
  // `env` and `store` outlive the handler. Creates the objects that every cluster has if they are missing:
  // its four namespaces and the Service of the API.
  static std::unique_ptr<Handler> Make(const api::Env& env, storage::Store& store, HandlerOptions options);
  virtual ~Handler() = default;

  // Responds exactly once, possibly later and from another thread.
  virtual void Serve(Request request, RequestScopePtr scope) = 0;
  // The same for a caller whose requests pass through nothing else.
  void Serve(Request request, Responder respond);
  // Serves a write of a caller in the same process. The rules are those of Serve(), but no body is encoded or
  // decoded as text, and the request does not count as in flight. Calls `done` exactly once, possibly before
  // this method returns or from another thread.
  virtual void Write(api::WriteRequest request, Sender sender, api::Client::WriteDone done) = 0;
  // Reads an object that is computed and not stored, by the storage name of its resource: PodMetrics and
  // NodeMetrics.
  virtual api::Result<api::ObjectPtr> Compute(std::string_view resource, const api::ObjectName& name) = 0;
  // Returns the current run of the server, so that a caller in the same process can observe its end. nullptr:
  // the server is down.
  virtual std::shared_ptr<Uptime> Connect() = 0;
  // The resources that the control plane serves. The registry lives as long as the handler and survives
  // restarts.
  virtual ResourceRegistry& registry() = 0;
};

}  // namespace terrarium::apiserver

#pragma once

// A whole control plane on the simulated runtime: one thread (the caller's), a virtual clock and a seed. Two
// testbeds with the same options and the same calls have byte-identical histories.
//
//   Testbed bed({.nodes = 1});
//   bed.Must(bed.Apply(yaml));
//   bed.clock().RunUntilIdle(1min);
//   EXPECT_EQ(bed.Pod("web").phase(), "Running");
//
// Components run only inside the clock's methods. The write methods below return the response immediately;
// controllers react when the clock runs.
//
// A monitor checks every revision against the invariants (testbed/invariants). By default a violation ends
// the process; see on_violation.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/clock.h"
#include "api/base/status.h"
#include "api/client.h"
#include "api/object.h"
#include "api/pod_script/pod_script.h"
#include "apiserver/request.h"
#include "testbed/control_plane/component_change.h"
#include "testbed/control_plane/control_plane.h"
#include "testbed/embedding/manifests.h"
#include "testbed/embedding/timeline.h"
#include "testbed/embedding/views.h"
#include "testbed/invariants/violation.h"
#include "testbed/runtime/clock_control.h"

namespace terrarium::api {
class HttpCaller;
}
namespace terrarium::controllers {
class WhyLog;
}
namespace terrarium::kubelet_fake {
class NodeAgent;
class PodRules;
}  // namespace terrarium::kubelet_fake

namespace terrarium::testbed {

namespace invariants {
class Monitor;
}

class CallTargets;

struct TestbedOptions {
  std::uint64_t seed = 1;
  std::string feature_gates = {};                                   // of every component: "A=true,B=false"
  std::map<std::string, std::string> component_feature_gates = {};  // overrides by component
  std::string controllers = "*";                                    // kube-controller-manager's syntax
  bool kubelet = true;
  bool scheduler = true;
  int nodes = 3;                     // registered at start: node-0, node-1, ...
  api::PodScript pod_defaults = {};  // for keys that a pod's script leaves out
  bool quiet = false;                // true: no component warnings on standard error
  api::Time start = api::Time(std::chrono::seconds(1'767'225'600));  // 2026-01-01T00:00:00Z
  // Empty: prints the violation with the controllers' latest decisions about its objects, and aborts the
  // process.
  invariants::Report on_violation = {};
  // Calls the services that users run (see api/http_caller.h). Outlives the testbed. nullptr: such calls are
  // not possible.
  api::HttpCaller* http_caller = nullptr;
  // Maps Services to the targets of that caller's calls. Empty: the testbed creates its own.
  std::shared_ptr<CallTargets> call_targets = {};
};

class Testbed {
 public:
  using Written = api::Result<api::ObjectPtr>;

  explicit Testbed(TestbedOptions options = {});
  ~Testbed();

  ClockControl& clock();
  api::Time Now() const;
  ControlPlane& control_plane();
  // The operations of the control API on pods and nodes. A restart of the kubelet invalidates the references.
  // REQUIRES: the kubelet runs.
  kubelet_fake::PodRules& rules();
  kubelet_fake::NodeAgent& nodes();
  // Maps Services to the targets of calls.
  CallTargets& call_targets();
  // The controllers' decisions and their reasons.
  controllers::WhyLog& why();
  invariants::Monitor& monitor();
  // The violation with the controllers' latest decisions about its objects.
  std::string Explained(const invariants::Violation& violation) const;
  // The history of the control plane, to print when a test fails.
  Timeline& timeline();

  // Components, by name: "apiserver", "controller-manager", "scheduler", "kubelet". See docs/components.md. A
  // call fails and changes nothing if the gates conflict, or if it starts a running component or stops a
  // stopped one.
  //
  // Changes only the gates named in `gates`. A running component is restarted if any of them changes. A
  // stopped component gets them when it starts.
  ChangeResult SetGates(const std::string& component, const std::map<std::string, bool>& gates);
  ChangeResult Start(const std::string& component);
  // Stops gracefully: first runs all work that is due now, as Settle() does.
  ChangeResult Stop(const std::string& component);
  ChangeResult Restart(const std::string& component);
  // Stops immediately, possibly between two writes and with responses still on their way. The component stays
  // down until Start().
  ChangeResult Crash(const std::string& component);
  // Crashes the component later, while the clock runs: at its `write`-th write from now on (1: the next one;
  // Events do not count), before the write is sent, or just after, so that its response is lost. A second
  // call replaces the first. REQUIRES: the component runs and is not the apiserver; write > 0.
  enum class CrashMoment { kBeforeWrite, kAfterWrite };
  void CrashAtWrite(const std::string& component, int write, CrashMoment moment = CrashMoment::kBeforeWrite);
  // REQUIRES: the component exists.
  ComponentInfo Component(const std::string& component) const;
  api::FeatureGates Gates(const std::string& component) const { return Component(component).gates; }
  bool IsRunning(const std::string& component) const { return Component(component).running; }
  // Gate changes, and the gated fields that writes dropped, kept, removed or restored.
  const apiserver::GateLog& gate_log() const;

  // Applies YAML or JSON as `kubectl apply -f` would (testbed/embedding/manifests.h).
  ApplyReport Apply(std::string_view manifests, const ApplyOptions& options = {});
  Written Create(std::string_view resource, std::string_view ns, api::Json object);
  Written Update(std::string_view resource, api::Json object, std::string_view subresource = "");
  Written Patch(std::string_view resource, api::ObjectName name, api::Json patch,
                std::string_view subresource = "");
  Written Delete(std::string_view resource, api::ObjectName name, api::DeleteRequest options = {});
  Written Evict(const api::ObjectName& pod);
  // Sends any request and returns its response.
  apiserver::Response Serve(apiserver::Request request);

  api::ObjectPtr Get(std::string_view resource, std::string_view ns,
                     std::string_view name);  // nullptr: not found
  std::vector<api::ObjectPtr> List(std::string_view resource, std::optional<std::string> ns = std::nullopt);
  // The same as a view with typed fields.
  template <typename View>
  View ViewOf(std::string_view name, std::string_view ns = "default") {
    return View(Get(View::kResource, ns, name));
  }
  DeploymentView Deployment(std::string_view name, std::string_view ns = "default");
  ReplicaSetView ReplicaSet(std::string_view name, std::string_view ns = "default");
  JobView Job(std::string_view name, std::string_view ns = "default");
  PodView Pod(std::string_view name, std::string_view ns = "default");
  NodeView Node(std::string_view name);
  // Filtered by labels ("app=web,tier!=db") and by namespace; nullopt: all namespaces.
  std::vector<PodView> Pods(std::string_view selector = "", std::optional<std::string> ns = std::nullopt);
  std::vector<ReplicaSetView> ReplicaSets(std::string_view selector = "",
                                          std::optional<std::string> ns = std::nullopt);
  // Events about one object, or, without kind and name, all Events. In the order in which they were first
  // recorded.
  std::vector<EventView> Events(std::string_view kind = "", std::string_view name = "",
                                std::string_view ns = "default");

  // Runs the clock until a condition of `kubectl wait --for` (testbed/control_plane/object_condition.h)
  // holds, and returns the revision at which it first held. Fails with 504 and kubectl's message when `limit`
  // passes first, and with 400 or 404 for an unknown condition or resource.
  api::Result<std::int64_t> WaitFor(std::string_view resource, api::ObjectName name,
                                    const std::string& condition, api::Duration limit);

  // Holds a pod before it is "ready" or while it is "terminating", as the control API does; rules() offers
  // more. Fails as PodRules::Hold does. REQUIRES: the kubelet runs.
  api::Result<api::Json> Hold(const api::ObjectName& pod, std::string_view point);
  // Lets a held pod continue. Empty `point`: releases all points. `exit_code`: the pod ends with it.
  api::Result<api::Json> Release(const api::ObjectName& pod, std::string_view point = "",
                                 std::optional<int> exit_code = std::nullopt);

  // Returns the value, or prints the Status and aborts the process: for the setup steps of a test.
  static std::vector<Applied> Must(ApplyReport report);
  template <typename T>
  static T Must(api::Result<T> result) {
    if (!result.ok()) EndWith(result.status());
    return std::move(*result);
  }

 private:
  class Impl;
  [[noreturn]] static void EndWith(const api::Status& status);
  std::unique_ptr<Impl> impl_;
};

}  // namespace terrarium::testbed

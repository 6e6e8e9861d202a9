#pragma once

// A whole plane on the simulated runtime: one thread (the caller's), a virtual clock and a seed. Two testbeds with the
// same options and the same calls have the same history, byte by byte.
//
//   Testbed bed({.nodes = 1});
//   bed.Must(bed.Apply(yaml));
//   bed.clock().RunUntilIdle(1min);
//   EXPECT_EQ(bed.Pod("web").phase(), "Running");
//
// Nothing happens between calls: components work only inside the clock's methods. Writes by the methods below are
// answered at once and their consequences wait for the clock.
//
// A monitor holds every revision against the invariants (testbed/invariants): a test in which one is broken ends there.

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
#include "testbed/clock_control.h"
#include "testbed/component_change.h"
#include "testbed/invariants/violation.h"
#include "testbed/manifests.h"
#include "testbed/plane.h"
#include "testbed/timeline.h"
#include "testbed/views.h"

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
  std::string feature_gates = {};  // of every component: "A=true,B=false"
  std::map<std::string, std::string> component_feature_gates = {};  // on top of those, by component
  std::string controllers = "*";   // kube-controller-manager's syntax
  bool kubelet = true;
  bool scheduler = true;
  int nodes = 3;  // registered at start: node-0, node-1, ...
  api::PodScript pod_defaults = {};  // how pods behave that do not say
  bool quiet = false;  // without the components' warnings on standard error
  api::Time start = api::Time(std::chrono::seconds(1'767'225'600));  // 2026-01-01T00:00:00Z
  // Empty: prints the violation, and why the controllers did what they last did to its objects, and ends the process.
  invariants::Report on_violation = {};
  // What services that users run are called with (see api/http_caller.h); outlives the testbed. nullptr: none can be.
  api::HttpCaller* http_caller = nullptr;
  // Where that caller's calls to Services go, for a caller that asks. Empty: the testbed makes its own.
  std::shared_ptr<CallTargets> call_targets = {};
};

class Testbed {
 public:
  using Written = api::Result<api::ObjectPtr>;

  explicit Testbed(TestbedOptions options = {});
  ~Testbed();

  ClockControl& clock();
  api::Time Now() const;
  Plane& plane();
  // What the control API can do to pods and nodes. Ask anew after the kubelet was restarted. REQUIRES: it runs.
  kubelet_fake::PodRules& rules();
  kubelet_fake::NodeAgent& nodes();
  // Where calls to Services go.
  CallTargets& call_targets();
  // What the controllers did, and why.
  controllers::WhyLog& why();
  invariants::Monitor& monitor();
  // A violation with the newest records of why the controllers did what they did to its objects.
  std::string Explained(const invariants::Violation& violation) const;
  // What happened, to be shown when a test fails.
  Timeline& timeline();

  // Components, by name: "apiserver", "controller-manager", "scheduler", "kubelet". docs/components.md has the story.
  // Gates that do not go together, a start of one that runs, a stop of one that does not: refused, and nothing changes.
  //
  // Those named in `gates` change, the others stay. One that runs is restarted with them, unless all are so already; one
  // that does not gets them when it starts.
  ChangeResult SetGates(const std::string& component, const std::map<std::string, bool>& gates);
  ChangeResult Start(const std::string& component);
  // In good order: what is ready at this instant is worked off first, as Settle() does.
  ChangeResult Stop(const std::string& component);
  ChangeResult Restart(const std::string& component);
  // As it is, in the middle of what it does: between two writes, with answers on their way. Down until it is started.
  ChangeResult Crash(const std::string& component);
  // Later, while the clock is moved: when the component has come to its nth write from now on (1: the next one; Events do
  // not count), before it is sent, or just after, so that its answer is lost. A second call takes the place of the first.
  // REQUIRES: it is not the apiserver; write > 0.
  enum class CrashMoment { kBeforeWrite, kAfterWrite };
  void CrashAtWrite(const std::string& component, int write, CrashMoment moment = CrashMoment::kBeforeWrite);
  // REQUIRES: there is such a component.
  ComponentInfo Component(const std::string& component) const;
  api::FeatureGates Gates(const std::string& component) const { return Component(component).gates; }
  bool IsRunning(const std::string& component) const { return Component(component).running; }
  // Changes of gates, and the fields that were dropped, kept, vanished or came back.
  const apiserver::GateLog& gate_log() const;

  // Applies YAML or JSON as `kubectl apply -f` would (testbed/manifests.h).
  ApplyReport Apply(std::string_view manifests, const ApplyOptions& options = {});
  Written Create(std::string_view resource, std::string_view ns, api::Json object);
  Written Update(std::string_view resource, api::Json object, std::string_view subresource = "");
  Written Patch(std::string_view resource, api::ObjectName name, api::Json patch, std::string_view subresource = "");
  Written Delete(std::string_view resource, api::ObjectName name, api::DeleteRequest options = {});
  Written Evict(const api::ObjectName& pod);
  // Sends any request and gives its answer.
  apiserver::Response Serve(apiserver::Request request);

  api::ObjectPtr Get(std::string_view resource, std::string_view ns, std::string_view name);  // nullptr: not there
  std::vector<api::ObjectPtr> List(std::string_view resource, std::optional<std::string> ns = std::nullopt);
  // The same to read fields from.
  template <typename View>
  View ViewOf(std::string_view name, std::string_view ns = "default") {
    return View(Get(View::kResource, ns, name));
  }
  DeploymentView Deployment(std::string_view name, std::string_view ns = "default");
  ReplicaSetView ReplicaSet(std::string_view name, std::string_view ns = "default");
  JobView Job(std::string_view name, std::string_view ns = "default");
  PodView Pod(std::string_view name, std::string_view ns = "default");
  NodeView Node(std::string_view name);
  // Of one namespace, or of all; of those with matching labels ("app=web,tier!=db").
  std::vector<PodView> Pods(std::string_view selector = "", std::optional<std::string> ns = std::nullopt);
  std::vector<ReplicaSetView> ReplicaSets(std::string_view selector = "", std::optional<std::string> ns = std::nullopt);
  // About one object, or all there are, in the order in which they were first recorded.
  std::vector<EventView> Events(std::string_view kind = "", std::string_view name = "", std::string_view ns = "default");

  // Runs the clock until a condition holds in the words of `kubectl wait --for` (testbed/object_condition.h), at
  // whichever revision in between, and gives that revision. 504 with kubectl's words when `limit` passes first; 400 or 404
  // for a condition, or a resource, that there is not.
  api::Result<std::int64_t> WaitFor(std::string_view resource, api::ObjectName name, const std::string& condition,
                                    api::Duration limit);

  // Holds a pod before it is "ready" or while it is "terminating" and lets it go again, as the control API does; more is
  // in rules(). Fails as PodRules says. REQUIRES: the kubelet runs.
  api::Result<api::Json> Hold(const api::ObjectName& pod, std::string_view point);
  // Without a point: from all. With an exit code: that is how it ends.
  api::Result<api::Json> Release(const api::ObjectName& pod, std::string_view point = "",
                                 std::optional<int> exit_code = std::nullopt);

  // The value, or the end of the process with the Status: for steps that are not what a test is about.
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

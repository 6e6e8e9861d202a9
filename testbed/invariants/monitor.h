#pragma once

// Checks the invariants of a control plane at every revision of its store and for every request of its
// components. The monitor keeps a small model of its own and uses only watches of the store. So it sees every
// revision whenever it runs, and a control plane without a monitor pays nothing.
//
// Single-threaded: for control planes on the simulated runtime, where nothing is written while the monitor
// runs.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/base/clock.h"
#include "api/base/feature_gates.h"
#include "api/client.h"
#include "storage/store.h"
#include "testbed/invariants/rule.h"
#include "testbed/invariants/unchanged_write.h"
#include "testbed/invariants/violation.h"

namespace terrarium::testbed::invariants {

// The gates of a control plane, and whether its controllers run.
struct Conduct {
  bool controllers_run = true;  // the controller-manager and the apiserver are running
  api::FeatureGates controller_manager = {};
  api::FeatureGates apiserver = {};
};

struct MonitorOptions {
  std::set<std::string> controllers = {};  // the running ones, by kube-controller-manager's names
  Conduct conduct = {};
  Report on_violation;  // called when a violation is detected, during a write
  // Called for each request of a component after the monitor has processed its changes. May be empty.
  std::function<void(const std::string& component)> on_write = {};
};

class Monitor {
 public:
  explicit Monitor(MonitorOptions options);

  // Begins with the current state. `store` and `clock` outlive the monitor.
  void Follow(storage::Store& store, const api::Clock& clock);
  // Processes all changes since the last call.
  void Catchup();
  // REQUIRES: the control plane is idle.
  void Idle();
  // Components were stopped, started or given other gates: selects the rules that hold from now on. The next
  // status that a controller writes may still reflect what it observed before, and is not reported as a
  // violation.
  void SetConduct(const Conduct& conduct);

  // Wraps the client of a component to observe its requests. The monitor outlives the requests and their
  // responses. REQUIRES: Follow() is called before the first request.
  std::unique_ptr<api::Client> Watched(std::unique_ptr<api::Client> client, std::string component);

 private:
  class WatchedClient;
  struct Source {
    std::string resource;
    void (Monitor::*apply)(const Source& source, const Moment& moment, const api::ObjectPtr& object,
                           bool gone);
    std::unique_ptr<storage::Watch> watch;
  };
  void AddSource(const char* resource, decltype(Source::apply) apply);
  void ApplyPod(const Source&, const Moment&, const api::ObjectPtr&, bool gone);
  void ApplyReplicaSet(const Source&, const Moment&, const api::ObjectPtr&, bool gone);
  void ApplyDeployment(const Source&, const Moment&, const api::ObjectPtr&, bool gone);
  void ApplyJob(const Source&, const Moment&, const api::ObjectPtr&, bool gone);
  void ApplyDaemonSet(const Source&, const Moment&, const api::ObjectPtr&, bool gone);
  void ApplyStatefulSet(const Source&, const Moment&, const api::ObjectPtr&, bool gone);
  void TakeFrom(const Source& source);
  // Passes all current objects to new rules.
  void Replay();
  // A controller that sets a field which the apiserver drops sends the same write again and again.
  bool Excuses(const SentWrite& sent) const;

  MonitorOptions options_;
  std::vector<std::unique_ptr<Rule>> rules_;
  UnchangedWrite unchanged_write_;
  storage::Store* store_ = nullptr;
  const api::Clock* clock_ = nullptr;
  std::vector<Source> sources_;  // owners before their dependents
  std::int64_t revision_ = 0;    // all changes up to it have been processed
  std::string writer_;           // the component whose request is being processed
  std::vector<storage::Event> taken_;
  std::vector<std::pair<const Source*, storage::Event>> pending_;
  // As last seen, by uid.
  std::map<std::string, PodPtr> pods_;
  std::map<std::string, ReplicaSetPtr> replica_sets_;
  std::map<std::string, DeploymentPtr> deployments_;
  std::map<std::string, JobPtr> jobs_;
  std::map<std::string, DaemonSetPtr> daemon_sets_;
  std::map<std::string, StatefulSetPtr> stateful_sets_;
};

}  // namespace terrarium::testbed::invariants

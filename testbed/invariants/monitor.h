#pragma once

// Watches over a plane: every revision of its store is held against the invariants, and every request of its
// components. It keeps a small model of its own and asks the store for nothing but its watches, so it sees every
// revision whenever it is run, and costs nothing where there is none.
//
// Single-threaded: for planes on the simulated runtime, where nothing is written while it looks.

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

// By which gates a plane works, and who works in it.
struct Conduct {
  bool controllers_run = true;  // the controller-manager does, and there is an apiserver for it
  api::FeatureGates controller_manager = {};
  api::FeatureGates apiserver = {};
};

struct MonitorOptions {
  std::set<std::string> controllers = {};  // that run, by kube-controller-manager's names: their rules are on
  Conduct conduct = {};
  Report on_violation;                     // called where it is noticed, in the middle of a write
  // Told of each request of a component once what came of it has been taken. Empty: nobody is.
  std::function<void(const std::string& component)> on_write = {};
};

class Monitor {
 public:
  explicit Monitor(MonitorOptions options);

  // Begins with what there is. Both outlive the monitor.
  void Follow(storage::Store& store, const api::Clock& clock);
  // Takes what has been written since.
  void Catchup();
  // REQUIRES: the plane has nothing left to do but housekeeping.
  void Idle();
  // Components were stopped, started or given other gates: which rules hold follows from that. What controllers have
  // seen before may still show in what they write next, and nobody is blamed for it.
  void SetConduct(const Conduct& conduct);

  // The client of a component, with its requests watched. The monitor outlives its requests and their answers.
  // REQUIRES: the plane is followed before the first request.
  std::unique_ptr<api::Client> Watched(std::unique_ptr<api::Client> client, std::string component);

 private:
  class WatchedClient;
  struct Source {
    std::string resource;
    void (Monitor::*apply)(const Source& source, const Moment& moment, const api::ObjectPtr& object, bool gone);
    std::unique_ptr<storage::Watch> watch;
  };
  void AddSource(const char* resource, decltype(Source::apply) apply);
  void ApplyPod(const Source&, const Moment&, const api::ObjectPtr&, bool gone);
  void ApplyReplicaSet(const Source&, const Moment&, const api::ObjectPtr&, bool gone);
  void ApplyDeployment(const Source&, const Moment&, const api::ObjectPtr&, bool gone);
  void ApplyJob(const Source&, const Moment&, const api::ObjectPtr&, bool gone);
  void TakeFrom(const Source& source);
  // Tells fresh rules of everything there is.
  void Replay();
  // A controller that knows a field which the apiserver drops asks for it again and again.
  bool Excuses(const SentWrite& sent) const;

  MonitorOptions options_;
  std::vector<std::unique_ptr<Rule>> rules_;
  UnchangedWrite unchanged_write_;
  storage::Store* store_ = nullptr;
  const api::Clock* clock_ = nullptr;
  std::vector<Source> sources_;  // owners before what they own
  std::int64_t revision_ = 0;    // up to which everything has been taken
  std::string writer_;           // the component whose request is being served
  std::vector<storage::Event> taken_;
  std::vector<std::pair<const Source*, storage::Event>> pending_;
  // As last seen, by uid.
  std::map<std::string, PodPtr> pods_;
  std::map<std::string, ReplicaSetPtr> replica_sets_;
  std::map<std::string, DeploymentPtr> deployments_;
  std::map<std::string, JobPtr> jobs_;
};

}  // namespace terrarium::testbed::invariants

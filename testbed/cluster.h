#pragma once

// One plane behind a server, with all that is its own: time, objects, components, control API, and the account of who
// uses it. Thread-safe.

#include <memory>
#include <optional>
#include <string>

#include "api/base/status.h"
#include "apiserver/request.h"
#include "testbed/cluster_settings.h"
#include "testbed/cluster_use.h"
#include "testbed/control_api.h"
#include "testbed/plane.h"
#include "testbed/real_driver.h"
#include "testbed/runtime.h"

namespace terrarium::testbed {

class ClusterSet;

class Cluster {
 public:
  // `pool` and `log` outlive the cluster. Its components begin their work. Its control API serves the endpoints of
  // `clusters` as well, if that is given. Fails when the data file cannot be used.
  static api::Result<std::unique_ptr<Cluster>> Make(LivePool& pool, api::Time start, spdlog::logger& log,
                                                    const ClusterOptions& options, ClusterSet* clusters);
  ~Cluster();

  const std::string& name() const { return name_; }
  std::uint64_t seed() const { return seed_; }
  Runtime& runtime() { return runtime_; }
  Plane& plane() { return *plane_; }

  // The kube API and the control API, paths as at the root. Calls `respond` exactly once, possibly later and from
  // another thread.
  void Serve(apiserver::Request request, apiserver::Responder respond);
  // Runs `work` where the clock may be moved.
  void Control(std::function<void(ClockControl&)> work) { driver_->Control(std::move(work)); }
  // Ends the moves of the clock that are under way, as busy.
  void EndMoves() { driver_->EndMoves(); }
  // Ends all watches and makes every acknowledged write durable; reads are still served.
  void Shutdown() { plane_->Shutdown(); }
  // Lets nobody in any more, ends what is open, waits for requests that have no answer yet and stops the work. False:
  // somebody was still there after `limit`, and the cluster must not be destroyed. REQUIRES: not called by that work.
  bool End(std::chrono::nanoseconds limit);

 private:
  Cluster(LivePool& pool, api::Time start, const ClusterOptions& options);

  std::string name_;
  std::uint64_t seed_;
  LivePool& pool_;
  Runtime runtime_;
  std::unique_ptr<Plane> plane_;
  std::unique_ptr<LiveDriver> driver_;
  std::unique_ptr<ControlApi> control_;
  std::shared_ptr<api::HttpCaller> http_caller_;
  std::shared_ptr<ClusterUses> uses_ = std::make_shared<ClusterUses>();
  std::shared_ptr<ClusterStreams> streams_ = std::make_shared<ClusterStreams>();
};

}  // namespace terrarium::testbed

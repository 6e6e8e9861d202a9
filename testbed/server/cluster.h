#pragma once

// One control plane of a server, with its own clock, objects, components, control API and requests.
// Thread-safe.

#include <atomic>
#include <memory>
#include <optional>
#include <string>

#include "api/base/status.h"
#include "apiserver/request.h"
#include "apiserver/request_scope.h"
#include "testbed/control_plane/control_plane.h"
#include "testbed/runtime/real_driver.h"
#include "testbed/runtime/runtime.h"
#include "testbed/server/cluster_manager.h"
#include "testbed/server/cluster_settings.h"
#include "testbed/server/control_api.h"

namespace terrarium::testbed {

class Cluster {
 public:
  // Creates a cluster and starts its components. `pool` and `log` outlive the cluster. If `clusters` is
  // given, the control API also serves its endpoints. Fails if the data file cannot be used.
  static api::Result<std::unique_ptr<Cluster>> Make(LivePool& pool, api::Time start, spdlog::logger& log,
                                                    const ClusterOptions& options, ClusterManager* clusters);
  ~Cluster();

  const std::string& name() const { return name_; }
  std::uint64_t seed() const { return seed_; }
  Runtime& runtime() { return runtime_; }
  ControlPlane& control_plane() { return *control_plane_; }

  // Serves the Kubernetes API and the control API; paths have no cluster prefix. Responds exactly once,
  // possibly later and from another thread.
  void Serve(apiserver::Request request, apiserver::RequestScopePtr scope);
  // Runs `work` where it may move the clock.
  void Control(std::function<void(ClockControl&)> work) { driver_->Control(std::move(work)); }
  // Ends the current clock moves; they report busy.
  void EndMoves() { driver_->EndMoves(); }
  // Logs the first problem with the data file, once.
  void CheckStore(spdlog::logger& log);
  // Ends all watches and makes every acknowledged write durable; reads are still served.
  void Shutdown() { control_plane_->Shutdown(); }
  // Rejects new requests, ends streams and clock moves, waits for requests without a response, and stops the
  // components. Returns false if some work was still running after `limit`: the cluster must then not be
  // destroyed. REQUIRES: the caller is not part of that work.
  bool End(std::chrono::nanoseconds limit);

 private:
  Cluster(LivePool& pool, api::Time start, const ClusterOptions& options);

  std::string name_;
  std::uint64_t seed_;
  LivePool& pool_;
  Runtime runtime_;
  std::unique_ptr<ControlPlane> control_plane_;
  std::unique_ptr<LiveDriver> driver_;
  std::unique_ptr<ControlApi> control_;
  std::shared_ptr<api::HttpCaller> http_caller_;
  // Streams refer to it and may outlive the cluster.
  const apiserver::RequestGroupPtr requests_ = std::make_shared<apiserver::RequestGroup>();
  std::atomic<bool> store_trouble_logged_ = false;
};

}  // namespace terrarium::testbed

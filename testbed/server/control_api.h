#pragma once

// The control API below /terrarium/v1: operations for tests that the Kubernetes API does not have. Requests
// and responses are plain JSON, errors are Status objects. The tables of endpoints are in control/.

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/status.h"
#include "api/json.h"
#include "apiserver/request.h"
#include "testbed/control_plane/control_plane.h"
#include "testbed/runtime/clock_control.h"
#include "testbed/server/cluster_manager.h"

namespace terrarium::testbed {

class ControlApi {
 public:
  // Runs `work`, which may move the clock, now or later, one after the other. Its moves end once `cancelled`
  // is cancelled, which may be nullptr.
  using ClockWork = std::function<void(ClockControl&)>;
  using RunControl = std::function<void(ClockWork work, std::shared_ptr<api::CancelToken> cancelled)>;

  // `control_plane` and `clusters` outlive the API and every call of it. Without `clusters` there are no
  // endpoints for them.
  ControlApi(ControlPlane& control_plane, RunControl run_control, ClusterManager* clusters = nullptr)
      : control_plane_(control_plane), run_control_(std::move(run_control)), clusters_(clusters) {}

  static bool IsControlPath(const std::string& path);
  // Calls `respond` exactly once, possibly later and from another thread. REQUIRES:
  // IsControlPath(request.path)
  void Serve(const apiserver::Request& request, apiserver::Responder respond);

  // Builds an error response.
  static apiserver::Response Refusal(const api::Status& status);

  ControlPlane& control_plane() { return control_plane_; }
  ClusterManager& clusters() { return *clusters_; }  // REQUIRES: the API has them
  void RunOnClock(ClockWork work, std::shared_ptr<api::CancelToken> cancelled) {
    run_control_(std::move(work), std::move(cancelled));
  }

 private:
  ControlPlane& control_plane_;
  RunControl run_control_;
  ClusterManager* clusters_;
};

}  // namespace terrarium::testbed

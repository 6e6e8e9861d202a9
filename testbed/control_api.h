#pragma once

// The control endpoints below /terrarium/v1: what a test needs of the plane that Kubernetes has no word for. Plain JSON in
// and out, errors as Status objects. One table of endpoints in control_api.cc says what there is.

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/status.h"
#include "api/json.h"
#include "apiserver/request.h"
#include "testbed/clock_control.h"
#include "testbed/plane.h"

namespace terrarium::testbed {

class ClusterSet;

class ControlApi {
 public:
  // Runs its argument where the clock may be moved, now or later, one after the other.
  using RunControl = std::function<void(std::function<void(ClockControl&)>)>;

  // `plane` and `clusters` outlive the API and every call of it. Without `clusters` there are no endpoints for them.
  ControlApi(Plane& plane, RunControl run_control, ClusterSet* clusters = nullptr)
      : plane_(plane), run_control_(std::move(run_control)), clusters_(clusters) {}

  static bool IsControlPath(const std::string& path);
  // Calls `respond` exactly once, possibly later and from another thread. REQUIRES: IsControlPath(request.path)
  void Serve(const apiserver::Request& request, apiserver::Responder respond);

  // How this API says no.
  static apiserver::Response Refusal(const api::Status& status);

  Plane& plane() { return plane_; }
  ClusterSet& clusters() { return *clusters_; }  // REQUIRES: the API has them
  void RunOnClock(std::function<void(ClockControl&)> work) { run_control_(std::move(work)); }

 private:
  Plane& plane_;
  RunControl run_control_;
  ClusterSet* clusters_;
};

}  // namespace terrarium::testbed

#pragma once

// HTTP calls in flight for a controller. Their responses arrive on any thread, perhaps after the controller's
// end, and are posted to its lane. While a call is in flight the control plane is not idle and a virtual
// clock stands still.

#include <cstdint>
#include <functional>
#include <memory>

#include "api/base/executor.h"
#include "api/http_caller.h"

namespace terrarium::controllers::replicaset {

// Used on the lane of `lane`, and destroyed there or when the lane no longer runs. After the destruction no
// response touches the lane.
class OutsideCalls {
 public:
  using CallId = std::uint64_t;
  using Answered = std::function<void(CallId call, const api::HttpAnswer& answer)>;

  explicit OutsideCalls(api::Executor& lane);
  OutsideCalls(const OutsideCalls&) = delete;
  OutsideCalls& operator=(const OutsideCalls&) = delete;
  ~OutsideCalls();

  // Calls `answered` on the lane, never before Start() returns, and not after the destruction of this object.
  CallId Start(api::HttpCaller& caller, api::HttpCall call, Answered answered);
  // The control plane and the clock stop waiting for the response. `answered` is still called when it
  // arrives.
  void Abandon(CallId call);

 private:
  struct State;
  std::shared_ptr<State> state_;
  CallId last_ = 0;
};

}  // namespace terrarium::controllers::replicaset

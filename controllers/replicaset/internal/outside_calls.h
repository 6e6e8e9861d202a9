#pragma once

// HTTP calls under way for a controller: their answers come on any thread, perhaps after the controller's end, and are
// brought to its lane. While a call is under way the plane is not idle and a virtual clock stands still.

#include <cstdint>
#include <functional>
#include <memory>

#include "api/base/executor.h"
#include "api/http_caller.h"

namespace terrarium::controllers::replicaset {

// Used on the lane of `lane`, and destroyed there or when nobody runs it any more. After that no answer touches the lane.
class OutsideCalls {
 public:
  using CallId = std::uint64_t;
  using Answered = std::function<void(CallId call, const api::HttpAnswer& answer)>;

  explicit OutsideCalls(api::Executor& lane);
  OutsideCalls(const OutsideCalls&) = delete;
  OutsideCalls& operator=(const OutsideCalls&) = delete;
  ~OutsideCalls();

  // `answered` is called on the lane, never before this returns, and not after the end of this.
  CallId Start(api::HttpCaller& caller, api::HttpCall call, Answered answered);
  // Nobody waits for that answer any more, neither does the clock. It comes all the same.
  void Abandon(CallId call);

 private:
  struct State;
  std::shared_ptr<State> state_;
  CallId last_ = 0;
};

}  // namespace terrarium::controllers::replicaset

#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "api/forwarding_client.h"

namespace terrarium::testbed {

// A component's client that can be closed gracefully. After Close() it sends nothing, and it calls `drained`
// when all requests sent before have their responses. Single-threaded, on the component's lane.
class DrainingClient : public api::ForwardingClient {
 public:
  using api::ForwardingClient::ForwardingClient;

  void Send(api::WriteRequest request, WriteDone done) override {
    if (state_->drained) return;  // closed: `done` is never called, and its owner is about to be destroyed
    ++state_->unanswered;
    next().Send(std::move(request), [state = state_, done = std::move(done)](Written written) {
      --state->unanswered;
      done(std::move(written));
      if (state->drained && state->unanswered == 0) std::exchange(state->drained, [] {})();
    });
  }
  // `drained` is called once, possibly before this returns.
  void Close(std::function<void()> drained) {
    if (state_->unanswered == 0) {
      state_->drained = [] {};
      return drained();
    }
    state_->drained = std::move(drained);
  }

 private:
  // Shared with pending responses.
  struct State {
    int unanswered = 0;
    std::function<void()> drained;  // set: closed
  };
  std::shared_ptr<State> state_ = std::make_shared<State>();
};

}  // namespace terrarium::testbed

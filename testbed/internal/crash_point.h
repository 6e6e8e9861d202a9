#pragma once

#include <memory>
#include <string>
#include <utility>

#include "api/forwarding_client.h"

namespace terrarium::testbed {

// Where a component is to crash: at one of its writes. From there on nothing that it sends goes out and no answer comes
// in, as if it had gone at that point of its code; whoever runs it ends it after the piece of work.
struct CrashPoint {
  std::string component;  // empty: none is to crash
  int writes_left = 0;    // it is the write that brings this to zero
  bool after = false;     // that write still goes out; its answer is lost
  bool reached = false;
};

// A client of a component that may be on its way to such a point.
class CrashingClient : public api::ForwardingClient {
 public:
  CrashingClient(std::unique_ptr<api::Client> next, std::shared_ptr<CrashPoint> point, std::string component)
      : ForwardingClient(std::move(next)), point_(std::move(point)), component_(std::move(component)) {}

  void Send(api::WriteRequest request, WriteDone done) override {
    if (point_->component != component_) return next().Send(std::move(request), std::move(done));
    if (point_->reached) return;
    // Events are nobody's decision, and when they are written is chance.
    if (request.resource != "events" && --point_->writes_left <= 0) {
      point_->reached = true;
      if (point_->after) next().Send(std::move(request), [](Written) {});
      return;
    }
    next().Send(std::move(request), [point = point_, done = std::move(done)](Written written) {
      if (!point->reached) done(std::move(written));
    });
  }

 private:
  std::shared_ptr<CrashPoint> point_;
  std::string component_;
};

}  // namespace terrarium::testbed

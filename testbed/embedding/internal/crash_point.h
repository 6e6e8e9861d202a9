#pragma once

#include <memory>
#include <string>
#include <utility>

#include "api/forwarding_client.h"

namespace terrarium::testbed {

// The write at which a component crashes. From that write on, the component's client drops every write and
// every response, as if the component had died at that point of its code. The testbed stops the component
// after the current piece of work.
struct CrashPoint {
  std::string component;  // empty: no crash is planned
  int writes_left = 0;    // the write that brings this to zero is the crash point
  bool after = false;     // that write is still sent, and its response is lost
  bool reached = false;
};

// The client of a component that may reach a crash point.
class CrashingClient : public api::ForwardingClient {
 public:
  CrashingClient(std::unique_ptr<api::Client> next, std::shared_ptr<CrashPoint> point, std::string component)
      : ForwardingClient(std::move(next)), point_(std::move(point)), component_(std::move(component)) {}

  void Send(api::WriteRequest request, WriteDone done) override {
    if (point_->component != component_) return next().Send(std::move(request), std::move(done));
    if (point_->reached) return;
    // Events do not count: they carry no decision of the component, and they are written at arbitrary points
    // between its other writes.
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

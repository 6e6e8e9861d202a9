#pragma once

// The dependencies and the interface of a controller.

#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "api/base/env.h"
#include "api/client.h"
#include "controllers/runtime/event_recorder.h"
#include "controllers/runtime/informer.h"
#include "controllers/runtime/metrics.h"
#include "controllers/runtime/why.h"

namespace terrarium::api {
class HttpCaller;
}

namespace terrarium::controllers {

// Everything lives on the controller-manager's lane and outlives the controllers.
struct ControllerContext {
  api::Env env;
  api::Client& client;
  InformerSet& informers;
  EventRecorder& recorder;
  Metrics& metrics;
  WhyLog& why;
  // Calls services that users run; nullptr: not available. Unlike the rest it may respond on any thread.
  api::HttpCaller* http = nullptr;
  std::string root_ca = {};  // PEM certificates for kube-root-ca.crt
};

// The constructor registers informers, indexes and handlers. Start() is called when all informers have
// synced. The destructor abandons work in progress, as a crash does.
class Controller {
 public:
  virtual ~Controller() = default;
  virtual void Start() = 0;
};

// Owns a controller that its informers' handlers refer to weakly, since informers may outlive it. Watch()
// registers the handlers.
template <typename T>
class SharedController final : public Controller {
 public:
  template <typename... Args>
  explicit SharedController(Args&&... args) : controller_(std::make_shared<T>(std::forward<Args>(args)...)) {
    controller_->Watch();
  }
  void Start() override { controller_->Start(); }

 private:
  std::shared_ptr<T> controller_;
};

}  // namespace terrarium::controllers

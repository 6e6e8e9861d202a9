#pragma once

// What every controller is given, and what it is.

#include <memory>
#include <string_view>

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
  // How services that users run are called; nullptr: they cannot be. Unlike the rest it may answer on any thread.
  api::HttpCaller* http = nullptr;
};

// Constructed: registers its informers, indexes and handlers. Started, when all informers have synced: works. Destroyed:
// stops where it is, without a goodbye.
class Controller {
 public:
  virtual ~Controller() = default;
  virtual void Start() = 0;
};

}  // namespace terrarium::controllers

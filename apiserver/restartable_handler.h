#pragma once

// An apiserver that can be stopped, crashed and started again, with other feature gates. Every run is a
// handler of its own, with gates, metrics and limits of its own, and lives until its last request has been
// answered; the store and the registry stay. While there is none, requests get 503. Thread-safe.

#include <memory>
#include <mutex>

#include "api/base/env.h"
#include "api/base/feature_gates.h"
#include "apiserver/handler.h"

namespace terrarium::apiserver {

class RestartableHandler : public Handler {
 public:
  // `env` and `store` outlive it; the gates of `env` are not used. Down until it is started.
  RestartableHandler(const api::Env& env, storage::Store& store, HandlerOptions options);

  // REQUIRES: it is down.
  void Start(const api::FeatureGates& gates);
  // Its watches end and later requests get 503. What is under way is answered, after a stop; after a crash
  // its answers are lost, which a client sees as a failure of a request that may have been carried out.
  // REQUIRES: it is up.
  void End(bool crash);
  bool IsUp() const { return Current() != nullptr; }

  void Serve(Request request, Responder respond) override;
  void Write(api::WriteRequest request, UserInfo user, api::Client::WriteDone done) override;
  std::shared_ptr<Uptime> Connect() override;
  ResourceRegistry& registry() override { return *options_.registry; }

 private:
  struct Run;
  std::shared_ptr<Run> Current() const;

  api::Env env_;
  storage::Store& store_;
  HandlerOptions options_;
  mutable std::mutex mutex_;
  std::shared_ptr<Run> run_;  // guarded by mutex_; nullptr: down
};

}  // namespace terrarium::apiserver

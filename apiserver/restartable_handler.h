#pragma once

// An apiserver that can be stopped, crashed and started again, with other feature gates. Every run is a
// handler of its own, with gates, metrics and limits of its own, and lives until its last request has its
// response; the store and the registry stay. While none runs, requests get 503. Thread-safe.

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
  // Ends its watches; later requests get 503. After a stop, requests in flight still get their responses.
  // After a crash the responses are lost: the client sees an error of a request that may have been carried
  // out. REQUIRES: it is up.
  void End(bool crash);
  bool IsUp() const { return Current() != nullptr; }

  using Handler::Serve;
  void Serve(Request request, RequestScopePtr scope) override;
  void Write(api::WriteRequest request, Sender sender, api::Client::WriteDone done) override;
  api::Result<api::ObjectPtr> Compute(std::string_view resource, const api::ObjectName& name) override;
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

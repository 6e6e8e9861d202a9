#include "apiserver/restartable_handler.h"

#include <utility>

#include "api/base/check.h"
#include "api/base/errors.h"
#include "apiserver/internal/respond.h"
#include "apiserver/request_group.h"
#include "apiserver/resource_registry.h"
#include "apiserver/uptime.h"

namespace terrarium::apiserver {

struct RestartableHandler::Run {
  Run(const api::Env& at, storage::Store& store, const HandlerOptions& options,
      const api::FeatureGates& its_gates)
      : gates(its_gates),
        env{at.clock, at.executor, at.prng, gates, at.log},
        handler(Handler::Make(env, store, options)) {}

  const api::FeatureGates gates;
  const api::Env env;
  const std::shared_ptr<Uptime> uptime = std::make_shared<Uptime>();
  const std::unique_ptr<Handler> handler;
  RequestGroup requests;
};

RestartableHandler::RestartableHandler(const api::Env& env, storage::Store& store, HandlerOptions options)
    : env_(env), store_(store), options_(std::move(options)) {
  if (options_.registry == nullptr) options_.registry = ResourceRegistry::Make();
}

std::shared_ptr<RestartableHandler::Run> RestartableHandler::Current() const {
  std::lock_guard lock(mutex_);
  return run_;
}

void RestartableHandler::Start(const api::FeatureGates& gates) {
  auto run = std::make_shared<Run>(env_, store_, options_, gates);
  std::lock_guard lock(mutex_);
  CHECK(run_ == nullptr);
  run_ = std::move(run);
}

void RestartableHandler::End(bool crash) {
  std::shared_ptr<Run> run;
  {
    std::lock_guard lock(mutex_);
    run = std::exchange(run_, nullptr);
  }
  CHECK(run != nullptr);
  run->uptime->End(crash);
  // A client requests the events that it has not received from the next run.
  run->requests.EndStreams(crash ? ResponseStream::State::kCut : ResponseStream::State::kEnd);
}

void RestartableHandler::Serve(Request request, RequestScopePtr scope) {
  auto run = Current();
  // The request, and then its stream, keep the run alive by its group, which is never closed.
  if (run == nullptr || !scope->Enter(RequestGroupPtr(run, &run->requests)))
    return scope->Respond(ErrorResponse({}, api::ServiceUnavailable(kDownMessage)));
  scope->OnResponse([run = run.get()](Response& response) {
    if (run->uptime->crashed()) response = ErrorResponse({}, api::ServiceUnavailable(kCrashedMessage));
  });
  run->handler->Serve(std::move(request), std::move(scope));
}

void RestartableHandler::Write(api::WriteRequest request, Sender sender, api::Client::WriteDone done) {
  auto run = Current();
  if (run == nullptr) return done(api::ServiceUnavailable(kDownMessage));
  Handler& handler = *run->handler;
  handler.Write(std::move(request), std::move(sender),
                [run = std::move(run), done = std::move(done)](api::Client::Written written) {
                  if (run->uptime->crashed()) return done(api::ServiceUnavailable(kCrashedMessage));
                  done(std::move(written));
                });
}

api::Result<api::ObjectPtr> RestartableHandler::Compute(std::string_view resource,
                                                        const api::ObjectName& name) {
  auto run = Current();
  if (run == nullptr) return api::ServiceUnavailable(kDownMessage);
  return run->handler->Compute(resource, name);
}

std::shared_ptr<Uptime> RestartableHandler::Connect() {
  auto run = Current();
  return run == nullptr ? nullptr : run->uptime;
}

}  // namespace terrarium::apiserver

#include "apiserver/restartable_handler.h"

#include <utility>

#include "api/base/check.h"
#include "api/base/errors.h"
#include "apiserver/internal/respond.h"
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
};

namespace {

// A watch as long as its server lives. What the client has not got then, it will ask the next one for.
class StreamOfRun : public ResponseStream {
 public:
  // `run` is held for as long as the stream needs it.
  StreamOfRun(std::unique_ptr<ResponseStream> stream, std::shared_ptr<Uptime> uptime,
              std::shared_ptr<void> run)
      : run_(std::move(run)), uptime_(std::move(uptime)), stream_(std::move(stream)) {}

  State Read(std::size_t max_bytes, std::string& out) override {
    if (uptime_->ended()) return uptime_->crashed() ? State::kCut : State::kEnd;
    return stream_->Read(max_bytes, out);
  }
  void SetWake(std::function<void()> wake) override {
    stream_->SetWake(wake);
    listener_ = uptime_->OnEnd(std::move(wake));
  }

 private:
  std::shared_ptr<void> run_;
  std::shared_ptr<Uptime> uptime_;
  std::unique_ptr<ResponseStream> stream_;
  std::unique_ptr<Uptime::Listener> listener_;
};

}  // namespace

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
}

void RestartableHandler::Serve(Request request, Responder respond) {
  auto run = Current();
  if (run == nullptr) return respond(ErrorResponse({}, api::ServiceUnavailable(kDownMessage)));
  Handler& handler = *run->handler;
  handler.Serve(std::move(request), [run = std::move(run), respond = std::move(respond)](Response response) {
    if (run->uptime->crashed()) return respond(ErrorResponse({}, api::ServiceUnavailable(kCrashedMessage)));
    if (response.stream)
      response.stream = std::make_unique<StreamOfRun>(std::move(response.stream), run->uptime, run);
    respond(std::move(response));
  });
}

void RestartableHandler::Write(api::WriteRequest request, UserInfo user, api::Client::WriteDone done) {
  auto run = Current();
  if (run == nullptr) return done(api::ServiceUnavailable(kDownMessage));
  Handler& handler = *run->handler;
  handler.Write(std::move(request), std::move(user),
                [run = std::move(run), done = std::move(done)](api::Client::Written written) {
                  if (run->uptime->crashed()) return done(api::ServiceUnavailable(kCrashedMessage));
                  done(std::move(written));
                });
}

std::shared_ptr<Uptime> RestartableHandler::Connect() {
  auto run = Current();
  return run == nullptr ? nullptr : run->uptime;
}

}  // namespace terrarium::apiserver

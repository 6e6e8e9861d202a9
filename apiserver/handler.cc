#include "apiserver/handler.h"

#include <atomic>
#include <utility>

#include <spdlog/spdlog.h>

#include "api/base/errors.h"
#include "api/base/executor.h"
#include "apiserver/internal/bootstrap.h"
#include "apiserver/internal/call.h"
#include "apiserver/internal/paths.h"
#include "apiserver/internal/respond.h"
#include "apiserver/internal/verbs.h"
#include "apiserver/table/table.h"
#include "apiserver/uptime.h"

namespace terrarium::apiserver {
namespace {

std::string_view MetricsVerb(Verb verb) {
  switch (verb) {
    case Verb::kCreate: return "POST";
    case Verb::kGet: return "GET";
    case Verb::kList: return "LIST";
    case Verb::kWatch: return "WATCH";
    case Verb::kUpdate: return "PUT";
    case Verb::kPatch: return "PATCH";
    case Verb::kDelete: return "DELETE";
    case Verb::kDeleteCollection: return "DELETECOLLECTION";
  }
  return "";
}

Endpoint EndpointOf(const Route& route) {
  if (route.verb == Verb::kWatch) return Endpoint::kWatch;
  bool list = route.verb == Verb::kList || route.verb == Verb::kDeleteCollection;
  return list ? Endpoint::kList : Endpoint::kObject;
}

Verb VerbOf(api::WriteRequest::Verb verb) {
  switch (verb) {
    case api::WriteRequest::Verb::kCreate: return Verb::kCreate;
    case api::WriteRequest::Verb::kUpdate: return Verb::kUpdate;
    case api::WriteRequest::Verb::kPatch: return Verb::kPatch;
    case api::WriteRequest::Verb::kDelete: return Verb::kDelete;
  }
  return Verb::kGet;
}

std::string_view PatchMediaType(api::PatchKind kind) {
  switch (kind) {
    case api::PatchKind::kJson: return "application/json-patch+json";
    case api::PatchKind::kMerge: return "application/merge-patch+json";
    case api::PatchKind::kStrategic: return "application/strategic-merge-patch+json";
  }
  return "";
}

void Dispatch(const CallPtr& call) {
  if (call->resource().strategy == nullptr)
    return call->resource().plural == "bindings" ? ServeBinding(call) : ServeReview(call);
  if (const SubresourceInfo* sub = call->route.subresource; sub != nullptr && sub->name != "status") {
    if (sub->name == "scale") return ServeScale(call);
    if (sub->name == "binding") return ServeBinding(call);
    if (sub->name == "eviction") return ServeEviction(call);
    if (sub->name == "log") return ServePodLog(call);
    if (sub->name == "finalize") return ServeNamespaceFinalize(call);
    return RespondError(call, api::UnknownResource());
  }
  switch (call->route.verb) {
    case Verb::kCreate: return ServeCreate(call);
    case Verb::kGet: return ServeGet(call);
    case Verb::kList: return ServeList(call);
    case Verb::kWatch: return ServeWatch(call);
    case Verb::kUpdate: return ServeUpdate(call);
    case Verb::kPatch: return ServePatch(call);
    case Verb::kDelete: return ServeDelete(call);
    case Verb::kDeleteCollection: return ServeDeleteCollection(call);
  }
}

// Counts an open watch for as long as its stream lives.
class CountedStream : public ResponseStream {
 public:
  CountedStream(std::unique_ptr<ResponseStream> stream, Metrics& metrics)
      : stream_(std::move(stream)), metrics_(metrics) {
    metrics_.AddOpenWatches(1);
  }
  ~CountedStream() override { metrics_.AddOpenWatches(-1); }
  State Read(std::size_t max_bytes, std::string& out) override { return stream_->Read(max_bytes, out); }
  void SetWake(std::function<void()> wake) override { stream_->SetWake(std::move(wake)); }

 private:
  std::unique_ptr<ResponseStream> stream_;
  Metrics& metrics_;
};

// An answer that is given once: by the verb, or by the time limit if that comes first.
struct PendingAnswer {
  Responder respond;
  std::atomic<bool> given = false;
  std::atomic<api::Executor*> executor = nullptr;
  std::atomic<api::TimerId> timer = 0;

  void Give(Response response) {
    if (given.exchange(true)) return;
    if (api::Executor* e = executor.load()) e->Cancel(timer.load());
    std::exchange(respond, nullptr)(std::move(response));
  }
};

class HandlerImpl : public Handler {
 public:
  HandlerImpl(const api::Env& env, storage::Store& store, HandlerOptions options)
      : metrics_(Metrics::Make()), server_{env, store, std::move(options), *metrics_} {
    CreateClusterObjects(server_);
  }

  void Serve(Request request, Responder respond) override {
    Route route = FindRoute(request);
    if (route.target == Route::Target::kPath) return respond(ServePath(server_, request));
    auto output = Negotiate(request, EndpointOf(route));
    if (route.target == Route::Target::kUnknownResource)
      return respond(ErrorResponse(output ? *output : Negotiated{}, api::UnknownResource()));
    if (route.target == Route::Target::kMethodNotAllowed)
      return respond(ErrorResponse(output ? *output : Negotiated{}, api::MethodNotAllowed()));
    if (!output) return respond(ErrorResponse({}, output.status()));
    if (output->shape == Shape::kTable)
      if (auto options = ParseTableOptions(request); !options) return respond(ErrorResponse({}, options.status()));
    bool log = route.subresource != nullptr && route.subresource->name == "log";
    if (route.verb == Verb::kWatch || log)
      return Run(std::move(request), std::move(route), *output, std::move(respond));
    bool mutating = request.method != "GET" && request.method != "HEAD";
    std::atomic<int>& inflight = mutating ? mutating_inflight_ : readonly_inflight_;
    int limit = mutating ? server_.options.max_mutating_requests_inflight : server_.options.max_requests_inflight;
    if (inflight.fetch_add(1) >= limit) {
      inflight.fetch_sub(1);
      return respond(TooBusy());
    }
    Run(std::move(request), std::move(route), *output, [&inflight, respond = std::move(respond)](Response response) {
      inflight.fetch_sub(1);
      respond(std::move(response));
    });
  }

  void Write(api::WriteRequest request, UserInfo user, api::Client::WriteDone done) override {
    Route route;
    route.target = Route::Target::kResource;
    route.resource = ResourceTable::Get().FindStorage(request.resource);
    if (route.resource != nullptr && !request.subresource.empty())
      route.subresource = route.resource->Subresource(request.subresource);
    if (route.resource == nullptr || (route.subresource == nullptr && !request.subresource.empty()))
      return done(api::UnknownResource());
    route.verb = VerbOf(request.verb);
    route.ns = std::move(request.object.ns);
    route.name = std::move(request.object.name);
    Request plain;
    plain.user = std::move(user);
    if (route.verb == Verb::kPatch) plain.content_type = PatchMediaType(request.patch);
    RequestLabels labels{MetricsVerb(route.verb), route.resource,
                         route.subresource == nullptr ? std::string_view{} : route.subresource->name, 0};
    auto call = std::make_shared<Call>(Call{server_, std::move(plain), std::move(route), {}, nullptr, {}});
    if (!request.body.is_null()) call->document = std::move(request.body);
    call->written = [this, labels, start = server_.ConnectionClock().Now(), done = std::move(done)](
                        api::Client::Written written) mutable {
      labels.code = written ? (labels.verb == "POST" ? 201 : 200) : written.status().code;
      metrics_->CountRequest(labels, server_.ConnectionClock().Now() - start);
      done(std::move(written));
    };
    Dispatch(call);
  }

  std::shared_ptr<Uptime> Connect() override { return uptime_; }

 private:
  static Response TooBusy() {
    Response response;
    response.code = 429;
    response.content_type = "text/plain; charset=utf-8";
    response.body = "Too many requests, please try again later.\n";
    response.headers.emplace_back("Retry-After", "1");
    return response;
  }

  void Run(Request request, Route route, Negotiated output, Responder respond) {
    api::Time start = server_.ConnectionClock().Now();
    RequestLabels labels{MetricsVerb(route.verb), route.resource,
                         route.subresource == nullptr ? std::string_view{} : route.subresource->name, 0};
    auto answer = std::make_shared<PendingAnswer>();
    answer->respond = [this, labels, start, respond = std::move(respond)](Response response) mutable {
      labels.code = response.code;
      metrics_->CountRequest(labels, server_.ConnectionClock().Now() - start);
      if (response.stream) response.stream = std::make_unique<CountedStream>(std::move(response.stream), *metrics_);
      respond(std::move(response));
    };
    auto call = std::make_shared<Call>(Call{server_, std::move(request), std::move(route), output, nullptr, {}});
    call->respond = [answer](Response response) { answer->Give(std::move(response)); };
    Dispatch(call);
    // Nearly all requests are answered by now; what waits is a write that the disk holds up.
    if (answer->given) return;
    answer->executor = &server_.ConnectionExecutor();
    answer->timer = answer->executor.load()->PostInBackground(server_.options.request_timeout, [answer, output] {
      answer->Give(ErrorResponse(output, api::TimedOut("Timeout: request did not complete within the requested timeout "
                                                       "- context deadline exceeded")));
    });
  }

  std::unique_ptr<Metrics> metrics_;
  Server server_;
  std::atomic<int> readonly_inflight_ = 0;
  std::atomic<int> mutating_inflight_ = 0;
  const std::shared_ptr<Uptime> uptime_ = std::make_shared<Uptime>();
};

}  // namespace

std::unique_ptr<Handler> Handler::Make(const api::Env& env, storage::Store& store, HandlerOptions options) {
  return std::make_unique<HandlerImpl>(env, store, std::move(options));
}

}  // namespace terrarium::apiserver

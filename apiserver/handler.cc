#include "apiserver/handler.h"

#include <algorithm>
#include <exception>
#include <utility>

#include <spdlog/spdlog.h>

#include "api/base/errors.h"
#include "api/base/executor.h"
#include "apiserver/internal/bootstrap.h"
#include "apiserver/internal/call.h"
#include "apiserver/internal/guard.h"
#include "apiserver/internal/paths.h"
#include "apiserver/internal/request_labels.h"
#include "apiserver/internal/resource_metrics.h"
#include "apiserver/internal/respond.h"
#include "apiserver/internal/verbs.h"
#include "apiserver/panic.h"
#include "apiserver/table/table.h"
#include "apiserver/uptime.h"

namespace terrarium::apiserver {
namespace {

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
  if (call->resource().strategy == nullptr) {
    if (call->resource().group == "metrics.k8s.io") return ServeResourceMetrics(call);
    return call->resource().plural == "bindings" ? ServeBinding(call) : ServeReview(call);
  }
  if (const SubresourceInfo* sub = call->route.subresource; sub != nullptr && !sub->WritesStatus()) {
    if (sub->name == "scale") return ServeScale(call);
    if (sub->name == "binding") return ServeBinding(call);
    if (sub->name == "eviction") return ServeEviction(call);
    if (sub->name == "log") return ServePodLog(call);
    if (sub->connects) return ServeConnect(call);
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

// The warning of every response for a kind that Kubernetes has deprecated; empty: for none.
std::string_view DeprecationWarning(const ResourceInfo& resource) {
  if (resource.group.empty() && resource.plural == "endpoints")
    return "v1 Endpoints is deprecated in v1.33+; use discovery.k8s.io/v1 EndpointSlice";
  return "";
}

// Counts a stream for as long as it lives. `metrics` outlives it.
class LongRunning {
 public:
  LongRunning(const RequestLabels& labels, Metrics& metrics) : labels_(labels), metrics_(metrics) {
    metrics_.AddLongRunning(labels_, 1);
  }
  ~LongRunning() { metrics_.AddLongRunning(labels_, -1); }
  LongRunning(const LongRunning&) = delete;
  LongRunning& operator=(const LongRunning&) = delete;

 private:
  const RequestLabels labels_;
  Metrics& metrics_;
};

// A log can be text, but a Status about it cannot. Kubernetes detects that later, with this other message.
api::Status NotAcceptable(const Route& route, api::Status status) {
  if (route.subresource != nullptr && route.subresource->name == "log" && status.code == 406)
    status.message =
        "only the following media types are accepted: application/json, application/yaml, "
        "application/vnd.kubernetes.protobuf";
  return status;
}

// Responses depend on user and time; forbid caching unless the response allows it.
void ForbidCaching(Response& response) {
  constexpr const char* kHeader = "Cache-Control";
  auto is_set = [&](const auto& header) { return header.first == kHeader; };
  if (std::none_of(response.headers.begin(), response.headers.end(), is_set))
    response.headers.emplace_back(kHeader, "no-cache, private");
}

class HandlerImpl : public Handler {
 public:
  HandlerImpl(const api::Env& env, storage::Store& store, HandlerOptions options)
      : metrics_(Metrics::Make()),
        registry_(options.registry != nullptr ? options.registry : ResourceRegistry::Make()),
        server_{env, store, std::move(options), *metrics_, *registry_} {
    CreateClusterObjects(server_);
  }

  using Handler::Serve;
  void Serve(Request request, RequestScopePtr scope) override {
    scope->OnResponse(ForbidCaching);
    ServeRoute(std::move(request), scope);
  }

  void Write(api::WriteRequest request, Sender sender, api::Client::WriteDone done) override {
    Route route;
    route.target = Route::Target::kResource;
    route.table = registry_->Table();
    route.resource = route.table->FindStorage(request.resource);
    if (route.resource != nullptr && !request.subresource.empty())
      route.subresource = route.resource->Subresource(request.subresource);
    if (route.resource == nullptr || (route.subresource == nullptr && !request.subresource.empty()))
      return done(api::UnknownResource());
    route.verb = VerbOf(request.verb);
    route.ns = std::move(request.object.ns);
    route.name = std::move(request.object.name);
    Request plain;
    plain.user = std::move(sender.user);
    plain.user_agent = std::move(sender.user_agent);
    if (route.verb == Verb::kPatch) plain.content_type = PatchMediaType(request.patch);
    RequestLabels labels = ResourceLabels(route, plain);
    auto call = std::make_shared<Call>(Call{server_, std::move(plain), std::move(route), {}, nullptr, {}});
    if (!request.body.is_null()) call->document = std::move(request.body);
    call->written = [this, labels, start = server_.ConnectionClock().Now(),
                     done = std::move(done)](api::Client::Written written) mutable {
      labels.code = written ? (labels.verb == "POST" ? 201 : 200) : written.status().code;
      metrics_->CountRequest(labels, server_.ConnectionClock().Now() - start);
      done(std::move(written));
    };
    Guard(call, [&] { Dispatch(call); });
  }

  api::Result<api::ObjectPtr> Compute(std::string_view resource, const api::ObjectName& name) override {
    return ComputeMetrics(server_, resource, name);
  }

  std::shared_ptr<Uptime> Connect() override { return uptime_; }
  ResourceRegistry& registry() override { return *registry_; }

 private:
  static Response TooBusy() {
    Response response;
    response.code = 429;
    response.content_type = "text/plain; charset=utf-8";
    response.body = "Too many requests, please try again later.\n";
    response.headers.emplace_back("Retry-After", "1");
    return response;
  }

  void ServeRoute(Request request, const RequestScopePtr& scope) {
    Route route = FindRoute(request, registry_->Table());
    if (route.target == Route::Target::kPath) return ServeOther(*route.table, request, *scope);
    auto output = Negotiate(request, EndpointOf(route));
    if (route.target == Route::Target::kUnknownResource)
      return scope->Respond(ErrorResponse(output ? *output : Negotiated{}, api::UnknownResource()));
    if (route.target == Route::Target::kMethodNotAllowed)
      return scope->Respond(ErrorResponse(output ? *output : Negotiated{}, api::MethodNotAllowed()));
    if (!output) return scope->Respond(ErrorResponse({}, NotAcceptable(route, output.status())));
    if (output->shape == Shape::kTable)
      if (auto options = ParseTableOptions(request); !options)
        return scope->Respond(ErrorResponse({}, options.status()));
    const SubresourceInfo* sub = route.subresource;
    bool long_running =
        route.verb == Verb::kWatch || (sub != nullptr && (sub->connects || sub->name == "log"));
    bool mutating = request.method != "GET" && request.method != "HEAD";
    if (!long_running && !scope->Enter(mutating ? mutating_limit_ : readonly_limit_))
      return scope->Respond(TooBusy());
    Run(std::move(request), std::move(route), *output, scope);
  }

  // A request for a path outside the resources. Kubernetes counts health checks and whole discoveries.
  void ServeOther(const ResourceTable& table, const Request& request, RequestScope& scope) {
    api::Time start = server_.ConnectionClock().Now();
    Response response = AnswerPath(table, request);
    if (auto labels = PathLabels(request, response))
      metrics_->CountRequest(*labels, server_.ConnectionClock().Now() - start);
    scope.Respond(std::move(response));
  }

  Response AnswerPath(const ResourceTable& table, const Request& request) {
    try {
      return ServePath(server_, table, request);
    } catch (const std::exception& e) {
      server_.env.log.error("exception while serving {}: {}", request.path, e.what());
      return ErrorResponse({}, api::InternalError(kPanicMessage));
    }
  }

  void Run(Request request, Route route, Negotiated output, const RequestScopePtr& scope) {
    api::Time start = server_.ConnectionClock().Now();
    scope->OnResponse([this, scope = scope.get(), labels = ResourceLabels(route, request),
                       start](Response& response) mutable {
      labels.code = response.code;
      metrics_->CountRequest(labels, server_.ConnectionClock().Now() - start);
      if (response.stream) scope->HoldWithStream(std::make_shared<LongRunning>(labels, *metrics_));
    });
    auto call =
        std::make_shared<Call>(Call{server_, std::move(request), std::move(route), output, nullptr, {}});
    if (const std::string_view warning = DeprecationWarning(call->resource()); !warning.empty())
      call->warnings.emplace_back(warning);
    call->respond = scope->AsResponder();
    Guard(call, [&] { Dispatch(call); });
    // Nearly all requests have a response by now; the others are writes that wait for the disk.
    if (scope->HasResponse()) return;
    scope->SetDeadline(server_.ConnectionExecutor(), server_.options.request_timeout, [output] {
      return ErrorResponse(output, api::TimedOut("Timeout: request did not complete within the requested "
                                                 "timeout - context deadline exceeded"));
    });
  }

  std::unique_ptr<Metrics> metrics_;
  const std::shared_ptr<ResourceRegistry> registry_;
  Server server_;
  InflightLimit readonly_limit_{server_.options.max_requests_inflight};
  InflightLimit mutating_limit_{server_.options.max_mutating_requests_inflight};
  const std::shared_ptr<Uptime> uptime_ = std::make_shared<Uptime>();
};

}  // namespace

void Handler::Serve(Request request, Responder respond) {
  auto scope = RequestScope::Make(request, std::move(respond));
  Serve(std::move(request), std::move(scope));
}

std::unique_ptr<Handler> Handler::Make(const api::Env& env, storage::Store& store, HandlerOptions options) {
  return std::make_unique<HandlerImpl>(env, store, std::move(options));
}

}  // namespace terrarium::apiserver

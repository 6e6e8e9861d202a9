#include "testbed/server/cluster.h"

#include <string_view>
#include <utility>

#include <spdlog/spdlog.h>

#include "api/base/errors.h"
#include "api/http_caller.h"
#include "apiserver/handler.h"
#include "testbed/runtime/real_runtime.h"

namespace terrarium::testbed {
namespace {

// For Response::stream_busy: keeps `executor` busy and the cluster alive.
std::function<std::shared_ptr<void>()> StreamBusy(apiserver::RequestGroupPtr requests,
                                                  api::Executor& executor) {
  struct Busy {
    explicit Busy(apiserver::RequestGroupPtr requests) : use(std::move(requests)) {}
    apiserver::RequestGroupUse use;  // ends last
    api::OutsideWork work;
  };
  return [requests = std::move(requests), &executor]() -> std::shared_ptr<void> {
    auto busy = std::make_shared<Busy>(requests);
    if (!busy->use) return nullptr;
    busy->work = api::OutsideWork(executor);
    return busy;
  };
}

// Whether a stream from this path may show Leases or the statuses of nodes.
bool MayWatchHeartbeats(std::string_view path) {
  return path.find("/leases") != std::string_view::npos || path.find("/nodes") != std::string_view::npos;
}

}  // namespace

api::Result<std::unique_ptr<Cluster>> Cluster::Make(LivePool& pool, api::Time start, spdlog::logger& log,
                                                    const ClusterOptions& options, ClusterManager* clusters) {
  std::unique_ptr<Cluster> cluster(new Cluster(pool, start, options));
  auto control_plane = ControlPlane::Make(cluster->runtime_, log, options.control_plane, options.components);
  if (!control_plane) return control_plane.status();
  cluster->control_plane_ = std::move(*control_plane);
  cluster->http_caller_ = options.http_caller;
  cluster->driver_ = std::make_unique<LiveDriver>(cluster->runtime_, pool);
  cluster->control_ = std::make_unique<ControlApi>(
      *cluster->control_plane_,
      [driver = cluster->driver_.get()](ControlApi::ClockWork work,
                                        std::shared_ptr<api::CancelToken> cancelled) {
        driver->Control(std::move(work), std::move(cancelled));
      },
      clusters);
  return cluster;
}

Cluster::Cluster(LivePool& pool, api::Time start, const ClusterOptions& options)
    : name_(options.name),
      seed_(options.control_plane.seed),
      pool_(pool),
      runtime_({.start = start, .mode = options.mode, .wall = WallTime}) {}

Cluster::~Cluster() {
  if (driver_ != nullptr) driver_->Stop();
}

void Cluster::Serve(apiserver::Request request, apiserver::RequestScopePtr scope) {
  if (!scope->Enter(requests_))
    return scope->Respond(ControlApi::Refusal(api::NotFound({"terrarium.dev", "clusters"}, name_)));
  // This call runs the control plane's code until it returns, which may be after the response.
  auto in_flight = scope->StayInFlight();
  scope->OnResponse([this, scope = scope.get(),
                     heartbeats = MayWatchHeartbeats(request.path)](apiserver::Response& response) {
    if (!response.stream) return;
    response.stream_busy = StreamBusy(requests_, runtime_.Lane("http"));
    if (heartbeats) scope->HoldWithStream(runtime_.HoldSkips());
  });
  if (request.method != "GET") runtime_.OnRequest();
  if (ControlApi::IsControlPath(request.path)) return control_->Serve(request, scope->AsResponder());
  control_plane_->handler().Serve(std::move(request), std::move(scope));
}

void Cluster::CheckStore(spdlog::logger& log) {
  apiserver::RequestGroupUse use(requests_);
  if (!use || store_trouble_logged_) return;
  const std::string trouble = control_plane_->store().Trouble();
  if (trouble.empty() || store_trouble_logged_.exchange(true)) return;
  log.error("{}{}", name_.empty() ? "" : "cluster " + name_ + ": ", trouble);
}

bool Cluster::End(std::chrono::nanoseconds limit) {
  driver_->EndMoves();
  requests_->Close();
  requests_->EndStreams(apiserver::ResponseStream::State::kEnd);
  if (!requests_->WaitUntilUnused(limit)) return false;
  // Components stop first: they would log errors about a store that rejects their writes.
  driver_->Stop();
  http_caller_ = nullptr;  // its destructor answers the calls under way: their receivers must still exist
  control_plane_->Shutdown();
  return driver_->WaitForOutside(limit);
}

}  // namespace terrarium::testbed

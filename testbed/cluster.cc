#include "testbed/cluster.h"

#include <utility>

#include "api/base/errors.h"
#include "api/http_caller.h"
#include "apiserver/handler.h"
#include "testbed/real_runtime.h"

namespace terrarium::testbed {

api::Result<std::unique_ptr<Cluster>> Cluster::Make(LivePool& pool, api::Time start, spdlog::logger& log,
                                                    const ClusterOptions& options, ClusterSet* clusters) {
  std::unique_ptr<Cluster> cluster(new Cluster(pool, start, options));
  auto plane = Plane::Make(cluster->runtime_, log, options.plane, options.components);
  if (!plane) return plane.status();
  cluster->plane_ = std::move(*plane);
  cluster->http_caller_ = options.http_caller;
  cluster->driver_ = std::make_unique<LiveDriver>(cluster->runtime_, pool);
  cluster->control_ = std::make_unique<ControlApi>(
      *cluster->plane_,
      [driver = cluster->driver_.get()](std::function<void(ClockControl&)> work) { driver->Control(std::move(work)); },
      clusters);
  return cluster;
}

Cluster::Cluster(LivePool& pool, api::Time start, const ClusterOptions& options)
    : name_(options.name),
      seed_(options.plane.seed),
      pool_(pool),
      runtime_({.start = start, .mode = options.mode, .wall = WallTime}) {}

Cluster::~Cluster() {
  if (driver_ != nullptr) driver_->Stop();
}

void Cluster::Serve(apiserver::Request request, apiserver::Responder respond) {
  // Two users: this call, which is in the plane's code until it returns, and the answer, which may come later.
  ClusterUse call(uses_);
  auto answer = std::make_shared<ClusterUse>(uses_);
  if (!call || !*answer) return respond(ControlApi::Refusal(api::NotFound({"terrarium.dev", "clusters"}, name_)));
  auto counted = [this, answer, respond = std::move(respond)](apiserver::Response response) {
    if (response.stream) {
      response.stream_busy = StreamBusy(uses_, runtime_.Lane("http"));
      response.stream = streams_->Add(std::move(response.stream));
    }
    respond(std::move(response));
    answer->End();
  };
  if (ControlApi::IsControlPath(request.path)) return control_->Serve(request, std::move(counted));
  plane_->handler().Serve(std::move(request), std::move(counted));
}

bool Cluster::End(std::chrono::nanoseconds limit) {
  driver_->EndMoves();
  streams_->Close();
  if (!uses_->Close(limit)) return false;
  // The components first: they would complain of a store that refuses what they write.
  driver_->Stop();
  http_caller_ = nullptr;  // it answers what is under way while there is somebody to hear it
  plane_->Shutdown();
  return driver_->WaitForOutside(limit);
}

}  // namespace terrarium::testbed

#include "testbed/testbed.h"

#include <cstdio>
#include <cstdlib>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include "api/base/errors.h"
#include "api/write_request.h"
#include "controllers/controller_table.h"
#include "controllers/runtime/why.h"
#include "testbed/components.h"
#include "testbed/invariants/monitor.h"
#include "testbed/simulation.h"

namespace terrarium::testbed {
namespace {

using api::Json;
using api::ObjectName;

api::FeatureGates GatesOf(const TestbedOptions& options) {
  auto gates = api::FeatureGates().With(options.feature_gates);
  CHECK(gates.ok());
  return *gates;
}

std::set<std::string> RunningControllers(const std::string& list) {
  auto selected = controllers::SelectControllers(list);
  CHECK(selected.ok());
  std::set<std::string> names;
  for (const controllers::ControllerEntry* entry : *selected) names.emplace(entry->name);
  return names;
}

// How many of the newest records of each object are printed beside a violation.
constexpr std::size_t kWhyRecordsShown = 10;

[[noreturn]] void EndWith(const invariants::Violation& violation, const controllers::WhyLog& why) {
  std::fprintf(stderr, "%s\n", violation.String().c_str());
  for (const invariants::ObjectRef& object : violation.objects) {
    std::vector<controllers::WhyRecord> records = why.Find(object.resource, object.name);
    if (records.size() > kWhyRecordsShown) records.erase(records.begin(), records.end() - kWhyRecordsShown);
    for (const controllers::WhyRecord& record : records)
      std::fprintf(stderr, "  %s\n", controllers::ToJson(record).dump().c_str());
  }
  std::abort();
}

}  // namespace

class Testbed::Impl {
 public:
  explicit Impl(TestbedOptions options)
      : log("terrarium", std::make_shared<spdlog::sinks::stderr_sink_mt>()), simulation(options.start, options.seed) {
    log.set_level(spdlog::level::warn);
    PlaneOptions plane_options;
    plane_options.seed = options.seed;
    plane_options.gates = GatesOf(options);
    ComponentOptions components;
    components.controllers = options.controllers;
    components.scheduler = options.scheduler;
    components.kubelet = options.kubelet;
    components.nodes.nodes = options.nodes;
    components.controller_manager_gates = plane_options.gates;
    components.kubelet_gates = plane_options.gates;
    components.scheduler_gates = plane_options.gates;
    MakeMonitor(options, plane_options.gates);
    components.wrap_client = [this](std::unique_ptr<api::Client> client, const std::string& component) {
      return monitor->Watched(std::move(client), component);
    };
    auto made = Plane::Make(simulation.runtime(), log, std::move(plane_options), components);
    CHECK(made.ok());
    plane = std::move(*made);
    monitor->Follow(plane->store(), simulation.runtime());
    simulation.SetOnRest([this](bool idle) { idle ? monitor->Idle() : monitor->Catchup(); });
    simulation.clock().Settle();
  }

  void MakeMonitor(const TestbedOptions& options, const api::FeatureGates& gates) {
    invariants::MonitorOptions watched;
    watched.controllers = RunningControllers(options.controllers);
    watched.gates = gates;
    watched.on_violation = options.on_violation;
    if (!watched.on_violation)
      watched.on_violation = [this](const invariants::Violation& v) { EndWith(v, plane->components().why()); };
    monitor = std::make_unique<invariants::Monitor>(std::move(watched));
  }

  // The memory store answers before a write returns.
  Written Write(api::WriteRequest request) {
    std::optional<Written> answer;
    plane->handler().Write(std::move(request), {}, [&answer](Written written) { answer = std::move(written); });
    CHECK(answer.has_value());
    monitor->Catchup();
    return std::move(*answer);
  }

  spdlog::logger log;
  Simulation simulation;
  std::unique_ptr<Plane> plane;
  // Goes before the plane, whose store it watches; the components' clients speak to it, but no lane runs any more then.
  std::unique_ptr<invariants::Monitor> monitor;
};

Testbed::Testbed(TestbedOptions options) : impl_(std::make_unique<Impl>(std::move(options))) {}

Testbed::~Testbed() {
  impl_->monitor->Catchup();
  impl_->simulation.runtime().Shutdown();
}

ClockControl& Testbed::clock() { return impl_->simulation.clock(); }
api::Time Testbed::Now() const { return impl_->simulation.runtime().Now(); }
Plane& Testbed::plane() { return *impl_->plane; }
kubelet_fake::PodRules& Testbed::rules() { return impl_->plane->components().kubelet().value().pods; }
kubelet_fake::NodeAgent& Testbed::nodes() { return impl_->plane->components().kubelet().value().nodes; }

controllers::WhyLog& Testbed::why() { return impl_->plane->components().why(); }
invariants::Monitor& Testbed::monitor() { return *impl_->monitor; }

Testbed::Written Testbed::Create(std::string_view resource, std::string_view ns, Json object) {
  return impl_->Write(api::RequestToCreate(resource, ns, std::move(object)));
}

Testbed::Written Testbed::Update(std::string_view resource, Json object, std::string_view subresource) {
  return impl_->Write(api::RequestToUpdate(resource, std::move(object), subresource));
}

Testbed::Written Testbed::Patch(std::string_view resource, ObjectName name, Json patch, std::string_view subresource) {
  return impl_->Write(api::RequestToPatch(resource, std::move(name), std::move(patch), subresource));
}

Testbed::Written Testbed::Delete(std::string_view resource, ObjectName name, api::DeleteRequest options) {
  return impl_->Write(api::RequestToDelete(resource, std::move(name), options));
}

Testbed::Written Testbed::Evict(const ObjectName& pod) {
  Json eviction = {{"metadata", {{"name", pod.name}, {"namespace", pod.ns}}}};
  return impl_->Write(api::RequestToCreateSub("pods", pod, "eviction", std::move(eviction)));
}

apiserver::Response Testbed::Serve(apiserver::Request request) {
  std::optional<apiserver::Response> answer;
  impl_->plane->handler().Serve(std::move(request),
                                [&answer](apiserver::Response response) { answer = std::move(response); });
  CHECK(answer.has_value());
  impl_->monitor->Catchup();
  return std::move(*answer);
}

api::ObjectPtr Testbed::Get(std::string_view resource, std::string_view ns, std::string_view name) {
  return impl_->plane->store().Get({std::string(resource), std::string(ns), std::string(name)});
}

std::vector<api::ObjectPtr> Testbed::List(std::string_view resource, std::optional<std::string> ns) {
  storage::ListQuery query;
  query.resource = resource;
  query.ns = std::move(ns);
  return impl_->plane->store().List(query)->items;
}

api::ObjectPtr Testbed::Must(Written written) {
  if (!written) std::fprintf(stderr, "%s\n", written.status().message.c_str());
  CHECK(written.ok());
  return *written;
}

}  // namespace terrarium::testbed

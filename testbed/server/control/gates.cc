#include <utility>

#include "api/base/errors.h"
#include "apiserver/gate_log.h"
#include "testbed/server/control/endpoint.h"

namespace terrarium::testbed::control {
namespace {

void GetReport(Call call) {
  apiserver::GateLog::Query query;
  query.component = call.query["component"];
  query.gate = call.query["gate"];
  query.resource = call.query["resource"];
  query.object = {call.query.contains("namespace") ? call.query["namespace"] : "default", call.query["name"]};
  if (query.resource.empty() != query.object.name.empty())
    return call.reply(api::BadRequest("resource and name go together"));
  if (!query.component.empty() && !call.control.control_plane().components().Find(query.component))
    return call.reply(UnknownComponent(query.component));
  call.reply(call.control.control_plane().gate_log().Report(query));
}

constexpr Endpoint kEndpoints[] = {
    {"GET", "/gates/report",
     "changes of feature gates, and fields that were dropped, kept, vanished or came back", "", GetReport, "",
     "component=apiserver&gate=JobPodReplacementPolicy&resource=jobs&namespace=default&name=sum"},
};

}  // namespace

std::span<const Endpoint> GateEndpoints() { return kEndpoints; }

}  // namespace terrarium::testbed::control

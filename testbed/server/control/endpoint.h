#pragma once

// An endpoint of the control API.

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/status.h"
#include "api/json.h"
#include "testbed/server/control_api.h"

namespace terrarium::testbed::control {

using api::Json;

struct Call {
  ControlApi& control;
  std::vector<std::string> names;  // the path segments at the endpoint's {name}s
  Json body;                       // an object; empty when the request has none
  std::map<std::string, std::string> query;
  std::function<void(api::Result<Json>)> reply;
  std::shared_ptr<api::CancelToken> client_gone = nullptr;  // as in apiserver::Request
};

struct Endpoint {
  std::string_view method;
  std::string_view path;  // below the prefix; {name} matches one segment
  std::string_view about;
  std::string_view example_body;  // for the curl line; empty: the body takes no members
  void (*serve)(Call call);
  std::string_view example_name = {};   // for the curl line, if the path has a {name}; a/b if it has two
  std::string_view example_query = {};  // for the curl line, with all parameters: a=b&c=d
};

// One list per subject; control_api.cc joins them.
std::span<const Endpoint> ClockEndpoints();
std::span<const Endpoint> ComponentEndpoints();
std::span<const Endpoint> GateEndpoints();
std::span<const Endpoint> PodEndpoints();
std::span<const Endpoint> NodeEndpoints();
std::span<const Endpoint> StoreEndpoints();
std::span<const Endpoint> ServiceEndpoints();
std::span<const Endpoint> WhyEndpoints();
std::span<const Endpoint> ClusterEndpoints();

// For bodies whose values are all strings: rejects unknown members and values that are not strings. The error
// names the member.
api::Result<void> CheckTexts(const Json& body, std::initializer_list<std::string_view> known);

}  // namespace terrarium::testbed::control

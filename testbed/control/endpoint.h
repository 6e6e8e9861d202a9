#pragma once

// What one control endpoint is.

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/status.h"
#include "api/json.h"
#include "testbed/control_api.h"

namespace terrarium::testbed::control {

using api::Json;

struct Call {
  ControlApi& control;
  std::vector<std::string> names;  // what stands in the path where the endpoint has {name}s
  Json body;                       // an object; empty when the request has none
  std::map<std::string, std::string> query;
  std::function<void(api::Result<Json>)> reply;
};

struct Endpoint {
  std::string_view method;
  std::string_view path;  // below the prefix; {name} stands for one segment
  std::string_view about;
  std::string_view example_body;  // for the curl line; empty: it takes no members
  void (*serve)(Call call);
  std::string_view example_name = {};  // for the curl line, where the path has a {name}; a/b where it has two
  std::string_view example_query = {};  // for the curl line, with every parameter there is: a=b&c=d
};

// One list per subject; control_api.cc puts them together.
std::span<const Endpoint> ClockEndpoints();
std::span<const Endpoint> ComponentEndpoints();
std::span<const Endpoint> GateEndpoints();
std::span<const Endpoint> PodEndpoints();
std::span<const Endpoint> NodeEndpoints();
std::span<const Endpoint> PlaneEndpoints();
std::span<const Endpoint> ServiceEndpoints();
std::span<const Endpoint> WhyEndpoints();
std::span<const Endpoint> ClusterEndpoints();

// For bodies of texts: refuses members that the endpoint does not know, and values that are none, by name.
api::Result<bool> CheckTexts(const Json& body, std::initializer_list<std::string_view> known);

}  // namespace terrarium::testbed::control

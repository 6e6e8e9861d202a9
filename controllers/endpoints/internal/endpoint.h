#pragma once

// One endpoint of an EndpointSlice. Pure.

#include <compare>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/json.h"

namespace terrarium::controllers::endpoints {

// A core/v1 ObjectReference.
struct TargetReference {
  std::string api_version;
  std::string field_path;
  std::string kind;
  std::string name;
  std::string ns;
  std::string resource_version;
  std::string uid;
};
std::optional<TargetReference> ReadTarget(const api::Json* reference);
api::Json ToJson(const TargetReference& target);
// Whether two references are equal but for their resourceVersion.
bool IsSameTarget(const std::optional<TargetReference>& a, const std::optional<TargetReference>& b);

struct Hints {
  std::vector<std::string> zones;
  std::vector<std::string> nodes;

  friend bool operator==(const Hints&, const Hints&) = default;
};

struct Endpoint {
  std::vector<std::string> addresses;  // sorted
  std::optional<bool> ready;
  std::optional<bool> serving;
  std::optional<bool> terminating;
  std::optional<std::string> hostname;
  std::optional<std::string> node_name;
  std::optional<std::string> zone;
  std::optional<TargetReference> target;
  std::optional<Hints> hints;

  bool IsReady() const { return ready.value_or(false); }
};

Endpoint ReadEndpoint(const api::Json& endpoint);
api::Json ToJson(const Endpoint& endpoint);

// Orders endpoints by what identifies them: target, hostname and addresses. An endpoint of the same identity
// stays in its slice when anything else about it changes.
struct IdentityLess {
  bool operator()(const Endpoint& a, const Endpoint& b) const;
};
using EndpointSet = std::set<Endpoint, IdentityLess>;

// Whether two endpoints of the same identity need no write: hints are assigned later.
bool IsUpToDate(const Endpoint& stored, const Endpoint& desired);

}  // namespace terrarium::controllers::endpoints

#pragma once

// Client-side `kubectl apply -f`, without managed fields: creates each object that is absent and otherwise
// sends a three-way merge patch. The last applied state is kept in kubectl's own annotation, so an object may
// be applied both here and by kubectl over HTTP.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/status.h"
#include "api/json.h"
#include "api/object_name.h"
#include "apiserver/request.h"
#include "apiserver/resource_table.h"

namespace terrarium::testbed {

// One object of a YAML or JSON text: a document, or an item of a List.
struct Manifest {
  api::Json object;
  int document = 1;  // counted from 1; empty documents do not count
  int line = 1;      // where the document starts
  int item = 0;      // counted from 1 in a List; 0: not an item

  // For messages: "document 2, line 14 (Deployment default/web)".
  std::string String() const;
};

// Parses the text and does not interpret the objects. Fails with 400 for malformed YAML, naming the line, and
// for a document that is not an object or has a duplicate key, naming the document.
api::Result<std::vector<Manifest>> ReadManifests(std::string_view text);

struct ApplyOptions {
  std::string ns = "default";  // for namespaced objects that name no namespace
};

struct Applied {
  enum class Action { kCreated, kConfigured, kUnchanged };
  Action action = Action::kUnchanged;
  std::string resource;  // "deployments"
  std::string group;     // "apps"
  std::string singular;  // "deployment"
  api::ObjectName name;
  std::vector<std::string> warnings;  // from the apiserver

  // As kubectl prints it: "deployment.apps/web created".
  std::string String() const;
};

struct ApplyFailure {
  std::string manifest;  // which one: Manifest::String()
  api::Status status;    // as the API returned it; 400 or 404 if no request was sent

  std::string String() const;
};

struct ApplyReport {
  std::vector<Applied> applied;  // in the order of the text
  std::vector<ApplyFailure> failures;

  bool ok() const { return failures.empty(); }
  // One line for each object, failures last.
  std::string String() const;
};

// Sends a request and returns its response.
using ServeNow = std::function<apiserver::Response(apiserver::Request)>;

// A malformed text changes nothing. As in kubectl, a rejected object does not stop the objects after it, and
// unknown fields are rejected (fieldValidation=Strict).
ApplyReport ApplyManifests(std::string_view text, const ApplyOptions& options,
                           const apiserver::ResourceTable& served, const ServeNow& serve);
// The same for one parsed object.
api::Result<Applied> ApplyManifest(const api::Json& object, const ApplyOptions& options,
                                   const apiserver::ResourceTable& served, const ServeNow& serve);

// The Status in an error response. REQUIRES: its code is 400 or above.
api::Status StatusOf(const apiserver::Response& response);

}  // namespace terrarium::testbed

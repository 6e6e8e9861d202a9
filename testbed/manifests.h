#pragma once

// What `kubectl apply -f` does with a file, without managed fields: each object is created where it is absent, and
// otherwise patched by three states, of which the last applied one is kept in the annotation that kubectl uses. So
// objects that were applied here and with a kubectl over HTTP go together.

#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/status.h"
#include "api/json.h"
#include "api/object_name.h"
#include "apiserver/request.h"

namespace terrarium::testbed {

// One object of a manifest: YAML or JSON, documents and the items of Lists alike.
struct Manifest {
  api::Json object;
  int document = 1;  // counted from 1 in the text; empty ones do not count
  int line = 1;      // where the document starts
  int item = 0;      // counted from 1 in a List; 0: it is none

  // For people: "document 2, line 14 (Deployment default/web)".
  std::string String() const;
};

// What is in the text, without a look at what it means. 400 that names the line when it is no YAML, or the document that
// is no object or has a key twice.
api::Result<std::vector<Manifest>> ReadManifests(std::string_view text);

struct ApplyOptions {
  std::string ns = "default";  // of objects that name none, where their kind has namespaces
};

struct Applied {
  enum class Action { kCreated, kConfigured, kUnchanged };
  Action action = Action::kUnchanged;
  std::string resource;  // "deployments"
  std::string group;     // "apps"
  std::string singular;  // "deployment"
  api::ObjectName name;
  std::vector<std::string> warnings;  // of the apiserver

  // In kubectl's words: "deployment.apps/web created".
  std::string String() const;
};

struct ApplyFailure {
  std::string manifest;  // which one: Manifest::String()
  api::Status status;    // the API's own, untouched; 400 or 404 for what never came to it

  std::string String() const;
};

struct ApplyReport {
  std::vector<Applied> applied;  // in the order of the text
  std::vector<ApplyFailure> failures;

  bool ok() const { return failures.empty(); }
  // One line for each object, failures last.
  std::string String() const;
};

// Sends a request and has its answer.
using ServeNow = std::function<apiserver::Response(apiserver::Request)>;

// Text that cannot be read changes nothing. An object that is refused does not keep those after it from being applied,
// as with kubectl. Unknown fields are refused (fieldValidation=Strict), as kubectl does.
ApplyReport ApplyManifests(std::string_view text, const ApplyOptions& options, const ServeNow& serve);
// The same for one object that has been read already.
api::Result<Applied> ApplyManifest(const api::Json& object, const ApplyOptions& options, const ServeNow& serve);

// The Status in an answer that is none of success. REQUIRES: its code is 400 or above.
api::Status StatusOf(const apiserver::Response& response);

}  // namespace terrarium::testbed

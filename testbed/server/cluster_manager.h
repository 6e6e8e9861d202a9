#pragma once

// Creates, lists and deletes the clusters of a server, for the /clusters endpoints of the control API. An
// interface of its own, since ClusterSet, which implements it, owns the clusters that own a control API.
// Thread-safe.

#include <functional>
#include <string>

#include "api/base/status.h"
#include "api/json.h"

namespace terrarium::testbed {

class ClusterManager {
 public:
  using Reply = std::function<void(api::Result<api::Json>)>;

  virtual ~ClusterManager() = default;

  // {"name": ..., settings}. Replies with the result of Describe() when the cluster and its nodes are ready.
  // 400 for invalid settings, 409 for a name in use. Without a name the server chooses one.
  virtual void Create(const api::Json& body, Reply reply) = 0;
  // 404 for an unknown name.
  virtual api::Result<api::Json> Describe(const std::string& name) = 0;
  virtual api::Json List() = 0;
  // Replies when the cluster and its objects are gone. 404; 409 while it is being created or deleted.
  virtual void Delete(const std::string& name, Reply reply) = 0;
};

}  // namespace terrarium::testbed

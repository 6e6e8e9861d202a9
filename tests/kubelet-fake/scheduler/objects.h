#pragma once

// Pods and nodes for tests, from a few fields.

#include <string>

#include "api/json.h"
#include "api/object.h"

namespace terrarium::kubelet_fake::scheduling {

// A node with 4 cpus, 8Gi and room for 110 pods, its host name as a label, and `more` merged over it.
api::Json NodeDocument(const std::string& name, const api::Json& more = api::Json::object());
// A pod in the namespace default with one container without requests, and `more` merged over it.
api::Json PodDocument(const std::string& name, const api::Json& more = api::Json::object());
api::Json PodWithRequests(const std::string& name, const api::Json& requests);
// Required podAffinity or podAntiAffinity (`kind`) to pods with the label app=`app`.
api::Json PodTermSpec(const std::string& kind, const std::string& app,
                      const std::string& topology_key = "kubernetes.io/hostname");

// As the store has them.
api::ObjectPtr Node(const std::string& name, const api::Json& more = api::Json::object());
api::ObjectPtr Pod(const api::Json& document);
api::ObjectPtr Namespace(const std::string& name, const api::Json& labels);

}  // namespace terrarium::kubelet_fake::scheduling

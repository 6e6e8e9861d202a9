#pragma once

// Pods and owners for tests of the ReplicaSet controller.

#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "api/object.h"
#include "testbed/embedding/testbed.h"

namespace terrarium::controllers_testing {

inline constexpr std::string_view kDeletionCost = "controller.kubernetes.io/pod-deletion-cost";

// Selects and labels app=<name>.
api::Json ReplicaSet(const std::string& name, int replicas, const api::Json& template_annotations = nullptr);
api::Json ReplicationController(const std::string& name, int replicas);
api::Json Pod(const std::string& name, const api::Json& labels);

// A whole cluster, and accessors for one owner in it.
class ReplicaBed : public testbed::Testbed {
 public:
  using Testbed::Testbed;

  void Settle();
  api::ObjectPtr Scale(std::string_view resource, const std::string& name, int replicas);
  // "replicas 3 labelled 3 ready 3 available 3", then "terminating N" if the field is present.
  std::string Counts(std::string_view resource, const std::string& name);
  api::Json StatusOf(std::string_view resource, const std::string& name);
  // Creates an owner that has a controller itself, like a ReplicaSet of a Deployment. Returns its document.
  api::Json Controlled(api::Json owner);
  // Pods that the owner controls, by name, including terminating pods.
  std::vector<api::ObjectPtr> PodsOf(const api::ObjectPtr& owner);
  std::vector<std::string> PodNamesOf(const api::ObjectPtr& owner);
  // "type reason message component" of the Events about an object.
  std::vector<std::string> EventsOf(const api::ObjectPtr& about);
  // The number of status writes to objects of a resource, including refused ones.
  double StatusWrites(const std::string& resource);
  // The first sample of a metric whose line begins with that text; -1 if absent.
  double Metric(const std::string& line);
};

}  // namespace terrarium::controllers_testing

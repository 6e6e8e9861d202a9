#pragma once

// How a built-in resource is declared. A row states what differs from the common case: a namespaced kind with
// every verb, no short names, no categories and no subresources.

#include <string>
#include <vector>

#include "apiserver/resource_table.h"

namespace terrarium::apiserver::resources {

using Names = std::vector<std::string>;
using Resources = std::vector<ResourceInfo>;

// One version of a group, and the prefix of its messages in the schema.
struct Package {
  const char* group;
  const char* version;
  const char* prefix;  // "io.k8s.api.apps.v1."
};

struct RowOptions {
  bool namespaced = true;
  Names short_names = {};
  Names categories = {};
  bool deletes_collections = true;
  std::vector<SubresourceInfo> subresources = {};  // by name
  bool status = false;                             // adds the subresource status
  const char* etcd_prefix = "";
};

// A kind that is stored. Its singular and its storage name follow from kind and plural.
ResourceInfo Row(const Package& package, const char* kind, const char* plural, const Strategy& strategy,
                 RowOptions options = {});
// A kind that is answered and never stored.
ResourceInfo VirtualRow(const Package& package, const char* kind, const char* plural, bool namespaced);

// A kind that is computed when it is read. Like metrics-server's kinds it has no singular.
ResourceInfo ComputedRow(const Package& package, const char* kind, const char* plural, bool namespaced);

SubresourceInfo Scale();
// The Binding, Eviction or the kind itself under another name, with these verbs.
SubresourceInfo Subresource(const char* name, const char* kind, Names verbs);
// A connection to a container.
SubresourceInfo Connection(const char* name, const char* kind);

// The resources of each file, by group and inside a group by name.
Resources AdmissionRegistration();
Resources Apps();
Resources Authentication();
Resources Authorization();
Resources Autoscaling();
Resources Batch();
Resources Certificates();
Resources Coordination();
Resources Core();
Resources Discovery();
Resources DynamicAllocation();
Resources Events();
Resources FlowControl();
Resources Metrics();
Resources Networking();
Resources NodeGroup();
Resources Policy();
Resources Rbac();
Resources Scheduling();
Resources Storage();

}  // namespace terrarium::apiserver::resources

#pragma once

#include <string_view>

namespace terrarium::controllers::replicaset {

// The differences between ReplicaSet and ReplicationController.
struct ReplicaKind {
  std::string_view resource;
  std::string_view api_version;
  std::string_view kind;
  std::string_view controller;  // its name in the table of controllers
  std::string_view event_source;
  std::string_view queue;
  bool plain_selector;            // spec.selector is a map of labels
  bool has_terminating_replicas;  // the status has that field
  bool has_picker;                // the spec has a downscalePodPicker
};

inline constexpr ReplicaKind kReplicaSet = {.resource = "replicasets",
                                            .api_version = "apps/v1",
                                            .kind = "ReplicaSet",
                                            .controller = "replicaset-controller",
                                            .event_source = "replicaset-controller",
                                            .queue = "replicaset",
                                            .plain_selector = false,
                                            .has_terminating_replicas = true,
                                            .has_picker = true};

inline constexpr ReplicaKind kReplicationController = {.resource = "replicationcontrollers",
                                                       .api_version = "v1",
                                                       .kind = "ReplicationController",
                                                       .controller = "replicationcontroller-controller",
                                                       .event_source = "replication-controller",
                                                       .queue = "replicationmanager",
                                                       .plain_selector = true,
                                                       .has_terminating_replicas = false,
                                                       .has_picker = false};

}  // namespace terrarium::controllers::replicaset

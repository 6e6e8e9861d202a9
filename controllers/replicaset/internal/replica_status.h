#pragma once

// The status of a ReplicaSet or a ReplicationController. Pure.

#include <optional>
#include <string>
#include <string_view>

#include "api/base/clock.h"
#include "api/json.h"

namespace terrarium::controllers::replicaset {

struct ReplicaCounts {
  int replicas = 0;
  int fully_labeled = 0;
  int ready = 0;
  int available = 0;
  std::optional<int> terminating = {};  // nullopt: the field is absent
};

// Why pods could not be created or deleted.
struct ReplicaFailure {
  std::string_view reason;  // FailedCreate, FailedDelete
  std::string message;
};

// The new status, equal to the current one when nothing has changed.
api::Json NextStatus(const api::Json& owner, const ReplicaCounts& counts,
                     const std::optional<ReplicaFailure>& failure, api::Time now);

}  // namespace terrarium::controllers::replicaset

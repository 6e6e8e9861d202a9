#pragma once

// The pods that a Job creates. Pure.

#include <optional>

#include "api/json.h"
#include "api/object.h"
#include "controllers/job/internal/indexes.h"

namespace terrarium::controllers::job {

// The common part of all new pods of the Job; for a Job that is not indexed, a complete pod.
api::Json PodOf(const api::Object& job, const api::Json& document, bool indexed);

// The pod of one index. `failures`: with backoffLimitPerIndex, how often the index has failed before.
api::Json IndexedPodOf(const api::Json& pod, const api::Object& job, int index,
                       const std::optional<IndexFailures>& failures);

// The patch that removes the tracking finalizer from a pod of that uid.
api::Json TakeFinalizerOff(const std::string& uid);

}  // namespace terrarium::controllers::job

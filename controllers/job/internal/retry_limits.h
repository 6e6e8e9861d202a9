#pragma once

#include "controllers/runtime/work_queue.h"

namespace terrarium::controllers::job {

// How both queues try again what failed, as Kubernetes does: slower than other controllers.
inline constexpr RetryLimits kRetryLimits{
    .base = std::chrono::seconds(1), .most = std::chrono::minutes(1), .per_second = 0, .burst = 0};

}  // namespace terrarium::controllers::job

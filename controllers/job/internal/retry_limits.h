#pragma once

#include "controllers/runtime/work_queue.h"

namespace terrarium::controllers::job {

// The retry limits of both queues: slower than in other controllers, as in Kubernetes.
inline constexpr RetryLimits kRetryLimits{
    .base = std::chrono::seconds(1), .most = std::chrono::minutes(1), .per_second = 0, .burst = 0};

}  // namespace terrarium::controllers::job

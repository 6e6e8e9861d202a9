#pragma once

// From the number of replicas that the metrics ask for to the number that the autoscaler may set now. Pure.

#include <string_view>

#include "api/base/clock.h"
#include "controllers/horizontal_pod_autoscaler/internal/autoscaler_spec.h"
#include "controllers/horizontal_pod_autoscaler/internal/scale_history.h"

namespace terrarium::controllers::autoscaler {

// A reason and a message of a condition.
struct Explanation {
  std::string_view reason;
  std::string_view message;
};

struct Normalized {
  int replicas = 0;
  Explanation able;  // of AbleToScale, which is True
  bool limited = false;
  Explanation limits;  // of ScalingLimited
  // A window or a policy holds the scaling back, and time alone lifts that.
  bool waits = false;
};

// Records `desired` in the history.
Normalized Normalize(const AutoscalerSpec& spec, int current, int desired, ScaleHistory& history,
                     api::Time now);

}  // namespace terrarium::controllers::autoscaler

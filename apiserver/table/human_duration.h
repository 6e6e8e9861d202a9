#pragma once

#include <string>

#include "api/base/clock.h"

namespace terrarium::apiserver {

// A duration as `kubectl get` shows ages: two or three significant figures, "45s", "3m20s", "5h12m", "2d4h",
// "300d".
// "<invalid>" for more than a second before zero.
std::string HumanDuration(api::Duration duration);

}  // namespace terrarium::apiserver

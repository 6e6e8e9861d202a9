#pragma once

// What a running container uses, as the kubelet measures it.

#include <string>

#include "api/base/clock.h"
#include "api/base/quantity.h"

namespace terrarium::api {

struct ContainerUsage {
  std::string name;
  Time started{};
  Quantity cpu;
  Quantity memory;
};

}  // namespace terrarium::api

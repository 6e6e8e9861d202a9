#pragma once

#include "api/pod_script/pod_script.h"

namespace terrarium::kubelet_fake {

// Defaults for tests that end the pods of Jobs themselves: otherwise such pods succeed after a second.
inline api::PodScript EndlessPods() {
  api::PodScript script;
  script.all.run_for = api::kForever;
  return script;
}

}  // namespace terrarium::kubelet_fake

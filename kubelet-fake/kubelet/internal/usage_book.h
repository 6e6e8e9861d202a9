#pragma once

// What the containers of pods use, by their scripts.

#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "api/base/clock.h"
#include "api/container_usage.h"
#include "api/json.h"
#include "api/object_name.h"
#include "api/pod_script/pod_script.h"

namespace terrarium::kubelet_fake {

// The usage of each container that runs according to `pod`, at `now`.
std::vector<api::ContainerUsage> UsageOf(const api::Json& pod, const api::PodScript& script, api::Time now);

// The current scripts of pods. Thread-safe, since the apiserver reads them while the kubelet writes.
class UsageBook {
 public:
  void Set(const api::ObjectName& pod, std::shared_ptr<const api::PodScript> script);
  void Forget(const api::ObjectName& pod);
  // nullptr: the kubelet does not know the pod.
  std::shared_ptr<const api::PodScript> Find(const api::ObjectName& pod) const;

 private:
  mutable std::mutex mutex_;
  std::map<api::ObjectName, std::shared_ptr<const api::PodScript>> scripts_;  // guarded by mutex_
};

}  // namespace terrarium::kubelet_fake

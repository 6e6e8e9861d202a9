#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/base/clock.h"
#include "api/container_log.h"
#include "api/container_usage.h"
#include "api/object.h"
#include "api/object_name.h"

namespace terrarium::kubelet_fake {

// The containers of all nodes and their output, which outlive the kubelet. While no kubelet runs, containers
// keep running and end when they are due; starts, probes and requests to stop do not happen. The next kubelet
// adopts the containers in their current state.
class ContainerRuntime {
 public:
  ContainerRuntime();
  ~ContainerRuntime();

  // The output of a container (terrarium.dev/log) in its latest run, or in the one before; nullptr: no such
  // run. Thread-safe.
  std::shared_ptr<api::ContainerLog> Log(const api::ObjectName& pod, const std::string& container,
                                         bool previous) const;

  // What the pod's running containers use now, by its current script; nullopt: the kubelet does not know the
  // pod. Thread-safe.
  std::optional<std::vector<api::ContainerUsage>> Usage(const api::Object& pod, api::Time now) const;

  // For the kubelet.
  struct Contents;
  Contents& contents() { return *contents_; }

 private:
  std::unique_ptr<Contents> contents_;
};

}  // namespace terrarium::kubelet_fake

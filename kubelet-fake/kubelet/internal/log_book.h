#pragma once

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "api/container_log.h"
#include "api/object_name.h"

namespace terrarium::kubelet_fake {

// A run of a container: from a start to the end that follows.
struct ContainerRun {
  std::string container;
  api::Time started;
  api::PrintScript prints;
};

// The output of containers in their latest run and in the one before, which is what a kubelet keeps.
// Thread-safe, since the apiserver reads it while the kubelet writes.
class LogBook {
 public:
  // Records that the container runs, or has run until `finished`. A no-op if a later run of it, or a run with
  // the same start time, is known.
  void Begin(const api::ObjectName& pod, ContainerRun run, std::optional<api::Time> finished = std::nullopt);
  void End(const api::ObjectName& pod, const std::string& container, api::Time finished);
  // The pod is gone, and its logs with it.
  void Forget(const api::ObjectName& pod, api::Time now);
  // nullptr: there was no such run.
  std::shared_ptr<api::ContainerLog> Find(const api::ObjectName& pod, const std::string& container,
                                          bool previous) const;

 private:
  struct Slot {
    std::string container;
    api::Time started;  // of the latest run
    std::shared_ptr<api::ContainerLog> latest;
    std::shared_ptr<api::ContainerLog> previous;
  };
  mutable std::mutex mutex_;
  std::map<api::ObjectName, std::vector<Slot>> pods_;  // guarded by mutex_
};

}  // namespace terrarium::kubelet_fake

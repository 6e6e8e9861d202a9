#pragma once

#include <memory>
#include <string>

#include "api/container_log.h"
#include "api/object_name.h"

namespace terrarium::kubelet_fake {

// What is on the machines and not in the kubelet: containers and what they have printed. They go on while the
// kubelet is away, and the next one takes them up where they are: who runs, since when, until when, and who
// has been asked to stop. What fell due meanwhile has happened then; what takes a kubelet (a start, a probe,
// a request to stop) has not.
class ContainerRuntime {
 public:
  ContainerRuntime();
  ~ContainerRuntime();

  // What the container prints (terrarium.dev/log) in its latest run, or in the one before; nullptr when there
  // was no such run. Thread-safe.
  std::shared_ptr<api::ContainerLog> Log(const api::ObjectName& pod, const std::string& container,
                                         bool previous) const;

  // The kubelet's.
  struct Contents;
  Contents& contents() { return *contents_; }

 private:
  std::unique_ptr<Contents> contents_;
};

}  // namespace terrarium::kubelet_fake

#pragma once

#include <memory>
#include <optional>
#include <string>

#include "api/object_name.h"

namespace terrarium::kubelet_fake {

// What is on the machines and not in the kubelet: containers and what they have printed. They go on while the kubelet
// is away, and the next one takes them up where they are: who runs, since when, until when, and who has been asked to
// stop. What fell due meanwhile has happened then; what takes a kubelet (a start, a probe, a request to stop) has not.
class ContainerRuntime {
 public:
  ContainerRuntime();
  ~ContainerRuntime();

  // What the container has printed (terrarium.dev/log), nothing for one without a log; nullopt when it has not started
  // or is not known. Thread-safe.
  std::optional<std::string> Log(const api::ObjectName& pod, const std::string& container) const;

  // The kubelet's.
  struct Contents;
  Contents& contents() { return *contents_; }

 private:
  std::unique_ptr<Contents> contents_;
};

}  // namespace terrarium::kubelet_fake

#pragma once

// What is on the machines and not in the kubelet: containers and what they have printed. They go on while the kubelet
// is away, and the next one takes them up where they are: who runs, since when, until when, and who has been asked to
// stop. What fell due meanwhile has happened then; what takes a kubelet (a start, a probe, a request to stop) has not.

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "kubelet-fake/kubelet/internal/log_book.h"
#include "kubelet-fake/kubelet/pod_life.h"

namespace terrarium::kubelet_fake {

class ContainerRuntime {
 public:
  // Thread-safe, unlike the rest, which is the kubelet's lane's.
  LogBook& logs() { return logs_; }

  // A kubelet that goes leaves its pods here, and the next one finds them.
  void Leave(PodLife life) {
    std::string uid = life.uid();
    pods_.insert_or_assign(std::move(uid), std::move(life));
  }
  std::optional<PodLife> TakeUp(const std::string& uid) {
    auto found = pods_.extract(uid);
    if (found.empty()) return std::nullopt;
    return std::move(found.mapped());
  }
  // Pods that are gone meanwhile.
  void ForgetRest() { pods_.clear(); }

 private:
  LogBook logs_;
  std::map<std::string, PodLife> pods_;  // by uid
};

}  // namespace terrarium::kubelet_fake

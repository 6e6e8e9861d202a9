#pragma once

#include <map>
#include <optional>
#include <string>
#include <utility>

#include "kubelet-fake/kubelet/container_runtime.h"
#include "kubelet-fake/kubelet/internal/log_book.h"
#include "kubelet-fake/kubelet/internal/usage_book.h"
#include "kubelet-fake/kubelet/pod_life.h"

namespace terrarium::kubelet_fake {

struct ContainerRuntime::Contents {
  LogBook logs;     // thread-safe
  UsageBook usage;  // thread-safe; the rest is for the kubelet's lane
  // Pods of a kubelet that has stopped, by uid.
  std::map<std::string, PodLife> left;

  void Leave(PodLife life) {
    std::string uid = life.uid();
    left.insert_or_assign(std::move(uid), std::move(life));
  }
  std::optional<PodLife> TakeUp(const std::string& uid) {
    auto found = left.extract(uid);
    if (found.empty()) return std::nullopt;
    return std::move(found.mapped());
  }
};

}  // namespace terrarium::kubelet_fake

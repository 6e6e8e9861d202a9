#include "kubelet-fake/kubelet/container_runtime.h"

#include "kubelet-fake/kubelet/internal/container_contents.h"

namespace terrarium::kubelet_fake {

ContainerRuntime::ContainerRuntime() : contents_(std::make_unique<Contents>()) {}
ContainerRuntime::~ContainerRuntime() = default;

std::shared_ptr<api::ContainerLog> ContainerRuntime::Log(const api::ObjectName& pod,
                                                         const std::string& container, bool previous) const {
  return contents_->logs.Find(pod, container, previous);
}

std::optional<std::vector<api::ContainerUsage>> ContainerRuntime::Usage(const api::Object& pod,
                                                                        api::Time now) const {
  const std::shared_ptr<const api::PodScript> script = contents_->usage.Find(pod.name());
  if (script == nullptr) return std::nullopt;
  return UsageOf(*pod.Document(), *script, now);
}

}  // namespace terrarium::kubelet_fake

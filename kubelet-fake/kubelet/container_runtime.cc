#include "kubelet-fake/kubelet/container_runtime.h"

#include "kubelet-fake/kubelet/internal/container_contents.h"

namespace terrarium::kubelet_fake {

ContainerRuntime::ContainerRuntime() : contents_(std::make_unique<Contents>()) {}
ContainerRuntime::~ContainerRuntime() = default;

std::optional<std::string> ContainerRuntime::Log(const api::ObjectName& pod, const std::string& container) const {
  return contents_->logs.Read(pod, container);
}

}  // namespace terrarium::kubelet_fake

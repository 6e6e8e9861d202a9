#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace terrarium::kubelet_fake {

// What the kubelet knows of the machines it simulates. Lives on the kubelet's lane and outlives the kubelet.
class NodeView {
 public:
  virtual ~NodeView() = default;

  // False for a node that has failed or does not exist. Its pods do not change until it is up again.
  virtual bool IsUp(std::string_view node) const = 0;
  // The node's InternalIP; empty when it has none.
  virtual std::string InternalIp(std::string_view node) const = 0;
  // Calls `changed` with the node's name after IsUp() or InternalIp() has changed for it. Callbacks are never
  // removed: a callback must be safe to call after its owner is destroyed.
  virtual void OnChange(std::function<void(const std::string& node)> changed) = 0;
};

}  // namespace terrarium::kubelet_fake

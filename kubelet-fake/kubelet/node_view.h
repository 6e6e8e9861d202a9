#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace terrarium::kubelet_fake {

// What the kubelet knows of the machines it pretends to be. Lives on the kubelet's lane and outlives the kubelet.
class NodeView {
 public:
  virtual ~NodeView() = default;

  // False for a node that was taken away, has failed or was never there: its pods do not change until it comes back.
  virtual bool IsUp(std::string_view node) const = 0;
  // The node's InternalIP; empty when it has none.
  virtual std::string InternalIp(std::string_view node) const = 0;
  // `changed` is called with the node's name after either answer for it has changed. Callbacks are never removed:
  // whoever gives one makes sure that it may come after its own end.
  virtual void OnChange(std::function<void(const std::string& node)> changed) = 0;
};

}  // namespace terrarium::kubelet_fake

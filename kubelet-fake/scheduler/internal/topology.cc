#include "kubelet-fake/scheduler/internal/topology.h"

namespace terrarium::kubelet_fake::scheduling {

std::size_t TopologyKeys::NumberOf(const std::string& key) {
  for (std::size_t i = 0; i < keys_.size(); ++i) {
    if (keys_[i].name == key) return i;
  }
  keys_.push_back({key, {}});
  return keys_.size() - 1;
}

std::vector<std::size_t> TopologyKeys::DomainsOf(const api::ObjectHeader& node) {
  std::vector<std::size_t> out;
  for (Key& key : keys_) {
    const std::string* value = api::FindLabel(node, key.name);
    out.push_back(value == nullptr ? 0 : key.domains.emplace(*value, key.domains.size() + 1).first->second);
  }
  return out;
}

}  // namespace terrarium::kubelet_fake::scheduling

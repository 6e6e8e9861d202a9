#include "kubelet-fake/kubelet/internal/log_book.h"

#include <utility>

namespace terrarium::kubelet_fake {

void LogBook::Write(const api::ObjectName& pod, const std::string& container, std::string text) {
  std::lock_guard lock(mutex_);
  pods_[pod][container] = std::move(text);
}

void LogBook::Forget(const api::ObjectName& pod) {
  std::lock_guard lock(mutex_);
  pods_.erase(pod);
}

std::optional<std::string> LogBook::Read(const api::ObjectName& pod, const std::string& container) const {
  std::lock_guard lock(mutex_);
  const auto found = pods_.find(pod);
  if (found == pods_.end()) return std::nullopt;
  const auto text = found->second.find(container);
  return text != found->second.end() ? std::optional(text->second) : std::nullopt;
}

}  // namespace terrarium::kubelet_fake

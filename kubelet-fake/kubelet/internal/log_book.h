#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <string>

#include "api/object_name.h"

namespace terrarium::kubelet_fake {

// What containers have printed. Thread-safe, since the apiserver reads it while the kubelet writes.
class LogBook {
 public:
  void Write(const api::ObjectName& pod, const std::string& container, std::string text);
  void Forget(const api::ObjectName& pod);
  std::optional<std::string> Read(const api::ObjectName& pod, const std::string& container) const;

 private:
  mutable std::mutex mutex_;
  std::map<api::ObjectName, std::map<std::string, std::string>> pods_;  // guarded by mutex_
};

}  // namespace terrarium::kubelet_fake

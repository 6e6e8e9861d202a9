#include "kubelet-fake/kubelet/internal/usage_book.h"

#include <string>
#include <utility>

#include "api/json_access.h"

namespace terrarium::kubelet_fake {
namespace {

// The usage of a container that no script describes: what an idle one needs.
constexpr std::string_view kIdleCpu = "1m";
constexpr std::string_view kIdleMemory = "10Mi";

using Field = std::optional<api::UsageCourse> api::ContainerScript::*;

api::Quantity AmountOf(const api::PodScript& script, const std::string& container, Field field,
                       api::Duration since_start, std::string_view otherwise) {
  if (const api::UsageCourse* course = script.Find(container, field)) return course->At(since_start);
  std::string error;
  return *api::Quantity::Parse(otherwise, &error);
}

}  // namespace

std::vector<api::ContainerUsage> UsageOf(const api::Json& pod, const api::PodScript& script, api::Time now) {
  std::vector<api::ContainerUsage> out;
  for (const char* list : {"containerStatuses", "initContainerStatuses"}) {
    for (const api::Json& status : api::ListAt(pod, "status", list)) {
      const auto started = api::ParseTime(api::StringAt(status, "state", "running", "startedAt"));
      if (!started) continue;
      api::ContainerUsage usage;
      usage.name = api::StringAt(status, "name");
      usage.started = *started;
      const api::Duration ran = now - *started;
      usage.cpu = AmountOf(script, usage.name, &api::ContainerScript::cpu, ran, kIdleCpu);
      usage.memory = AmountOf(script, usage.name, &api::ContainerScript::memory, ran, kIdleMemory);
      out.push_back(std::move(usage));
    }
  }
  return out;
}

void UsageBook::Set(const api::ObjectName& pod, std::shared_ptr<const api::PodScript> script) {
  std::lock_guard lock(mutex_);
  scripts_.insert_or_assign(pod, std::move(script));
}

void UsageBook::Forget(const api::ObjectName& pod) {
  std::lock_guard lock(mutex_);
  scripts_.erase(pod);
}

std::shared_ptr<const api::PodScript> UsageBook::Find(const api::ObjectName& pod) const {
  std::lock_guard lock(mutex_);
  const auto found = scripts_.find(pod);
  return found == scripts_.end() ? nullptr : found->second;
}

}  // namespace terrarium::kubelet_fake

#include "controllers/endpoints/internal/trigger_times.h"

#include <utility>

namespace terrarium::controllers::endpoints {
namespace {

void TakeEarlier(std::optional<api::Time>& earliest, api::Time time) {
  if (!earliest || time < *earliest) earliest = time;
}

}  // namespace

std::optional<api::Time> TriggerTimes::Next(const ServiceView& service, const ServicePods::Pods& pods) {
  const auto found = services_.find(service.name);
  const bool is_new = found == services_.end();
  Known& known = services_[service.name];
  std::optional<api::Time> earliest;
  std::map<std::string, api::Time> times;
  for (const auto& [name, pod] : pods) {
    if (!pod->readiness_changed) continue;
    const auto before = known.pods.find(name);
    if (before == known.pods.end() || *pod->readiness_changed > before->second)
      TakeEarlier(earliest, *pod->readiness_changed);
    times.emplace_hint(times.end(), name, *pod->readiness_changed);
  }
  if (is_new || service.created > known.created) TakeEarlier(earliest, service.created);
  known = {service.created, std::move(times)};
  return is_new ? service.created : earliest;
}

}  // namespace terrarium::controllers::endpoints

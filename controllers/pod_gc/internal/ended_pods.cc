#include "controllers/pod_gc/internal/ended_pods.h"

#include "api/core_v1/pod.h"
#include "api/json_access.h"
#include "api/json_text.h"

namespace terrarium::controllers {

using api::ObjectName;

void EndedPods::Update(const api::Object& pod) {
  const ObjectName& name = pod.name();
  const std::string& phase = api::PodPhase(pod);
  if (!api::IsPodPhaseTerminal(phase)) return Remove(name);
  if (places_.contains(name)) return;
  static constexpr api::Keep kMetadata[] = {{"creationTimestamp"}};
  static constexpr api::Keep kStatus[] = {{"reason"}};
  static constexpr api::Keep kPod[] = {{"metadata", kMetadata}, {"status", kStatus}};
  const api::Json document = api::ReadSome(pod.body(), kPod);
  const bool evicted = phase == "Failed" && api::StringAt(document, "status", "reason") == "Evicted";
  // Creation times are UTC and of one length: their text sorts as they do.
  Rank rank{!evicted, std::string(api::StringAt(document, "metadata", "creationTimestamp")), name.name,
            name.ns};
  places_[name] = order_.insert(std::move(rank)).first;
}

void EndedPods::Remove(const ObjectName& pod) {
  auto place = places_.find(pod);
  if (place == places_.end()) return;
  order_.erase(place->second);
  places_.erase(place);
}

std::vector<ObjectName> EndedPods::First(std::size_t count) const {
  std::vector<ObjectName> first;
  for (const Rank& rank : order_) {
    if (first.size() == count) break;
    first.push_back({std::get<3>(rank), std::get<2>(rank)});
  }
  return first;
}

}  // namespace terrarium::controllers

#pragma once

// The state of a StatefulSet's pod that decisions depend on. Pure.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "api/base/clock.h"
#include "api/core_v1/pod.h"
#include "api/json.h"
#include "api/object.h"

namespace terrarium::controllers::statefulset {

struct PodFacts {
  std::string name;
  std::string uid;
  std::string revision;  // the name of its ControllerRevision; empty: it has none
  api::Phase phase = api::Phase::kPending;
  bool deleting = false;
  bool ready = false;
  std::optional<api::Time> ready_since;
  bool has_name_label = false;                // its label pod-name is its name
  std::map<std::string, std::string> claims;  // its volumes that are claims: volume to claim

  bool Ended() const { return api::IsTerminal(phase); }
  bool RunningAndReady() const { return phase == api::Phase::kRunning && ready; }
  bool Available(api::Duration min_ready, api::Time now) const;
  // When a ready pod becomes available; nullopt: it is, or will not be.
  std::optional<api::Time> AvailableAt(api::Duration min_ready, api::Time now) const;

  friend bool operator==(const PodFacts&, const PodFacts&) = default;
};

PodFacts FactsOf(const api::Object& pod);

// A pod as its event showed it.
struct StatefulPod {
  PodFacts facts;
  api::ObjectPtr object;
};
using StatefulPodPtr = std::shared_ptr<const StatefulPod>;

}  // namespace terrarium::controllers::statefulset

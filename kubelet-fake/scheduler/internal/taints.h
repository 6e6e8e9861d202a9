#pragma once

#include <optional>
#include <string>
#include <vector>

#include "api/json.h"

namespace terrarium::kubelet_fake::scheduling {

enum class TaintEffect { kNoSchedule, kPreferNoSchedule, kNoExecute };

struct Taint {
  std::string key;
  std::string value;
  TaintEffect effect = TaintEffect::kNoSchedule;

  // PreferNoSchedule only makes a node less attractive.
  bool KeepsPodsAway() const { return effect != TaintEffect::kPreferNoSchedule; }
  friend bool operator==(const Taint&, const Taint&) = default;
};

struct Toleration {
  std::string key;                    // empty: any
  std::optional<std::string> value;   // nullopt: any
  std::optional<TaintEffect> effect;  // nullopt: any

  bool Tolerates(const Taint& taint) const;
};

std::vector<Taint> TaintsOf(const api::Json& node_spec);
std::vector<Toleration> TolerationsOf(const api::Json& pod_spec);
bool Tolerated(const Taint& taint, const std::vector<Toleration>& tolerations);

}  // namespace terrarium::kubelet_fake::scheduling

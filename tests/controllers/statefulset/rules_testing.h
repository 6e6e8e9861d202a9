#pragma once

// Pods of a set "web" as its controller sees them.

#include <memory>
#include <string>
#include <vector>

#include "controllers/statefulset/internal/identity.h"
#include "controllers/statefulset/internal/pod_facts.h"

namespace terrarium::controllers::statefulset {

inline constexpr api::Time kNow{std::chrono::seconds(1'767'225'600)};

// One letter for each state of a pod, for tables.
//   r ready   n running, not ready   p pending   t terminating, ready   f failed   s succeeded   - missing
// A capital letter stands for a pod of the revision "new", any other for one of "old".
inline StatefulPodPtr PodOf(int ordinal, char state) {
  if (state == '-') return nullptr;
  const bool is_new = state >= 'A' && state <= 'Z';
  const char kind = static_cast<char>(is_new ? state - 'A' + 'a' : state);
  auto pod = std::make_shared<StatefulPod>();
  PodFacts& facts = pod->facts;
  facts.name = PodName("web", ordinal);
  facts.uid = "uid-" + std::to_string(ordinal);
  facts.revision = is_new ? "new" : "old";
  facts.has_name_label = true;
  facts.deleting = kind == 't';
  facts.ready = kind == 'r' || kind == 't';
  if (facts.ready) facts.ready_since = kNow - std::chrono::seconds(10);
  switch (kind) {
    case 'p': facts.phase = api::Phase::kPending; break;
    case 'f': facts.phase = api::Phase::kFailed; break;
    case 's': facts.phase = api::Phase::kSucceeded; break;
    default: facts.phase = api::Phase::kRunning;
  }
  return pod;
}

// The pods of the ordinals from `start` on.
inline std::vector<StatefulPodPtr> PodsOf(const std::string& states, int start = 0) {
  std::vector<StatefulPodPtr> pods;
  for (std::size_t i = 0; i < states.size(); ++i)
    if (StatefulPodPtr pod = PodOf(start + static_cast<int>(i), states[i])) pods.push_back(pod);
  return pods;
}

}  // namespace terrarium::controllers::statefulset

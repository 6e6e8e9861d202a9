#pragma once

// Directions for pods besides their own annotations: rules by namespace and selector, and holds and releases
// of single pods. Plain data: the caller that changes it must notify the kubelet, as PodRules does.

#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/status.h"
#include "api/object.h"
#include "api/pod_script/pod_script.h"
#include "api/selector/label_selector.h"

namespace terrarium::kubelet_fake {

struct PodRule {
  std::string name;
  std::string ns;  // empty: all
  api::LabelSelector selector;
  api::PodScript script;
  api::Json document;  // as the client sent it, for lists

  // Parses {"name": ..., "namespace": ..., "selector": TEXT or LabelSelector, "script": {KEY: VALUE}}. Fails
  // with 400 or 422.
  static api::Result<PodRule> Parse(const api::Json& document);
  bool Matches(const api::ObjectHeader& pod) const;
};

// The behaviour of a pod: defaults, rules, annotations, holds and releases merged.
struct PodDirections {
  std::shared_ptr<const api::PodScript> script;
  api::HoldPoints hold;
  bool let_go = false;                     // the pod was released: hanging containers may stop
  std::optional<int> stop_exit_code = {};  // set by a release with an outcome; overrides the script
};

class RuleBook {
 public:
  const std::vector<PodRule>& rules() const { return rules_; }
  const PodRule* Find(std::string_view name) const;
  void Add(PodRule rule) { rules_.push_back(std::move(rule)); }
  void Remove(std::string_view name);
  // Adds the points to the rule's hold. REQUIRES: a rule of that name exists.
  void HoldRule(std::string_view name, api::HoldPoints points);

  // Single pods, by uid.
  void HoldPod(const std::string& uid, api::HoldPoints points);
  void ReleasePod(const std::string& uid, api::HoldPoints points, std::optional<int> stop_exit_code);
  void Forget(const std::string& uid) { pods_.erase(uid); }

  // Merges `defaults`, then the rules in order, then `own` (null: the pod has no script annotations), then
  // holds and releases of the pod itself. A pod that none of these affects shares `defaults`.
  PodDirections Directions(const api::ObjectHeader& pod,
                           const std::shared_ptr<const api::PodScript>& defaults,
                           const api::PodScript* own) const;

 private:
  struct PodOrders {
    api::HoldPoints hold;
    api::HoldPoints released;
    std::optional<int> stop_exit_code;
  };
  std::vector<PodRule> rules_;  // in the order added: a later rule overrides an earlier one
  std::map<std::string, PodOrders> pods_;
};

}  // namespace terrarium::kubelet_fake

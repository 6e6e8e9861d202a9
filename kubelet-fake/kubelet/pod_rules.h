#pragma once

// The control API for pods: rules, and orders to single pods. Requests and responses are JSON; unknown
// members are refused. A pod is named by {"namespace": ..., "pod": ...}.
//
// Failures: 400 for a malformed request, 422 with the field's path for a bad script, 404 for an unknown rule
// or a pod that no node runs, 409 for a rule's name that is taken and for an order that the pod can no longer
// follow.

#include <optional>
#include <string>
#include <vector>

#include "api/base/status.h"
#include "api/object.h"
#include "api/object_name.h"
#include "kubelet-fake/kubelet/rule_book.h"

namespace terrarium::kubelet_fake {

// The pods that receive orders. Implemented by the kubelet.
class PodHost {
 public:
  virtual ~PodHost() = default;

  virtual api::ObjectPtr FindPod(const api::ObjectName& name) const = 0;  // nullptr: unknown
  virtual std::vector<api::ObjectPtr> AllPods() const = 0;                // by namespace and name
  // Points at which the pod is held, or will be when it reaches them.
  virtual api::HoldPoints HeldAt(const api::ObjectName& name) const = 0;
  // Called after the rules have changed for this pod, or for all pods.
  virtual void Redirect(const api::ObjectName& name) = 0;
  virtual void RedirectAll() = 0;

  // The container ends now with that code; its restart policy applies. An empty name means every regular
  // container that runs. False: none runs.
  struct CrashOrder {
    std::string container;
    int exit_code = 1;
    std::string reason;  // empty: Completed or Error
  };
  virtual bool Crash(const api::ObjectName& name, const CrashOrder& order) = 0;
  // All containers end now and the pod is Failed, under any restart policy. False: it has ended already.
  struct FailOrder {
    int exit_code = 1;
    std::string reason;
    std::string message;
  };
  virtual bool Fail(const api::ObjectName& name, const FailOrder& order) = 0;
  // Evicts the pod as under node pressure. False: it has ended already.
  virtual bool Evict(const api::ObjectName& name, const std::string& message) = 0;
};

class PodRules {
 public:
  // Both outlive it.
  PodRules(RuleBook& book, PodHost& pods) : book_(book), pods_(pods) {}

  // {"rules": [RULE...], "held": [{"namespace", "pod", "points"}...]}
  api::Result<api::Json> List() const;
  // RULE, in the format of PodRule::Parse; returns the rule.
  api::Result<api::Json> Add(const api::Json& rule);
  // Releases the pods that only this rule holds.
  api::Result<api::Json> Remove(const std::string& name);

  // {"rule": NAME} or a pod, and "point": "ready" or "terminating". Returns what is held.
  api::Result<api::Json> Hold(const api::Json& request);
  // {"rule": NAME} (the existing pods that it matches; it still holds new ones) or a pod; "point" (absent:
  // all); "outcome": {"exitCode": N} (how a pod held in terminating ends; one held before ready ends now, and
  // its restart policy applies). Returns the pods and the points they left.
  api::Result<api::Json> Release(const api::Json& request);

  // A pod, "exitCode" (1), "reason", "message".
  api::Result<api::Json> Fail(const api::Json& request);
  // A pod, "container" (absent: all regular ones), "exitCode" (1), "reason".
  api::Result<api::Json> Crash(const api::Json& request);
  // A pod, "message" (absent: that of a node low on memory).
  api::Result<api::Json> Evict(const api::Json& request);

 private:
  api::Result<api::ObjectPtr> PodOf(const api::Json& request) const;
  // The pods that a release names.
  api::Result<std::vector<api::ObjectPtr>> TargetsOf(const api::Json& request) const;

  RuleBook& book_;
  PodHost& pods_;
};

}  // namespace terrarium::kubelet_fake

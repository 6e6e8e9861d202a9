#pragma once

// Pods of a DaemonSet: how one is made for a node, and what the controller reads of an existing one. Pure.

#include <string>
#include <string_view>

#include "api/base/clock.h"
#include "api/core_v1/pod.h"
#include "api/json.h"
#include "api/object.h"

namespace terrarium::controllers::daemonset {

// The annotation of a DaemonSet with the generation of its template, and the label of pods with that number.
// Older than revisions; a pod that has either the hash or the number is up to date.
inline constexpr std::string_view kGenerationAnnotation = "deprecated.daemonset.template.generation";
inline constexpr std::string_view kGenerationLabel = "pod-template-generation";

// The template's tolerations and those that every daemon pod has: problems of a node do not evict it, and
// pressure and cordon do not keep it away. A null list becomes a list.
api::Json DaemonTolerations(const api::Json& pod_spec);

// The value of kGenerationLabel for new pods; empty when the annotation is absent or not a number.
std::string TemplateGeneration(const api::Json& daemon_set);

// A new pod for a node. Its node affinity names that node and nothing else, so that the scheduler binds it
// there or leaves it pending.
api::Json PodTemplateFor(const api::Object& owner, const api::Json& daemon_set, std::string_view hash);
void PinToNode(api::Json& pod, std::string_view node);

// The node that a pod runs on or is meant for; empty when it names none.
std::string TargetNode(const api::Object& pod, const api::Json& document);

// A missing time: later than all others.
inline constexpr api::Time kNoTime = api::Time::max();

struct DaemonPod {
  api::ObjectPtr pod;
  bool bound = false;
  bool deleting = false;
  api::Phase phase = api::Phase::kPending;
  bool ready = false;
  api::Time ready_since = kNoTime;
  api::Time created = kNoTime;

  // When the pod is available, if it stays ready; kNoTime when it is not ready.
  api::Time AvailableFrom(api::Duration min_ready) const;
};
DaemonPod ReadDaemonPod(const api::ObjectPtr& pod, const api::Json& document);

}  // namespace terrarium::controllers::daemonset

#pragma once

// What Kubernetes' default admission plugins and the pod registry add to a pod that is created.

#include "api/base/clock.h"
#include "api/base/field_error.h"
#include "api/json.h"

namespace terrarium::apiserver {

// DefaultTolerationSeconds: a pod stays five minutes on a node that is not ready or unreachable, unless it
// has tolerations for these taints.
void AddDefaultTolerations(api::Json& pod_spec);

// matchLabelKeys and mismatchLabelKeys of affinity terms and spread constraints become requirements of their
// selectors, with the values that the pod's own labels have.
void MergeMatchLabelKeys(api::Json& pod_spec, const api::Json& labels);

// PodScheduled=False for a pod with scheduling gates.
api::Json SchedulingGatedCondition(api::Time now);

}  // namespace terrarium::apiserver

#pragma once

// HorizontalPodAutoscalers have two shapes, autoscaling/v1 and autoscaling/v2. They are stored in that of v2;
// requests of v1 are converted on the way in and responses on the way out. v1 has a field for the utilization
// of CPU; everything else that it lacks is in annotations, as in Kubernetes.

#include "api/json.h"

namespace terrarium::apiserver {

using api::Json;

// Both expect and produce normalised documents; apiVersion and kind are left alone. An annotation that cannot
// be read is ignored.
void AutoscalerToV2(Json& autoscaler);
// Differs from Kubernetes in the order of members in the text of annotations.
void AutoscalerToV1(Json& autoscaler);

}  // namespace terrarium::apiserver

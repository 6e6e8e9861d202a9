#pragma once

#include <span>
#include <string>

#include "testbed/control_plane/component_change.h"

namespace terrarium::testbed {

// kubernetes_feature_enabled of the running components in Prometheus text format: 1 for an enabled gate. In
// Kubernetes each component serves it on its own metrics endpoint; here all share one, and the label
// `component` distinguishes them.
std::string FeatureMetricsText(std::span<const ComponentInfo> components);

}  // namespace terrarium::testbed

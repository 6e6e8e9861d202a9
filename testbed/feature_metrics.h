#pragma once

#include <span>
#include <string>

#include "testbed/component_change.h"

namespace terrarium::testbed {

// kubernetes_feature_enabled of the components that run, in Prometheus' text: 1 for a gate that is on. Every component of
// Kubernetes has it on a page of its own; on the one page of a plane a label `component` tells them apart.
std::string FeatureMetricsText(std::span<const ComponentInfo> components);

}  // namespace terrarium::testbed

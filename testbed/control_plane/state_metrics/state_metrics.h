#pragma once

// The series of kube-state-metrics for the workload kinds, for users whose dashboards and alerts read them.
// Computed from a snapshot of the store on request; costs nothing otherwise.

#include <string>

namespace terrarium::storage {
class Store;
}

namespace terrarium::testbed {

// Prometheus text format. A kind without objects has no lines, not even HELP. Thread-safe.
std::string StateMetricsText(const storage::Store& store);

}  // namespace terrarium::testbed

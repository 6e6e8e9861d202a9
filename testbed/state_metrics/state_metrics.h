#pragma once

// kube-state-metrics' series of the workload kinds, for people whose dashboards and alerts read them: made from the
// store's snapshot when somebody asks, and no cost to anybody else.

#include <string>

namespace terrarium::storage {
class Store;
}

namespace terrarium::testbed {

// Prometheus text. A kind of which there is no object has no lines, not even HELP. Thread-safe.
std::string StateMetricsText(const storage::Store& store);

}  // namespace terrarium::testbed

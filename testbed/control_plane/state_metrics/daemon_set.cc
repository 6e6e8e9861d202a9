#include "testbed/control_plane/state_metrics/internal/family.h"

namespace terrarium::testbed::state_metrics {
namespace {

constexpr Family kFamilies[] = {
    {"kube_daemonset_created", "[STABLE] Unix creation timestamp", TimeIfSet, "metadata",
     "creationTimestamp"},
    {"kube_daemonset_status_current_number_scheduled",
     "[STABLE] The number of nodes running at least one daemon pod and are supposed to.", Number, "status",
     "currentNumberScheduled"},
    {"kube_daemonset_status_desired_number_scheduled",
     "[STABLE] The number of nodes that should be running the daemon pod.", Number, "status",
     "desiredNumberScheduled"},
    {"kube_daemonset_status_number_available",
     "[STABLE] The number of nodes that should be running the daemon pod and have one or more of the daemon "
     "pod "
     "running and available",
     Number, "status", "numberAvailable"},
    {"kube_daemonset_status_number_misscheduled",
     "[STABLE] The number of nodes running a daemon pod but are not supposed to.", Number, "status",
     "numberMisscheduled"},
    {"kube_daemonset_status_number_ready",
     "[STABLE] The number of nodes that should be running the daemon pod and have one or more of the daemon "
     "pod "
     "running and ready.",
     Number, "status", "numberReady"},
    {"kube_daemonset_status_number_unavailable",
     "[STABLE] The number of nodes that should be running the daemon pod and have none of the daemon pod "
     "running and "
     "available",
     Number, "status", "numberUnavailable"},
    {"kube_daemonset_status_observed_generation",
     "[STABLE] The most recent generation observed by the daemon set controller.", Number, "status",
     "observedGeneration"},
    {"kube_daemonset_status_updated_number_scheduled",
     "[STABLE] The total number of nodes that are running updated daemon pod", Number, "status",
     "updatedNumberScheduled"},
    {"kube_daemonset_metadata_generation",
     "[STABLE] Sequence number representing a specific generation of the desired state.", Number, "metadata",
     "generation"},
    {"kube_daemonset_deletion_timestamp", "Unix deletion timestamp", TimeIfSet, "metadata",
     "deletionTimestamp"},
};

}  // namespace

std::span<const Family> DaemonSetFamilies() { return kFamilies; }

}  // namespace terrarium::testbed::state_metrics

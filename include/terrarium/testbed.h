#pragma once

// Terrarium in your own process: a whole Kubernetes workload control plane that runs on the calling thread,
// with a virtual clock that you control. docs/embedding.md has a tour. This header includes everything except
// the GoogleTest part, which is <terrarium/gtest.h>.
//
//   terrarium::Testbed bed({.nodes = 2});
//   bed.Must(bed.Apply(yaml));
//   bed.Must(bed.WaitFor("deployments", {"default", "web"}, "condition=Available", 5min));

#include "api/base/clock.h"
#include "api/base/duration.h"
#include "api/base/feature_gates.h"
#include "api/base/status.h"
#include "api/client.h"
#include "api/http_caller.h"
#include "api/json.h"
#include "api/json_access.h"
#include "api/object.h"
#include "api/selector/label_selector.h"
#include "controllers/runtime/why.h"
#include "kubelet-fake/kubelet/pod_rules.h"
#include "kubelet-fake/nodes/node_agent.h"
#include "storage/store.h"
#include "testbed/control_plane/field_path.h"
#include "testbed/control_plane/object_condition.h"
#include "testbed/control_plane/object_watch.h"
#include "testbed/embedding/manifests.h"
#include "testbed/embedding/testbed.h"
#include "testbed/embedding/timeline.h"
#include "testbed/embedding/version.h"
#include "testbed/embedding/views.h"
#include "testbed/invariants/violation.h"
#include "testbed/runtime/clock_control.h"

namespace terrarium {

using api::Json;
using api::ObjectName;
using api::ObjectPtr;
using api::Result;
using api::Status;
using controllers::WhyLog;
using controllers::WhyRecord;
using testbed::Applied;
using testbed::ApplyOptions;
using testbed::ApplyReport;
using testbed::ClockControl;
using testbed::DeploymentView;
using testbed::EventView;
using testbed::JobView;
using testbed::NodeView;
using testbed::ObjectView;
using testbed::PodView;
using testbed::ReplicaSetView;
using testbed::RunOutcome;
using testbed::Testbed;
using testbed::TestbedOptions;
using testbed::Timeline;
using testbed::TimelineEntry;
using testbed::TimelineQuery;
using testbed::invariants::Violation;

}  // namespace terrarium

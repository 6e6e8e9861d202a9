#pragma once

// ReplicaSets with a downscalePodPicker in their own cluster, and a picker whose answers the test chooses.

#include <string>
#include <vector>

#include "api/json.h"
#include "api/object.h"
#include "tests/controllers/replicaset/replica_testing.h"
#include "tests/controllers/runtime/fake_http_caller.h"

namespace terrarium::controllers_testing {

// Exact times, so that pods a few seconds apart differ in age.
inline constexpr const char* kPickerOn = "DownscalePodPicker=true,LogarithmicScaleDown=false";
inline constexpr const char* kPickerMetric = "replicaset_controller_downscale_pod_picker_";

// http://picker.default.svc:8080/pick, with `fields` merged over maxRetries and timeoutSeconds.
api::Json PickerSpec(const api::Json& fields = api::Json::object());
api::Json WithPicker(api::Json replica_set, const api::Json& picker = PickerSpec());

// Pods p0, p1, ... labelled app=web, each some seconds older than the next. `costs`: their
// pod-deletion-costs, oldest pod first; nullptr: none.
void MakePods(ReplicaBed& bed, const std::vector<const char*>& costs);

class PickerCluster {
 public:
  struct Options {
    const char* gates = kPickerOn;
    int nodes = 1;
    bool has_caller = true;
  };
  explicit PickerCluster(const Options& options);
  PickerCluster() : PickerCluster(Options{}) {}

  FakeHttpCaller caller;  // outlives the cluster
  ReplicaBed bed;
  api::ObjectPtr owner;  // the ReplicaSet "web"

  // Pods p0, p1, ..., all ready, adopted by the owner. Without a picker the last one is deleted first.
  // `costs` are their pod-deletion-costs.
  void Start(const std::vector<const char*>& costs, const api::Json& picker = PickerSpec());
  void Start(std::size_t pods, const api::Json& picker = PickerSpec()) {
    Start(std::vector<const char*>(pods, nullptr), picker);
  }
  // The pods that are deleted when the owner is scaled to that many.
  std::vector<std::string> GoneAt(int replicas);

  api::Json Asked(std::size_t call = 0) const { return api::Json::parse(caller.calls.at(call).body); }
  std::vector<std::string> Warnings();  // "reason message" of the Events about the owner
  double Metric(const std::string& series) { return bed.Metric(kPickerMetric + series); }
  // The picker entry of the newest why record.
  api::Json Why();
  // Everything visible to users: Events, metrics, why records.
  std::string AllOutput();
};

}  // namespace terrarium::controllers_testing

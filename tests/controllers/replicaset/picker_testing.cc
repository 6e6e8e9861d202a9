#include "tests/controllers/replicaset/picker_testing.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "api/json_access.h"
#include "controllers/runtime/why.h"
#include "testbed/control_plane/components.h"

namespace terrarium::controllers_testing {

using api::Json;

Json PickerSpec(const Json& fields) {
  Json picker = {{"http", {{"host", "picker.default.svc"}, {"port", 8080}, {"path", "/pick"}}}};
  picker.update(fields, true);
  return picker;
}

Json WithPicker(Json replica_set, const Json& picker) {
  if (!picker.is_null()) replica_set["spec"]["downscalePodPicker"] = picker;
  return replica_set;
}

void MakePods(ReplicaBed& bed, const std::vector<const char*>& costs) {
  using namespace std::chrono_literals;
  for (std::size_t i = 0; i < costs.size(); ++i) {
    Json pod = Pod("p" + std::to_string(i), {{"app", "web"}});
    if (costs[i] != nullptr) pod["metadata"]["annotations"] = {{kDeletionCost, costs[i]}};
    bed.Must(bed.Create("pods", "default", pod));
    bed.clock().Advance(3s);
  }
}

PickerCluster::PickerCluster(const Options& options)
    : bed({.feature_gates = options.gates,
           .nodes = options.nodes,
           .http_caller = options.has_caller ? &caller : nullptr}) {}

void PickerCluster::Start(const std::vector<const char*>& costs, const Json& picker) {
  MakePods(bed, costs);
  owner = bed.Must(bed.Create("replicasets", "default",
                              WithPicker(ReplicaSet("web", static_cast<int>(costs.size())), picker)));
  bed.Settle();
}

std::vector<std::string> PickerCluster::GoneAt(int replicas) {
  const std::vector<std::string> before = bed.PodNamesOf(owner);
  bed.Scale("replicasets", "web", replicas);
  bed.Settle();
  const std::vector<std::string> after = bed.PodNamesOf(owner);
  std::vector<std::string> gone;
  std::set_difference(before.begin(), before.end(), after.begin(), after.end(), std::back_inserter(gone));
  return gone;
}

std::vector<std::string> PickerCluster::Warnings() {
  std::vector<std::string> warnings;
  for (const std::string& event : bed.EventsOf(owner))
    if (event.starts_with("Warning ")) warnings.push_back(event.substr(8));
  return warnings;
}

Json PickerCluster::Why() {
  const auto records = bed.why().Find("replicasets", {"default", "web"});
  return records.empty() ? Json() : api::ObjectAt(*records.back().saw, "picker");
}

std::string PickerCluster::AllOutput() {
  std::string output = bed.control_plane().components().MetricsText();
  for (const controllers::WhyRecord& record : bed.why().Find())
    output += controllers::ToJson(record).dump() + "\n";
  for (const api::ObjectPtr& event : bed.List("events")) output += event->Parse().dump() + "\n";
  return output;
}

}  // namespace terrarium::controllers_testing

#include "tests/controllers/node_lifecycle/node_testing.h"

#include <utility>

#include "api/core_v1/pod.h"
#include "api/json_access.h"
#include "testbed/control_plane/components.h"

namespace terrarium::controllers {

using api::Json;
using api::StringAt;
using testbed::Testbed;

Json PodOn(const std::string& name, const std::string& node) {
  Json pod = {{"metadata", {{"name", name}}},
              {"spec", {{"containers", Json::array({Json{{"name", "main"}, {"image", "app"}}})}}}};
  if (!node.empty()) pod["spec"]["nodeName"] = node;
  return pod;
}

Json NodeOf(Testbed& bed, std::string_view name) {
  auto node = bed.Get("nodes", "", name);
  return node == nullptr ? Json() : node->Parse();
}

Json PodOf(Testbed& bed, std::string_view name) {
  auto pod = bed.Get("pods", "default", name);
  return pod == nullptr ? Json() : pod->Parse();
}

std::string ConditionStatus(const Json& object, std::string_view type) {
  const Json* condition = api::FindCondition(object, type);
  return condition == nullptr ? "" : std::string(StringAt(*condition, "status"));
}

std::set<std::string> TaintsOf(Testbed& bed, std::string_view node) {
  std::set<std::string> taints;
  const Json document = NodeOf(bed, node);
  for (const Json& taint : api::ListAt(document, "spec", "taints"))
    taints.insert(std::string(StringAt(taint, "key")) + ":" + std::string(StringAt(taint, "effect")));
  return taints;
}

std::set<std::string> EventsAbout(Testbed& bed, std::string_view name) {
  std::set<std::string> events;
  for (const api::ObjectPtr& event : bed.List("events")) {
    auto document = event->Document();
    if (StringAt(*document, "involvedObject", "name") != name) continue;
    events.insert(std::string(StringAt(*document, "reason")) + ": " +
                  std::string(StringAt(*document, "message")));
  }
  return events;
}

void FailNode(Testbed& bed, std::string_view name) {
  auto failed = bed.control_plane().components().kubelet()->nodes.Fail(name);
  CHECK(failed.ok());
  CHECK(*failed == api::Change::kChanged);
}

void RecoverNode(Testbed& bed, std::string_view name) {
  auto recovered = bed.control_plane().components().kubelet()->nodes.Recover(name);
  CHECK(recovered.ok());
  CHECK(*recovered == api::Change::kChanged);
}

PodHistory::PodHistory(Testbed& bed, std::string name) : name_(std::move(name)) {
  last_ = bed.Get("pods", "default", name_);
  storage::WatchQuery query;
  query.resource = "pods";
  query.from_revision = bed.control_plane().store().CurrentRevision();
  auto watch = bed.control_plane().store().StartWatch(query);
  CHECK(watch.ok());
  watch_ = std::move(*watch);
}

void PodHistory::Read() {
  std::vector<storage::Event> events;
  CHECK(watch_->Take(100'000, events) == storage::Watch::State::kOpen);
  for (const storage::Event& event : events) {
    if (event.object->header().name != name_) continue;
    last_ = event.object;
    gone_ = event.type == storage::EventType::kDeleted;
    const std::string& phase = api::PodPhase(*event.object);
    if (phases_.empty() || phases_.back() != phase) phases_.push_back(phase);
  }
}

std::vector<std::string> PodHistory::Phases() {
  Read();
  return phases_;
}

bool PodHistory::Gone() {
  Read();
  return gone_;
}

Json PodHistory::Last() {
  Read();
  return last_ == nullptr ? Json() : last_->Parse();
}

}  // namespace terrarium::controllers

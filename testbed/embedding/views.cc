#include "testbed/embedding/views.h"

#include <algorithm>
#include <utility>

#include "api/core_v1/pod.h"
#include "testbed/control_plane/field_path.h"

namespace terrarium::testbed {
namespace {

using api::Json;
using api::StringAt;

const api::ObjectHeader& NoHeader() {
  static const api::ObjectHeader kNone;
  return kNone;
}

ConditionView Read(const Json& condition) {
  return {std::string(StringAt(condition, "type")), std::string(StringAt(condition, "status")),
          std::string(StringAt(condition, "reason")), std::string(StringAt(condition, "message")),
          api::ParseTime(StringAt(condition, "lastTransitionTime"))};
}

}  // namespace

ObjectView::ObjectView(api::ObjectPtr object)
    : object_(std::move(object)),
      header_(object_ == nullptr ? &NoHeader() : &object_->header()),
      document_(object_ == nullptr ? std::make_shared<const Json>(Json::object()) : object_->Document()) {}

std::string ObjectView::controller() const {
  return header_->controller != nullptr ? header_->controller->name : "";
}

std::vector<ConditionView> ObjectView::conditions() const {
  std::vector<ConditionView> out;
  for (const Json& condition : api::ListAt(*document_, "status", "conditions"))
    out.push_back(Read(condition));
  return out;
}

std::optional<ConditionView> ObjectView::condition(std::string_view type) const {
  const Json* found = api::FindCondition(*document_, type);
  return found == nullptr ? std::nullopt : std::optional(Read(*found));
}

bool ObjectView::IsTrue(std::string_view type) const {
  const Json* found = api::FindCondition(*document_, type);
  return found != nullptr && StringAt(*found, "status") == "True";
}

Json ObjectView::field(std::string_view path) const {
  auto parsed = FieldPath::Parse(path);
  const Json* found = parsed ? parsed->Find(*document_) : nullptr;
  return found == nullptr ? Json() : *found;
}

bool DeploymentView::rolled_out() const {
  return exists() && observed_generation() >= generation() && updated_replicas() >= desired_replicas() &&
         replicas() <= updated_replicas() && available_replicas() >= updated_replicas();
}

bool PodView::terminating() const { return deleting() && !api::IsPodPhaseTerminal(phase()); }

std::int64_t PodView::restarts() const {
  std::int64_t sum = 0;
  for (const Json& container : api::ListAt(document(), "status", "containerStatuses"))
    sum += api::IntAt(container, 0, "restartCount");
  return sum;
}

std::string EventView::reporter() const {
  std::string reporter = Text("reportingComponent");
  return reporter.empty() ? Text("source", "component") : reporter;
}

std::int64_t EventView::count() const {
  return std::max({Int("count"), Int("series", "count"), std::int64_t{exists() ? 1 : 0}});
}

bool NodeView::has_taint(std::string_view key) const {
  for (const Json& taint : api::ListAt(document(), "spec", "taints"))
    if (StringAt(taint, "key") == key) return true;
  return false;
}

}  // namespace terrarium::testbed

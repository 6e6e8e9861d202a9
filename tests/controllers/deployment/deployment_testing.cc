#include "tests/controllers/deployment/deployment_testing.h"

#include <algorithm>
#include <utility>

#include "api/base/check.h"
#include "api/core_v1/pod.h"
#include "api/json_access.h"
#include "api/patch/merge_patch.h"
#include "controllers/deployment/internal/annotations.h"
#include "controllers/runtime/owner_references.h"
#include "kubelet-fake/kubelet/pod_rules.h"
#include "testbed/control_plane/control_plane.h"

namespace terrarium::controllers::deployment {

using api::Json;
using api::ObjectPtr;
using api::StringAt;
using testbed::RunOutcome;

namespace {

constexpr std::size_t kAll = 1'000'000;

bool HasEnded(const api::Object& pod) {
  return api::PodPhase(pod) == "Succeeded" || api::PodPhase(pod) == "Failed";
}

Json Annotations(const Json& script) {
  Json annotations = Json::object();
  for (const auto& [key, value] : script.items()) annotations["terrarium.dev/" + key] = value;
  return annotations;
}

Json Containers(const std::string& image) { return Json::array({{{"name", "c"}, {"image", image}}}); }

testbed::TestbedOptions WithGates(testbed::TestbedOptions options, const PolicyCase& policy) {
  options.feature_gates = policy.Gates();
  return options;
}

}  // namespace

std::string PolicyCase::Gates() const {
  std::string gates = "DeploymentReplicaSetTerminatingReplicas=";
  gates.append(terminating_gate ? "true" : "false").append(",DeploymentPodReplacementPolicy=");
  return gates.append(policy_gate ? "true" : "false");
}

std::ostream& operator<<(std::ostream& out, const PolicyCase& policy) { return out << policy.name; }

std::vector<PolicyCase> AllPolicies() {
  return {kNoPolicy,
          kTerminationStarted,
          kTerminationComplete,
          {.name = "PolicyGateOff", .policy = "TerminationComplete", .policy_gate = false},
          {.name = "AllGatesOff",
           .policy = "TerminationStarted",
           .policy_gate = false,
           .terminating_gate = false}};
}

PodPeak::PodPeak(testbed::Testbed& bed) {
  storage::WatchQuery query;
  query.resource = "pods";
  query.from_revision = bed.control_plane().store().CurrentRevision();
  query.buffer_events = kAll;
  auto watch = bed.control_plane().store().StartWatch(query);
  CHECK(watch.ok());
  watch_ = std::move(*watch);
}

void PodPeak::Read() {
  std::vector<storage::Event> events;
  CHECK(watch_->Take(kAll, events) == storage::Watch::State::kOpen);
  for (const storage::Event& event : events) {
    if (event.type == storage::EventType::kDeleted || HasEnded(*event.object))
      pods_.erase(event.object->header().name);
    else
      pods_.insert(event.object->header().name);
    most_ = std::max(most_, pods_.size());
  }
}

std::int64_t PodPeak::Most() {
  Read();
  return static_cast<std::int64_t>(most_);
}

void PodPeak::Restart() {
  Read();
  most_ = pods_.size();
}

WebCluster::WebCluster(const PolicyCase& policy, testbed::TestbedOptions options)
    : policy_(policy), bed_(WithGates(std::move(options), policy)), peak_(bed_) {}

void WebCluster::Create(int replicas, const Json& spec, const Json& script) {
  const Json labels = {{"app", "web"}};
  Json whole = {{"replicas", replicas},
                {"selector", {{"matchLabels", labels}}},
                {"template",
                 {{"metadata", {{"labels", labels}, {"annotations", Annotations(script)}}},
                  {"spec", {{"containers", Containers("web:1")}}}}}};
  if (policy_.policy) whole["podReplacementPolicy"] = *policy_.policy;
  auto merged = api::ApplyMergePatch(std::move(whole), spec.is_null() ? Json::object() : spec);
  CHECK(merged.ok());
  bed_.Must(bed_.Create("deployments", "default", {{"metadata", {{"name", "web"}}}, {"spec", *merged}}));
}

void WebCluster::Patch(const Json& patch) { bed_.Must(bed_.Patch("deployments", {"default", "web"}, patch)); }

void WebCluster::PatchSpec(const Json& spec) { Patch({{"spec", spec}}); }

void WebCluster::SetImage(const std::string& image) {
  PatchSpec({{"template", {{"spec", {{"containers", Containers(image)}}}}}});
}

void WebCluster::SetImage(const std::string& image, const Json& script) {
  Json annotations = Annotations(script);
  const Json document = Document();
  for (const auto& [key, value] :
       api::ObjectAt(document, "spec", "template", "metadata", "annotations").items())
    if (!annotations.contains(key)) annotations[key] = nullptr;
  PatchSpec(
      {{"template",
        {{"metadata", {{"annotations", annotations}}}, {"spec", {{"containers", Containers(image)}}}}}});
}

void WebCluster::ScaleTo(int replicas) { PatchSpec({{"replicas", replicas}}); }

void WebCluster::Settle() { bed_.clock().Settle(); }
void WebCluster::Advance(api::Duration duration) { bed_.clock().Advance(duration); }

void WebCluster::RunToTheEnd(api::Duration limit) {
  EXPECT_EQ(bed_.clock().RunUntilIdle(limit).why, RunOutcome::Why::kIdle);
}

void WebCluster::Release(const std::string& pod, const std::string& point) {
  Json order = {{"namespace", "default"}, {"pod", pod}};
  if (!point.empty()) order["point"] = point;
  auto released = bed_.rules().Release(order);
  CHECK(released.ok() || released.status().code == 409);  // no hold is left
}

void WebCluster::ReleaseTerminating(int keep) {
  for (const ObjectPtr& pod : bed_.List("pods", "default"))
    if (pod->header().deleting && keep-- <= 0) Release(pod->header().name);
}

Json WebCluster::Document() { return bed_.Get("deployments", "default", "web")->Parse(); }
Json WebCluster::Status() { return api::ObjectAt(Document(), "status"); }
std::int64_t WebCluster::Counter(std::string_view key) { return api::IntAt(Status(), 0, key); }

std::vector<std::string> WebCluster::Conditions() {
  std::vector<std::string> conditions;
  const Json status = Status();
  for (const Json& c : api::ListAt(status, "conditions"))
    conditions.push_back(std::string(StringAt(c, "type")) + "=" + std::string(StringAt(c, "status")) + " " +
                         std::string(StringAt(c, "reason")));
  return conditions;
}

std::string WebCluster::Condition(std::string_view type) {
  for (const std::string& condition : Conditions())
    if (condition.starts_with(std::string(type) + "=")) return condition.substr(type.size() + 1);
  return "none";
}

std::string WebCluster::ConditionMessage(std::string_view type) {
  const Json document = Document();
  const Json* condition = api::FindCondition(document, type);
  return condition == nullptr ? "none" : std::string(StringAt(*condition, "message"));
}

std::vector<Json> WebCluster::Sets() {
  std::vector<Json> sets;
  for (const ObjectPtr& set : bed_.List("replicasets", "default")) sets.push_back(set->Parse());
  std::sort(sets.begin(), sets.end(), [this](const Json& a, const Json& b) {
    return std::stoi(Annotation(a, kRevision)) < std::stoi(Annotation(b, kRevision));
  });
  return sets;
}

std::string WebCluster::Sizes() {
  std::string sizes;
  for (const Json& set : Sets())
    sizes += (sizes.empty() ? "" : " ") + std::to_string(api::IntAt(set, 0, "spec", "replicas"));
  return sizes;
}

std::string WebCluster::Annotation(const Json& object, std::string_view key) {
  return std::string(StringAt(object, "metadata", "annotations", key));
}

std::int64_t WebCluster::LivePods() {
  auto pods = bed_.List("pods", "default");
  return std::count_if(pods.begin(), pods.end(),
                       [](const ObjectPtr& pod) { return !HasEnded(*pod) && !pod->header().deleting; });
}

std::int64_t WebCluster::Terminating() {
  auto pods = bed_.List("pods", "default");
  return std::count_if(pods.begin(), pods.end(),
                       [](const ObjectPtr& pod) { return !HasEnded(*pod) && pod->header().deleting; });
}

std::int64_t WebCluster::Pods() { return LivePods() + Terminating(); }

std::int64_t WebCluster::PodsOf(const Json& set, bool terminating) {
  auto pods = bed_.List("pods", "default");
  return std::count_if(pods.begin(), pods.end(), [&](const ObjectPtr& pod) {
    auto controller = ControllerOf(*pod->Document());
    return !HasEnded(*pod) && pod->header().deleting == terminating && controller &&
           controller->uid == StringAt(set, "metadata", "uid");
  });
}

std::multiset<std::string> WebCluster::Events(std::string_view reason) {
  std::multiset<std::string> messages;
  for (const ObjectPtr& event : bed_.List("events", "default")) {
    auto document = event->Document();
    if (StringAt(*document, "reason") != reason ||
        StringAt(*document, "involvedObject", "kind") != "Deployment")
      continue;
    for (std::int64_t i = 0; i < std::max<std::int64_t>(api::IntAt(*document, 1, "count"), 1); ++i)
      messages.insert(std::string(StringAt(*document, "message")));
  }
  return messages;
}

std::vector<WhyRecord> WebCluster::Why() { return bed_.why().Find("deployments", {"default", "web"}); }

}  // namespace terrarium::controllers::deployment

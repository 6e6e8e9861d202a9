#include "tests/scenarios/random_rollout.h"

#include <chrono>
#include <set>

#include "api/base/clock.h"
#include "api/json_access.h"
#include "kubelet-fake/kubelet/pod_rules.h"
#include "kubelet-fake/nodes/node_agent.h"

namespace terrarium::scenarios {

using api::IntAt;
using api::Json;
using api::ObjectPtr;
using api::StringAt;
using namespace std::chrono_literals;

namespace {

constexpr int kNodes = 2;
constexpr const char* kPrefix = "deployment.kubernetes.io/";

bool IsOf(const ObjectPtr& object, const std::string& app) {
  const std::string* label = api::FindLabel(object->header(), "app");
  return label != nullptr && *label == app;
}

}  // namespace

RandomRollout::RandomRollout(std::uint64_t seed)
    : chance_(seed),
      bed_({.seed = seed,
            .feature_gates = "DeploymentPodReplacementPolicy=true",
            .nodes = kNodes,
            .on_violation = [this](const auto& violation) {
              if (broken_.empty()) broken_ = violation.String();
            }}) {
  CreateDeployments();
}

void RandomRollout::CreateDeployments() {
  const int count = 1 + Below(2);
  for (int i = 0; i < count; ++i) {
    const std::string name = "web-" + std::to_string(i);
    Json spec = {{"replicas", Below(7)},
                 {"selector", {{"matchLabels", {{"app", name}}}}},
                 {"strategy", Strategy()},
                 {"template", Template(name, Below(3) > 0)},
                 {"minReadySeconds", OneOf({0, 0, 3, 10})},
                 {"progressDeadlineSeconds", OneOf({30, 600})},
                 {"revisionHistoryLimit", OneOf({0, 1, 10})}};
    if (const Json policy =
            OneOf<Json>({nullptr, "TerminationStarted", "TerminationComplete", "TerminationComplete"});
        !policy.is_null())
      spec["podReplacementPolicy"] = policy;
    Note("create " + name + " " + spec.dump());
    bed_.Must(bed_.Create("deployments", "default", {{"metadata", {{"name", name}}}, {"spec", spec}}));
    names_.push_back(name);
  }
  const Json budget = {{"maxUnavailable", 1}, {"selector", {{"matchLabels", {{"app", names_[0]}}}}}};
  bed_.Must(
      bed_.Create("poddisruptionbudgets", "default", {{"metadata", {{"name", "budget"}}}, {"spec", budget}}));
}

Json RandomRollout::Strategy() {
  if (Below(4) == 0) return {{"type", "Recreate"}, {"rollingUpdate", nullptr}};
  const Json rolling = OneOf<Json>({{{"maxSurge", "25%"}, {"maxUnavailable", "25%"}},
                                    {{"maxSurge", 1}, {"maxUnavailable", 0}},
                                    {{"maxSurge", 0}, {"maxUnavailable", 1}},
                                    {{"maxSurge", "100%"}, {"maxUnavailable", 0}},
                                    {{"maxSurge", 2}, {"maxUnavailable", 2}}});
  return {{"type", "RollingUpdate"}, {"rollingUpdate", rolling}};
}

// Another template each time, sometimes an earlier one.
Json RandomRollout::Template(const std::string& app, bool healthy) {
  const int number = healthy || Below(4) > 0 ? ++templates_ : Below(templates_ + 1);
  Json script = {{"terrarium.dev/start-delay", OneOf({"0s", "1s", "8s"})},
                 {"terrarium.dev/ready-delay", OneOf({"0s", "2s", "12s"})},
                 {"terrarium.dev/stop-after", OneOf({"0s", "5s", "25s", "2m"})},
                 {"terrarium.dev/stop-exit-code", OneOf({"0", "1"})}};
  if (!healthy) {
    const char* illness = OneOf({"never-ready", "exit-code", "run-for", "ignore-sigterm"});
    script[std::string("terrarium.dev/") + illness] = illness == std::string("exit-code") ? "1"
                                                      : illness == std::string("run-for") ? "20s"
                                                                                          : "true";
  }
  return {{"metadata", {{"labels", {{"app", app}}}, {"annotations", script}}},
          {"spec",
           {{"containers", {{{"name", "c"}, {"image", "i:" + std::to_string(number)}}}},
            {"terminationGracePeriodSeconds", OneOf({0, 10, 60})}}}};
}

void RandomRollout::Live(int steps) {
  for (int i = 0; i < steps && broken_.empty(); ++i) {
    Step();
    Pass(OneOf<api::Duration>({0s, 10ms, 1s, 3s, 10s, 45s}));
  }
}

void RandomRollout::Step() {
  switch (Below(17)) {
    case 0:
    case 1:
    case 2:
    case 3: return PatchOne("scale", {{"replicas", Below(7)}});
    case 4:
    case 5: return PatchOne("template", nullptr);
    case 6: return UndoOne();
    case 7: return PatchOne("pause", {{"paused", true}});
    case 8:
    case 9: return PatchOne("resume", {{"paused", false}});
    case 10: return PatchOne("strategy", {{"strategy", Strategy()}});
    case 11: return Trouble("evict");
    case 12: return Trouble("delete");
    case 13: return Trouble(OneOf({"fail", "crash"}));
    case 14: return FailOrRecoverNode();
    case 15: return PatchOne("minReadySeconds", {{"minReadySeconds", Below(3) * 5}});
    default:
      return PatchOne("policy", {{"podReplacementPolicy",
                                  OneOf<Json>({nullptr, "TerminationStarted", "TerminationComplete"})}});
  }
}

void RandomRollout::PatchOne(const std::string& what, const Json& spec) {
  const std::string name = names_[static_cast<std::size_t>(Below(static_cast<int>(names_.size())))];
  Patch(name, what, spec.is_null() ? Json{{"template", Template(name, Below(2) == 0)}} : spec);
}

void RandomRollout::Patch(const std::string& name, const std::string& what, const Json& spec) {
  Note(what + " " + name + " " + spec.dump());
  bed_.Must(bed_.Patch("deployments", {"default", name}, {{"spec", spec}}));
}

// A rollback as an older client requests it. A paused Deployment keeps the request until it is resumed.
void RandomRollout::UndoOne() {
  const std::string name = names_[static_cast<std::size_t>(Below(static_cast<int>(names_.size())))];
  Note("undo " + name);
  const Json annotations = {{"deprecated.deployment.rollback.to", "0"}};
  bed_.Must(bed_.Patch("deployments", {"default", name}, {{"metadata", {{"annotations", annotations}}}}));
}

void RandomRollout::Trouble(const std::string& what) {
  const std::vector<ObjectPtr> pods = bed_.List("pods", "default");
  if (pods.empty()) return;
  const std::string pod = pods[static_cast<std::size_t>(Below(static_cast<int>(pods.size())))]->header().name;
  Note(what + " " + pod);
  const Json order = {{"namespace", "default"}, {"pod", pod}};
  // Any of these may be refused: a budget is used up, the pod has ended, or it has no node yet.
  bool done = false;
  if (what == "delete") {
    api::DeleteRequest how;
    if (Below(6) == 0) how.grace_period_seconds = 0;
    done = bed_.Delete("pods", {"default", pod}, how).ok();
  } else if (what == "evict") {
    done = bed_.Evict({"default", pod}).ok();
  } else {
    done = (what == "fail" ? bed_.rules().Fail(order) : bed_.rules().Crash(order)).ok();
  }
  if (!done) Note("refused");
}

void RandomRollout::FailOrRecoverNode() {
  const std::set<std::string> failed = bed_.nodes().FailedNodes();
  const std::string node = failed.empty() ? "node-" + std::to_string(Below(kNodes)) : *failed.begin();
  Note((failed.empty() ? "fail " : "recover ") + node);
  const bool done = (failed.empty() ? bed_.nodes().Fail(node) : bed_.nodes().Recover(node)).ok();
  if (!done) Note("refused");
  // Pods are evicted from a node that fails for more than five minutes.
  if (failed.empty()) Pass(OneOf<api::Duration>({5s, 70s, 70s, 7min}));
}

void RandomRollout::LeaveAlone() {
  while (!bed_.nodes().FailedNodes().empty()) FailOrRecoverNode();
  for (const std::string& name : names_) {
    Json spec = {{"paused", false}, {"template", Template(name, true)}};
    for (const char* illness : {"never-ready", "exit-code", "run-for", "ignore-sigterm"})
      spec["template"]["metadata"]["annotations"][std::string("terrarium.dev/") + illness] = nullptr;
    Note("go on " + name + " " + spec.dump());
    // No rollback request is left either: it might lead back to a template that does not work.
    const Json annotations = {{"deprecated.deployment.rollback.to", nullptr}};
    bed_.Must(bed_.Patch("deployments", {"default", name},
                         {{"metadata", {{"annotations", annotations}}}, {"spec", spec}}));
  }
  Note("leave alone");
  const auto outcome = bed_.clock().RunUntilIdle(6h);
  if (outcome.why != testbed::RunOutcome::Why::kIdle) story_ += "IT DOES NOT COME TO REST\n";
}

void RandomRollout::Pass(api::Duration time) {
  if (broken_.empty()) bed_.clock().Advance(time);
}

void RandomRollout::Note(const std::string& what) {
  story_ += api::FormatMicroTime(bed_.Now()) + " " + what + "\n";
}

std::string RandomRollout::Faults() {
  std::string faults;
  for (const std::string& name : names_) faults += FaultsOf(name);
  return faults;
}

std::string RandomRollout::FaultsOf(const std::string& name) {
  const Json deployment = bed_.Get("deployments", "default", name)->Parse();
  const std::string faults = FaultsOfStatus(deployment) + FaultsOfSets(deployment);
  return faults.empty() ? "" : name + ": " + faults + deployment["status"].dump() + "\n";
}

std::string RandomRollout::FaultsOfStatus(const Json& deployment) {
  const std::int64_t replicas = IntAt(deployment, -1, "spec", "replicas");
  std::string faults;
  for (const char* counter : {"replicas", "updatedReplicas", "readyReplicas", "availableReplicas"})
    if (IntAt(deployment, 0, "status", counter) != replicas) faults += std::string(counter) + " is wrong, ";
  if (IntAt(deployment, -1, "status", "terminatingReplicas") != 0) faults += "terminatingReplicas is not 0, ";
  if (IntAt(deployment, 0, "status", "unavailableReplicas") != 0) faults += "unavailableReplicas is not 0, ";
  if (IntAt(deployment, 0, "status", "observedGeneration") != IntAt(deployment, -1, "metadata", "generation"))
    faults += "observedGeneration is old, ";
  for (const Json& condition : api::ListAt(deployment, "status", "conditions")) {
    const std::string_view type = StringAt(condition, "type");
    if (type == "ReplicaFailure" || StringAt(condition, "status") != "True")
      faults += "condition " + std::string(type) + ", ";
    if (type == "Progressing" && StringAt(condition, "reason") != "NewReplicaSetAvailable")
      faults += "not complete, ";
  }
  return faults;
}

std::string RandomRollout::FaultsOfSets(const Json& deployment) {
  const std::string name(StringAt(deployment, "metadata", "name"));
  const std::int64_t replicas = IntAt(deployment, -1, "spec", "replicas");
  const std::string image(StringAt(deployment["spec"]["template"]["spec"]["containers"][0], "image"));
  std::string faults;
  std::int64_t pods = 0, old_sets = 0;
  for (const ObjectPtr& pod : bed_.List("pods", "default")) {
    if (!IsOf(pod, name)) continue;
    const Json document = pod->Parse();
    if (StringAt(document, "status", "phase") != "Running") continue;  // ended pods of failed nodes may stay
    ++pods;
    if (StringAt(document["spec"]["containers"][0], "image") != image) faults += "a pod of an old template, ";
  }
  if (pods != replicas) faults += std::to_string(pods) + " pods, ";
  for (const ObjectPtr& set : bed_.List("replicasets", "default")) {
    if (!IsOf(set, name)) continue;
    const Json document = set->Parse();
    const bool current = StringAt(document["spec"]["template"]["spec"]["containers"][0], "image") == image;
    old_sets += current ? 0 : 1;
    if (IntAt(document, 0, "spec", "replicas") != (current ? replicas : 0))
      faults += "a ReplicaSet of the wrong size, ";
    if (api::Find(document, "metadata", "annotations",
                  std::string(kPrefix) + "replicaset-replicas-before-scale"))
      faults += "a partial scale is left, ";
  }
  if (old_sets > IntAt(deployment, 0, "spec", "revisionHistoryLimit")) faults += "too much history, ";
  return faults;
}

}  // namespace terrarium::scenarios

// What the control API can do to pods and nodes.

#include <utility>

#include "api/base/errors.h"
#include "api/codec/yaml.h"
#include "kubelet-fake/kubelet/pod_rules.h"
#include "kubelet-fake/kubelet/rule_book.h"
#include "kubelet-fake/nodes/node_agent.h"
#include "testbed/control_plane/components.h"
#include "testbed/scenario/run.h"
#include "testbed/scenario/shapes.h"
#include "testbed/scenario/target.h"

namespace terrarium::testbed::scenario {
namespace {

using kubelet_fake::NodeAgent;
using kubelet_fake::PodRules;

constexpr const char* kHold = "hold";
constexpr const char* kRelease = "release";
constexpr const char* kFail = "fail";
constexpr const char* kCrash = "crash";
constexpr const char* kNodePressure = "evictByNode";
constexpr const char* kFailNode = "failNode";
constexpr const char* kRecoverNode = "recoverNode";

api::Status NoKubelet() {
  api::Status status = api::BadRequest("no kubelet runs");
  status.code = 409;
  status.reason = api::reason::kConflict;
  return status;
}

// The other members of the step, as members of the control API's request.
Json OrderOf(const Json& step) {
  Json order = Json::object();
  if (step.contains("at")) order["point"] = step["at"];
  if (step.contains("outcome")) order["outcome"] = step["outcome"];
  for (const char* key : {"container", "exitCode", "reason", "message"})
    if (step.contains(key)) order[key] = step[key];
  return order;
}

template <const char* const& verb>
void CheckPods(const StepDraft& step, Mistakes& mistakes) {
  CheckTarget(step.document, verb, step.path, "pods", mistakes);
}

// Gives an order to the named pod or to each of those selected.
template <const char* const& verb, api::Result<Json> (PodRules::*order)(const Json&)>
StepOutcome Order(Run& run, const Json& step) {
  auto kubelet = run.bed().control_plane().components().kubelet();
  if (!kubelet) return StepOutcome::Refused(NoKubelet());
  ObjectTarget target = ObjectTarget::Of(step, verb);
  std::vector<std::string> names;
  if (!target.name().empty())
    names.push_back(target.name());
  else
    for (const api::ObjectPtr& pod : target.Select(run.bed())) names.push_back(pod->header().name);
  if (names.empty()) return StepOutcome::Failed("there are no " + target.String());
  Json request = OrderOf(step);
  request["namespace"] = target.ns();
  for (const std::string& name : names) {
    request["pod"] = name;
    if (auto done = (kubelet->pods.*order)(request); !done) return StepOutcome::Refused(done.status());
  }
  return StepOutcome::Fine();
}

const Shape& Point() {
  static const Shape shape{
      .type = Shape::Type::kText, .is = "where to hold", .words = {"ready", "terminating"}};
  return shape;
}

const Shape& ExitCode() {
  static const Shape shape{.type = Shape::Type::kInteger, .is = "an exit code", .least = 0};
  return shape;
}

const Members& HoldKeys() {
  static const Members members{{"at", Point(), "before they become ready, or while they terminate", true}};
  return members;
}

const Members& ReleaseKeys() {
  static const Shape outcome{.type = Shape::Type::kFields,
                             .is = "outcome",
                             .members = {{"exitCode", ExitCode(), "with which the containers end", true}}};
  static const Members members{
      {"at", Point(), "which hold ends; all of them by default"},
      {"outcome", outcome, "how the pods end"},
  };
  return members;
}

const Members& FailKeys() {
  static const Members members{
      {"exitCode", ExitCode(), "of the containers; 1 by default"},
      {"reason", AnyText(), "the pod's status.reason"},
      {"message", AnyText(), "the pod's status.message"},
  };
  return members;
}

const Members& CrashKeys() {
  static const Members members{
      {"container", AnyText(), "which container; all regular ones by default"},
      {"exitCode", ExitCode(), "1 by default"},
      {"reason", AnyText(), "of the container's end"},
  };
  return members;
}

const Members& PressureKeys() {
  static const Members members{{"message", AnyText(), "the pod's status.message"}};
  return members;
}

const Shape& Rule() {
  static const Shape shape{.type = Shape::Type::kFields,
                           .is = "pod rule",
                           .wrong = [](const Json& value) -> std::string {
                             auto rule = kubelet_fake::PodRule::Parse(value);
                             return rule ? "" : rule.status().message;
                           },
                           .members = {{"name", AnyText(), "by which it is removed", true},
                                       {"namespace", AnyText(), "all namespaces by default"},
                                       {"selector", SelectorText(), "labels of the pods"},
                                       {"script", ScriptKeys(), "how the pods behave", true}}};
  return shape;
}

StepOutcome AddRule(Run& run, const Json& step) {
  auto kubelet = run.bed().control_plane().components().kubelet();
  if (!kubelet) return StepOutcome::Refused(NoKubelet());
  auto done = kubelet->pods.Add(step["addPodRule"]);
  return done ? StepOutcome::Fine() : StepOutcome::Refused(done.status());
}

StepOutcome RemoveRule(Run& run, const Json& step) {
  auto kubelet = run.bed().control_plane().components().kubelet();
  if (!kubelet) return StepOutcome::Refused(NoKubelet());
  auto done = kubelet->pods.Remove(step["removePodRule"].get<std::string>());
  return done ? StepOutcome::Fine() : StepOutcome::Refused(done.status());
}

template <const char* const& verb, api::Result<api::Change> (NodeAgent::*order)(std::string_view)>
StepOutcome OrderNode(Run& run, const Json& step) {
  auto kubelet = run.bed().control_plane().components().kubelet();
  if (!kubelet) return StepOutcome::Refused(NoKubelet());
  auto done = (kubelet->nodes.*order)(step[verb].get<std::string>());
  return done ? StepOutcome::Fine() : StepOutcome::Refused(done.status());
}

}  // namespace

std::span<const StepDef> PodSteps() {
  static const std::vector<StepDef> steps{
      {kHold,
       "hold pods at a point of their life until they are released",
       Target(),
       {&ActingMembers(), &HoldKeys()},
       CheckPods<kHold>,
       Order<kHold, &PodRules::Hold>,
       true},
      {kRelease,
       "release held pods",
       Target(),
       {&ActingMembers(), &ReleaseKeys()},
       CheckPods<kRelease>,
       Order<kRelease, &PodRules::Release>,
       true},
      {kFail,
       "end pods now, phase Failed, whatever their restart policy",
       Target(),
       {&ActingMembers(), &FailKeys()},
       CheckPods<kFail>,
       Order<kFail, &PodRules::Fail>,
       true},
      {kCrash,
       "end containers of pods now; the restart policy applies",
       Target(),
       {&ActingMembers(), &CrashKeys()},
       CheckPods<kCrash>,
       Order<kCrash, &PodRules::Crash>,
       true},
      {kNodePressure,
       "evict pods as a node under pressure does, ignoring disruption budgets",
       Target(),
       {&ActingMembers(), &PressureKeys()},
       CheckPods<kNodePressure>,
       Order<kNodePressure, &PodRules::Evict>,
       true},
      {"addPodRule",
       "set the behaviour of the pods that a selector matches, existing and future ones",
       Rule(),
       {},
       nullptr,
       AddRule,
       true},
      {"removePodRule",
       "remove a rule by its name; pods that it alone held continue",
       AnyText(),
       {},
       nullptr,
       RemoveRule,
       true},
  };
  return steps;
}

std::span<const StepDef> NodeSteps() {
  static const std::vector<StepDef> steps{
      {kFailNode,
       "make a node fail: it stops reporting, and so do its pods",
       AnyText(),
       {},
       nullptr,
       OrderNode<kFailNode, &NodeAgent::Fail>,
       true},
      {kRecoverNode,
       "let a failed node recover",
       AnyText(),
       {},
       nullptr,
       OrderNode<kRecoverNode, &NodeAgent::Recover>,
       true},
  };
  return steps;
}

}  // namespace terrarium::testbed::scenario

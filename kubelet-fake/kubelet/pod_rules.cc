#include "kubelet-fake/kubelet/pod_rules.h"

#include <algorithm>
#include <initializer_list>
#include <utility>

#include "api/base/errors.h"
#include "api/core_v1/pod.h"
#include "api/json_access.h"

namespace terrarium::kubelet_fake {
namespace {

using api::BadRequest;
using api::Find;
using api::HoldPoints;
using api::Json;
using api::ObjectPtr;
using api::Result;
using api::Status;
using api::StringAt;

// Every pod is compared with every rule.
constexpr std::size_t kRulesMax = 1000;
constexpr std::string_view kLowOnMemory = "The node was low on resource: memory. ";
constexpr std::string_view kEverything = "ready,terminating";

// Refuses members that are not listed: a silently ignored one makes a lying test.
std::optional<Status> OtherThan(std::initializer_list<std::string_view> known, const Json& request) {
  if (!request.is_object()) return BadRequest("the request must be an object");
  for (const auto& [key, value] : request.items()) {
    const bool is_known = std::find(known.begin(), known.end(), key) != known.end();
    if (!is_known) return BadRequest("unknown field " + api::Quote(key));
  }
  for (const char* text : {"rule", "namespace", "pod", "point", "container", "reason", "message"}) {
    const Json* value = Find(request, text);
    if (value != nullptr && !value->is_string()) return BadRequest(std::string(text) + " must be a string");
  }
  return std::nullopt;
}

Result<std::optional<int>> ExitCodeOf(const Json& holder) {
  const Json* code = Find(holder, "exitCode");
  if (code == nullptr) return std::optional<int>();
  if (!code->is_number_integer() || *code < 0 || *code > 255) {
    return BadRequest("exitCode must be an integer between 0 and 255, inclusive");
  }
  return std::optional<int>(code->get<int>());
}

Result<HoldPoints> PointOf(const Json& request, std::string_view otherwise) {
  const std::string_view text = Find(request, "point") != nullptr ? StringAt(request, "point") : otherwise;
  const std::optional<HoldPoints> points = text == "none" ? std::nullopt : api::ParseHoldPoints(text);
  if (!points) return BadRequest("point must be ready or terminating");
  return *points;
}

Json Points(HoldPoints points) {
  Json out = Json::array();
  if (points.ready) out.push_back("ready");
  if (points.terminating) out.push_back("terminating");
  return out;
}

Json PodEntry(const ObjectPtr& pod) { return {{"namespace", pod->header().ns}, {"pod", pod->header().name}}; }

Status NoSuchRule(std::string_view name) { return api::NotFound({"terrarium.dev", "podrules"}, name); }

Status CannotFollow(const ObjectPtr& pod, std::string_view why) {
  return api::Conflict({"", "pods"}, pod->header().name,
                       api::PodNodeName(*pod).empty() ? "the pod has no node yet" : why);
}

}  // namespace

Result<Json> PodRules::List() const {
  Json rules = Json::array();
  for (const PodRule& rule : book_.rules()) rules.push_back(rule.document);
  Json held = Json::array();
  for (const ObjectPtr& pod : pods_.AllPods()) {
    const HoldPoints points = pods_.HeldAt(pod->name());
    if (points == HoldPoints{}) continue;
    Json entry = PodEntry(pod);
    entry["points"] = Points(points);
    held.push_back(std::move(entry));
  }
  return Json{{"rules", std::move(rules)}, {"held", std::move(held)}};
}

Result<Json> PodRules::Add(const Json& document) {
  Result<PodRule> rule = PodRule::Parse(document);
  if (!rule) return rule.status();
  if (book_.Find(rule->name) != nullptr) return api::AlreadyExists({"terrarium.dev", "podrules"}, rule->name);
  if (book_.rules().size() >= kRulesMax)
    return BadRequest("there can be at most " + std::to_string(kRulesMax) + " rules: remove some first");
  book_.Add(std::move(*rule));
  pods_.RedirectAll();
  return document;
}

Result<Json> PodRules::Remove(const std::string& name) {
  const PodRule* rule = book_.Find(name);
  if (rule == nullptr) return NoSuchRule(name);
  Json document = rule->document;
  book_.Remove(name);
  pods_.RedirectAll();
  return document;
}

Result<ObjectPtr> PodRules::PodOf(const Json& request) const {
  if (StringAt(request, "pod").empty() || StringAt(request, "namespace").empty()) {
    return BadRequest("namespace and pod must be given");
  }
  const api::ObjectName name{std::string(StringAt(request, "namespace")),
                             std::string(StringAt(request, "pod"))};
  ObjectPtr pod = pods_.FindPod(name);
  if (pod == nullptr) return api::NotFound({"", "pods"}, name.name);
  return pod;
}

Result<Json> PodRules::Hold(const Json& request) {
  if (auto error = OtherThan({"rule", "namespace", "pod", "point"}, request)) return *error;
  const Result<HoldPoints> points = PointOf(request, "");
  if (!points) return points.status();
  if (Find(request, "rule") != nullptr) {
    const std::string name(StringAt(request, "rule"));
    if (book_.Find(name) == nullptr) return NoSuchRule(name);
    book_.HoldRule(name, *points);
    pods_.RedirectAll();
    return book_.Find(name)->document;
  }
  const Result<ObjectPtr> pod = PodOf(request);
  if (!pod) return pod.status();
  book_.HoldPod((*pod)->header().uid, *points);
  pods_.Redirect((*pod)->name());
  Json answer = PodEntry(*pod);
  answer["points"] = Points(pods_.HeldAt((*pod)->name()));
  return answer;
}

Result<std::vector<ObjectPtr>> PodRules::TargetsOf(const Json& request) const {
  if (Find(request, "rule") == nullptr) {
    Result<ObjectPtr> pod = PodOf(request);
    if (!pod) return pod.status();
    return std::vector<ObjectPtr>{std::move(*pod)};
  }
  const PodRule* rule = book_.Find(StringAt(request, "rule"));
  if (rule == nullptr) return NoSuchRule(StringAt(request, "rule"));
  std::vector<ObjectPtr> out = pods_.AllPods();
  std::erase_if(out, [&](const ObjectPtr& pod) { return !rule->Matches(pod->header()); });
  return out;
}

Result<Json> PodRules::Release(const Json& request) {
  if (auto error = OtherThan({"rule", "namespace", "pod", "point", "outcome"}, request)) return *error;
  const Result<HoldPoints> points = PointOf(request, kEverything);
  if (!points) return points.status();
  const Json& outcome = api::ObjectAt(request, "outcome");
  if (Find(request, "outcome") != nullptr) {
    if (auto error = OtherThan({"exitCode"}, *Find(request, "outcome"))) return *error;
  }
  const Result<std::optional<int>> code = ExitCodeOf(outcome);
  if (!code) return code.status();
  const Result<std::vector<ObjectPtr>> targets = TargetsOf(request);
  if (!targets) return targets.status();
  Json released = Json::array();
  for (const ObjectPtr& pod : *targets) {
    const api::ObjectName name = pod->name();
    const HoldPoints held = pods_.HeldAt(name);
    const HoldPoints leaves{held.ready && points->ready, held.terminating && points->terminating};
    if (leaves == HoldPoints{}) continue;
    book_.ReleasePod(pod->header().uid, leaves, *code);
    if (leaves.ready && *code) pods_.Crash(name, {.container = "", .exit_code = **code, .reason = ""});
    pods_.Redirect(name);
    Json entry = PodEntry(pod);
    entry["points"] = Points(leaves);
    released.push_back(std::move(entry));
  }
  if (released.empty() && Find(request, "rule") == nullptr)
    return CannotFollow((*targets)[0], "the pod is not held");
  return Json{{"released", std::move(released)}};
}

Result<Json> PodRules::Fail(const Json& request) {
  if (auto error = OtherThan({"namespace", "pod", "exitCode", "reason", "message"}, request)) return *error;
  const Result<std::optional<int>> code = ExitCodeOf(request);
  if (!code) return code.status();
  if (code->value_or(1) == 0) return BadRequest("exitCode must not be 0: the pod is to fail");
  const Result<ObjectPtr> pod = PodOf(request);
  if (!pod) return pod.status();
  const PodHost::FailOrder order{.exit_code = code->value_or(1),
                                 .reason = std::string(StringAt(request, "reason")),
                                 .message = std::string(StringAt(request, "message"))};
  if (!pods_.Fail((*pod)->name(), order)) return CannotFollow(*pod, "the pod has ended already");
  return PodEntry(*pod);
}

Result<Json> PodRules::Crash(const Json& request) {
  if (auto error = OtherThan({"namespace", "pod", "container", "exitCode", "reason"}, request)) return *error;
  const Result<std::optional<int>> code = ExitCodeOf(request);
  if (!code) return code.status();
  const Result<ObjectPtr> pod = PodOf(request);
  if (!pod) return pod.status();
  const PodHost::CrashOrder order{.container = std::string(StringAt(request, "container")),
                                  .exit_code = code->value_or(1),
                                  .reason = std::string(StringAt(request, "reason"))};
  if (!pods_.Crash((*pod)->name(), order)) return CannotFollow(*pod, "no such container is running");
  return PodEntry(*pod);
}

Result<Json> PodRules::Evict(const Json& request) {
  if (auto error = OtherThan({"namespace", "pod", "message"}, request)) return *error;
  const Result<ObjectPtr> pod = PodOf(request);
  if (!pod) return pod.status();
  const std::string message(Find(request, "message") != nullptr ? StringAt(request, "message")
                                                                : kLowOnMemory);
  if (!pods_.Evict((*pod)->name(), message)) return CannotFollow(*pod, "the pod has ended already");
  return PodEntry(*pod);
}

}  // namespace terrarium::kubelet_fake

#include "kubelet-fake/scheduler/internal/pod_writer.h"

#include <utility>

#include "api/base/clock.h"
#include "api/json_access.h"
#include "api/write_request.h"

namespace terrarium::kubelet_fake::scheduling {
namespace {

using api::Json;
using api::StringAt;

// Longer notes of events are refused.
constexpr std::size_t kNoteBytesMax = 1024;

std::string Shortened(std::string message) {
  constexpr std::string_view kMore = " ...";
  if (message.size() > kNoteBytesMax) message.replace(kNoteBytesMax - kMore.size(), std::string::npos, kMore);
  return message;
}

const Json& ScheduledCondition(const Json& pod) {
  for (const Json& condition : api::ListAt(pod, "status", "conditions")) {
    if (StringAt(condition, "type") == "PodScheduled") return condition;
  }
  return api::EmptyObject();
}

// nullopt: the pod has it.
std::optional<Json> UnscheduledCondition(const Json& pod, std::string_view reason, const std::string& message,
                                         api::Time now) {
  const Json& old = ScheduledCondition(pod);
  const bool was_false = StringAt(old, "status") == "False";
  if (was_false && StringAt(old, "reason") == reason && StringAt(old, "message") == message)
    return std::nullopt;
  Json condition = {{"type", "PodScheduled"},
                    {"status", "False"},
                    {"reason", reason},
                    {"message", message},
                    {"lastProbeTime", nullptr}};
  if (!was_false) condition["lastTransitionTime"] = api::FormatTime(now);
  if (const Json* generation = api::Find(pod, "metadata", "generation")) {
    condition["observedGeneration"] = *generation;
  }
  return condition;
}

api::Client::WriteDone ToWriteDone(PodWriter::Done done) {
  return [done = std::move(done)](const api::Client::Written& written) {
    done(written ? std::nullopt : std::optional(written.status()));
  };
}

}  // namespace

void PodWriter::Bind(const api::Object& pod, const std::string& node, Done done) {
  const api::ObjectHeader& header = pod.header();
  Json binding = {{"metadata", {{"name", header.name}, {"namespace", header.ns}, {"uid", header.uid}}},
                  {"target", {{"kind", "Node"}, {"name", node}}}};
  client_.Send({.verb = api::WriteRequest::Verb::kCreate,
                .resource = "pods",
                .object = pod.name(),
                .subresource = "binding",
                .body = std::move(binding)},
               ToWriteDone(std::move(done)));
}

bool PodWriter::ReportUnscheduled(const api::Object& pod, std::string_view reason, const std::string& message,
                                  const std::optional<std::string>& nomination, Done done) {
  const auto document = pod.Document();
  Json patch;
  if (auto condition = UnscheduledCondition(*document, reason, message, env_.clock.Now())) {
    patch["status"]["conditions"] = Json::array({std::move(*condition)});
  }
  if (nomination && *nomination != StringAt(*document, "status", "nominatedNodeName")) {
    patch["status"]["nominatedNodeName"] = nomination->empty() ? Json() : Json(*nomination);
  }
  if (patch.is_null()) return false;
  client_.Send(api::RequestToPatch("pods", pod.name(), std::move(patch), "status"),
               ToWriteDone(std::move(done)));
  return true;
}

void PodWriter::SetNomination(const api::Object& pod, const std::string& node) {
  client_.Send(api::RequestToPatch("pods", pod.name(), {{"status", {{"nominatedNodeName", node}}}}, "status"),
               [](const api::Client::Written&) {});
}

void PodWriter::ClearNomination(const api::Object& pod) {
  const auto document = pod.Document();
  if (StringAt(*document, "status", "nominatedNodeName").empty()) return;
  client_.Send(
      api::RequestToPatch("pods", pod.name(), {{"status", {{"nominatedNodeName", nullptr}}}}, "status"),
      [](const api::Client::Written&) {});
}

void PodWriter::RecordScheduled(const api::Object& pod, const std::string& node) {
  recorder_.Record({.component = std::string(kSchedulerName)}, controllers::ReferenceToPod(pod),
                   controllers::kNormal, "Scheduled",
                   "Successfully assigned " + pod.name().String() + " to " + node);
}

void PodWriter::RecordFailed(const api::Object& pod, std::string message) {
  recorder_.Record({.component = std::string(kSchedulerName)}, controllers::ReferenceToPod(pod),
                   controllers::kWarning, "FailedScheduling", Shortened(std::move(message)));
}

// DIVERGES: kube-scheduler's Event also names the preempting pod as the related object.
void PodWriter::RecordPreempted(const api::Object& victim, const api::Object& preemptor,
                                const std::string& node) {
  recorder_.Record({.component = std::string(kSchedulerName)}, controllers::ReferenceToPod(victim),
                   controllers::kNormal, "Preempted",
                   "Preempted by pod " + preemptor.header().uid + " on node " + node);
}

}  // namespace terrarium::kubelet_fake::scheduling

#include "kubelet-fake/scheduler/internal/pod_writer.h"

#include <utility>

#include "api/base/clock.h"
#include "api/json_access.h"

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
                                  Done done) {
  const auto document = pod.Document();
  const Json& old = ScheduledCondition(*document);
  const bool was_false = StringAt(old, "status") == "False";
  if (was_false && StringAt(old, "reason") == reason && StringAt(old, "message") == message) return false;
  Json condition = {{"type", "PodScheduled"},
                    {"status", "False"},
                    {"reason", reason},
                    {"message", message},
                    {"lastProbeTime", nullptr}};
  if (!was_false) condition["lastTransitionTime"] = api::FormatTime(env_.clock.Now());
  if (const Json* generation = api::Find(*document, "metadata", "generation")) {
    condition["observedGeneration"] = *generation;
  }
  Json conditions = Json::array();
  conditions.push_back(std::move(condition));
  Json patch;
  patch["status"]["conditions"] = std::move(conditions);
  client_.Send({.verb = api::WriteRequest::Verb::kPatch,
                .resource = "pods",
                .object = pod.name(),
                .subresource = "status",
                .body = std::move(patch)},
               ToWriteDone(std::move(done)));
  return true;
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

}  // namespace terrarium::kubelet_fake::scheduling

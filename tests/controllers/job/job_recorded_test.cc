// What kube-controller-manager 1.36.4 made of Jobs, recorded: status, pods and events must come out the same.

#include <gtest/gtest.h>

#include <regex>

#include "tests/controllers/job/job_plane.h"

namespace terrarium::controllers::job {
namespace {

using namespace std::chrono_literals;
using api::ObjectPtr;
using testing::JobPlane;
using testing::Json;

// Without what differs from run to run, and without the scripts of our own.
Json Clean(const Json& value) {
  static const std::regex kTime(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ)");
  static const std::regex kUid("[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}");
  static const std::regex kPodName(R"(\bj-(\d-)?[bcdfghjklmnpqrstvwxz2456789]{5}\b)");
  if (value.is_object()) {
    Json out = Json::object();
    for (const auto& [key, member] : value.items())
      if (!key.starts_with("terrarium.dev/")) out[key] = Clean(member);
    return out;
  }
  if (value.is_array()) {
    Json out = Json::array();
    for (const Json& item : value) out.push_back(Clean(item));
    return out;
  }
  if (!value.is_string()) return value;
  std::string text = value.get<std::string>();
  text = std::regex_replace(text, kTime, "<time>");
  text = std::regex_replace(text, kUid, "<uid>");
  return std::regex_replace(text, kPodName, "j-$1*****");
}

Json Status(JobPlane& plane) { return Clean(plane.Status()); }

// One line for each pod: generateName, annotations, finalizers, phase, hostname, and labels beyond those of all.
std::vector<std::string> Pods(JobPlane& plane) {
  std::vector<std::string> out;
  for (const ObjectPtr& pod : plane.Pods()) {
    std::shared_ptr<const Json> document = pod->Document();
    const Json metadata = Clean((*document)["metadata"]);
    EXPECT_EQ(metadata["ownerReferences"], Json::parse(R"([{"apiVersion": "batch/v1", "kind": "Job", "name": "j",
        "uid": "<uid>", "controller": true, "blockOwnerDeletion": true}])"));
    Json labels = metadata["labels"];
    for (const char* common : {"batch.kubernetes.io/controller-uid", "batch.kubernetes.io/job-name", "controller-uid",
                               "job-name"})
      EXPECT_EQ(labels.erase(common), 1u) << common;
    std::string line = metadata["generateName"].get<std::string>();
    line += " " + metadata.value("annotations", Json::object()).dump();
    line += " " + metadata.value("finalizers", Json::array()).dump();
    line += " " + (*document)["status"]["phase"].get<std::string>();
    line += " " + (*document)["spec"].value("hostname", "-");
    line += " " + labels.dump();
    out.push_back(line);
  }
  return out;
}

std::vector<std::string> Events(JobPlane& plane) {
  std::vector<std::string> out;
  for (const std::string& event : plane.Events()) out.push_back(Clean(Json(event)).get<std::string>());
  return out;
}

using Lines = std::vector<std::string>;

Json Condition(const char* type, const char* reason, const char* message) {
  return {{"type", type},       {"status", "True"},    {"lastProbeTime", "<time>"}, {"lastTransitionTime", "<time>"},
          {"reason", reason},   {"message", message}};
}

Json Failed(const char* reason, const char* message, Json more) {
  Json status = {{"conditions", {Condition("FailureTarget", reason, message), Condition("Failed", reason, message)}},
                 {"startTime", "<time>"},
                 {"terminating", 0},
                 {"uncountedTerminatedPods", Json::object()},
                 {"ready", 0}};
  status.update(more);
  return status;
}

Json Complete(const char* reason, const char* message, Json more) {
  Json status = {
      {"conditions", {Condition("SuccessCriteriaMet", reason, message), Condition("Complete", reason, message)}},
      {"startTime", "<time>"},
      {"completionTime", "<time>"},
      {"terminating", 0},
      {"uncountedTerminatedPods", Json::object()},
      {"ready", 0}};
  status.update(more);
  return status;
}

TEST(RecordedJob, OneCompletionComplete) {
  JobPlane plane;
  plane.AddJob({}, {{"run-for", "1s"}});
  plane.Idle();
  EXPECT_EQ(Status(plane), Complete("CompletionsReached", "Reached expected number of succeeded pods",
                                    {{"succeeded", 1}}));
  EXPECT_EQ(Pods(plane), (Lines{"j- {} [] Succeeded - {}"}));
  EXPECT_EQ(Events(plane), (Lines{"Normal Completed: Job completed", "Normal SuccessfulCreate: Created pod: j-*****"}));
}

TEST(RecordedJob, IndexedThreeComplete) {
  JobPlane plane;
  plane.AddJob({{"completions", 3}, {"parallelism", 3}, {"completionMode", "Indexed"}}, {{"run-for", "1s"}});
  plane.Idle();
  EXPECT_EQ(Status(plane), Complete("CompletionsReached", "Reached expected number of succeeded pods",
                                    {{"succeeded", 3}, {"completedIndexes", "0-2"}}));
  Lines pods, events = {"Normal Completed: Job completed"};
  for (const std::string i : {"0", "1", "2"}) {
    const std::string index = R"({"batch.kubernetes.io/job-completion-index":")" + i + "\"}";
    pods.push_back("j-" + i + "- " + index + " [] Succeeded j-" + i + " " + index);
    events.push_back("Normal SuccessfulCreate: Created pod: j-" + i + "-*****");
  }
  EXPECT_EQ(Pods(plane), pods);
  EXPECT_EQ(Events(plane), events);
  std::shared_ptr<const Json> pod = plane.Pods()[0]->Document();
  EXPECT_EQ((*pod)["spec"]["containers"][0]["env"], Json::parse(R"([{"name": "JOB_COMPLETION_INDEX", "valueFrom":
      {"fieldRef": {"apiVersion": "v1",
       "fieldPath": "metadata.labels['batch.kubernetes.io/job-completion-index']"}}}])"));
}

TEST(RecordedJob, BackoffLimitZeroFailed) {
  JobPlane plane;
  plane.AddJob({{"backoffLimit", 0}}, {{"exit-code", "1"}});
  plane.Idle();
  EXPECT_EQ(Status(plane),
            Failed("BackoffLimitExceeded", "Job has reached the specified backoff limit", {{"failed", 1}}));
  EXPECT_EQ(Pods(plane), (Lines{"j- {} [] Failed - {}"}));
  EXPECT_EQ(Events(plane), (Lines{"Normal SuccessfulCreate: Created pod: j-*****",
                                  "Warning BackoffLimitExceeded: Job has reached the specified backoff limit"}));
}

TEST(RecordedJob, DeadlineExceeded) {
  JobPlane plane;
  plane.AddJob({{"activeDeadlineSeconds", 2}});
  plane.Idle();
  EXPECT_EQ(Status(plane),
            Failed("DeadlineExceeded", "Job was active longer than specified deadline", {{"failed", 1}}));
  EXPECT_EQ(Pods(plane), Lines{});
  EXPECT_EQ(Events(plane), (Lines{"Normal SuccessfulCreate: Created pod: j-*****",
                                  "Normal SuccessfulDelete: Deleted pod: j-*****",
                                  "Warning DeadlineExceeded: Job was active longer than specified deadline"}));
}

TEST(RecordedJob, FailurePolicyFailJob) {
  JobPlane plane;
  plane.AddJob({{"podFailurePolicy",
                 {{"rules", {{{"action", "FailJob"}, {"onExitCodes", {{"operator", "In"}, {"values", {42}}}}}}}}}},
               {{"exit-code", "42"}});
  plane.Idle();
  const char* message = "Container c for pod default/j-***** failed with exit code 42 matching FailJob rule at index 0";
  EXPECT_EQ(Status(plane), Failed("PodFailurePolicy", message, {{"failed", 1}}));
  EXPECT_EQ(Pods(plane), (Lines{"j- {} [] Failed - {}"}));
  EXPECT_EQ(Events(plane), (Lines{"Normal SuccessfulCreate: Created pod: j-*****",
                                  "Warning PodFailurePolicy: " + std::string(message)}));
}

TEST(RecordedJob, OneIndexFailsForGood) {
  JobPlane plane;
  plane.Script("batch.kubernetes.io/job-completion-index=1", {{"exit-code", 1}});
  plane.Script("batch.kubernetes.io/job-completion-index!=1", {{"exit-code", 0}});
  plane.AddJob({{"completions", 3}, {"parallelism", 3}, {"completionMode", "Indexed"}, {"backoffLimitPerIndex", 0}});
  plane.Idle();
  EXPECT_EQ(Status(plane), Failed("FailedIndexes", "Job has failed indexes",
                                  {{"succeeded", 2}, {"failed", 1}, {"completedIndexes", "0,2"},
                                   {"failedIndexes", "1"}}));
  Lines pods, events;
  for (const std::string i : {"0", "1", "2"}) {
    const std::string index = R"("batch.kubernetes.io/job-completion-index":")" + i + "\"";
    pods.push_back("j-" + i + "- {" + index + R"(,"batch.kubernetes.io/job-index-failure-count":"0"} [] )" +
                   (i == "1" ? "Failed" : "Succeeded") + " j-" + i + " {" + index + "}");
    events.push_back("Normal SuccessfulCreate: Created pod: j-" + i + "-*****");
  }
  events.push_back("Warning FailedIndexes: Job has failed indexes");
  EXPECT_EQ(Pods(plane), pods);
  EXPECT_EQ(Events(plane), events);
}

TEST(RecordedJob, SuccessPolicy) {
  JobPlane plane;
  plane.AddJob({{"completions", 5},
                {"completionMode", "Indexed"},
                {"successPolicy", {{"rules", {{{"succeededIndexes", "0"}}}}}}},
               {{"exit-code", "0"}});
  plane.Idle();
  EXPECT_EQ(Status(plane), Complete("SuccessPolicy", "Matched rules at index 0",
                                    {{"succeeded", 1}, {"completedIndexes", "0"}}));
  EXPECT_EQ(Pods(plane).size(), 1u);
  EXPECT_EQ(Events(plane),
            (Lines{"Normal Completed: Job completed", "Normal SuccessfulCreate: Created pod: j-0-*****"}));
}

TEST(RecordedJob, Suspended) {
  JobPlane plane;
  plane.AddJob({{"suspend", true}});
  plane.Idle();
  EXPECT_EQ(Status(plane), (Json{{"conditions", {Condition("Suspended", "JobSuspended", "Job suspended")}},
                                 {"terminating", 0},
                                 {"uncountedTerminatedPods", Json::object()},
                                 {"ready", 0}}));
  EXPECT_EQ(Pods(plane), Lines{});
  EXPECT_EQ(Events(plane), (Lines{"Normal Suspended: Job suspended"}));
}

TEST(RecordedJob, Running) {
  JobPlane plane;
  plane.AddJob({{"completions", 2}, {"parallelism", 2}});
  plane.Idle();
  EXPECT_EQ(Status(plane), Json::parse(R"({"startTime": "<time>", "active": 2, "terminating": 0,
                                           "uncountedTerminatedPods": {}, "ready": 2})"));
  const std::string pod = R"(j- {} ["batch.kubernetes.io/job-tracking"] Running - {})";
  EXPECT_EQ(Pods(plane), (Lines{pod, pod}));
  const std::string created = "Normal SuccessfulCreate: Created pod: j-*****";
  EXPECT_EQ(Events(plane), (Lines{created, created}));
}

}  // namespace
}  // namespace terrarium::controllers::job

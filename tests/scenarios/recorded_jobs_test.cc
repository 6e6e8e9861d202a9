// The results of kube-controller-manager 1.36.4 for Jobs in nine situations: the whole status with its
// conditions in their order, labels, annotations, owners and finalizers of Job and pods, and the events.
// Terrarium must produce the same.

#include <algorithm>
#include <regex>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "api/json_access.h"
#include "kubelet-fake/kubelet/pod_rules.h"
#include "testbed/embedding/testbed.h"
#include "tests/kubelet-fake/kubelet/endless_pods.h"

namespace terrarium::scenarios {
namespace {

using api::Json;
using api::ObjectPtr;
using Lines = std::vector<std::string>;

// Without values that differ from run to run, and without pod scripts.
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

// The labels that the Job controller adds to a Job and its pods, besides those of the template.
Json LabelsWith(const Json& more = Json::object()) {
  Json labels = {{"app", "x"},
                 {"batch.kubernetes.io/controller-uid", "<uid>"},
                 {"batch.kubernetes.io/job-name", "j"},
                 {"controller-uid", "<uid>"},
                 {"job-name", "j"}};
  labels.update(more);
  return labels;
}

class RecordedJob : public testing::Test {
 protected:
  // `spec` is merged over a Job of one completion. Its pods follow the script.
  void Run(const Json& spec, const Json& script = Json::object()) {
    Json annotations = Json::object();
    for (const auto& [key, value] : script.items()) annotations["terrarium.dev/" + key] = value;
    Json job = {{"metadata", {{"name", "j"}}},
                {"spec",
                 {{"template",
                   {{"metadata", {{"labels", {{"app", "x"}}}, {"annotations", annotations}}},
                    {"spec",
                     {{"restartPolicy", "Never"},
                      {"containers", Json::array({Json{{"name", "c"}, {"image", "nginx:1"}}})}}}}}}}};
    if (spec.is_object()) job["spec"].merge_patch(spec);
    bed_.Must(bed_.Create("jobs", "default", std::move(job)));
    ASSERT_EQ(bed_.clock().RunUntilIdle(std::chrono::hours(12)).why, testbed::RunOutcome::Why::kIdle);
    const Json metadata = Clean((*bed_.Get("jobs", "default", "j")->Document())["metadata"]);
    EXPECT_EQ(metadata["labels"], LabelsWith());
    EXPECT_EQ(metadata["generation"], 1);
    EXPECT_FALSE(metadata.contains("annotations"));
    EXPECT_FALSE(metadata.contains("finalizers"));
  }
  void Script(const char* selector, const Json& script) {
    ASSERT_TRUE(bed_.rules().Add({{"name", selector}, {"selector", selector}, {"script", script}}).ok());
  }

  Json Status() { return Clean((*bed_.Get("jobs", "default", "j")->Document())["status"]); }
  ObjectPtr FirstPod() { return bed_.List("pods", "default").at(0); }

  // One line per pod: generateName, annotations, finalizers, phase and hostname. An index is also a label.
  Lines Pods() {
    Lines out;
    for (const ObjectPtr& pod : bed_.List("pods", "default")) {
      std::shared_ptr<const Json> document = pod->Document();
      Json metadata = Clean((*document)["metadata"]);
      metadata["labels"].erase("topology.kubernetes.io/zone");  // the recorded nodes had none
      EXPECT_EQ(metadata["ownerReferences"],
                Json::parse(R"([{"apiVersion": "batch/v1", "kind": "Job", "name": "j",
          "uid": "<uid>", "controller": true, "blockOwnerDeletion": true}])"));
      EXPECT_EQ(metadata["generation"], 1);
      const Json annotations = metadata.value("annotations", Json::object());
      const char* kIndex = "batch.kubernetes.io/job-completion-index";
      Json index = Json::object();
      if (annotations.contains(kIndex)) index[kIndex] = annotations[kIndex];
      EXPECT_EQ(metadata["labels"], LabelsWith(index));
      std::string line = metadata["generateName"].get<std::string>();
      line += " " + annotations.dump();
      line += " " + metadata.value("finalizers", Json::array()).dump();
      line += " " + (*document)["status"]["phase"].get<std::string>();
      line += " " + (*document)["spec"].value("hostname", "-");
      out.push_back(line);
    }
    return out;
  }

  // "Normal Completed: Job completed", of the job-controller, sorted.
  Lines Events() {
    Lines out;
    for (const ObjectPtr& event : bed_.List("events", "default")) {
      const Json document = Clean(*event->Document());
      if (api::StringAt(document, "involvedObject", "kind") != "Job") continue;
      EXPECT_EQ(api::StringAt(document, "source", "component"), "job-controller");
      out.push_back(document["type"].get<std::string>() + " " + document["reason"].get<std::string>() + ": " +
                    document["message"].get<std::string>());
    }
    std::sort(out.begin(), out.end());
    return out;
  }

  testbed::Testbed bed_{{.nodes = 2, .pod_defaults = kubelet_fake::EndlessPods()}};
};

Json Condition(const char* type, const char* reason, const char* message) {
  return {
      {"type", type},     {"status", "True"},  {"lastProbeTime", "<time>"}, {"lastTransitionTime", "<time>"},
      {"reason", reason}, {"message", message}};
}

Json Failed(const char* reason, const char* message, Json more) {
  Json status = {
      {"conditions", {Condition("FailureTarget", reason, message), Condition("Failed", reason, message)}},
      {"startTime", "<time>"},
      {"terminating", 0},
      {"uncountedTerminatedPods", Json::object()},
      {"ready", 0}};
  status.update(more);
  return status;
}

Json Complete(const char* reason, const char* message, Json more) {
  Json status = {{"conditions",
                  {Condition("SuccessCriteriaMet", reason, message), Condition("Complete", reason, message)}},
                 {"startTime", "<time>"},
                 {"completionTime", "<time>"},
                 {"terminating", 0},
                 {"uncountedTerminatedPods", Json::object()},
                 {"ready", 0}};
  status.update(more);
  return status;
}

TEST_F(RecordedJob, OneCompletionComplete) {
  Run({}, {{"run-for", "1s"}});
  EXPECT_EQ(Status(),
            Complete("CompletionsReached", "Reached expected number of succeeded pods", {{"succeeded", 1}}));
  EXPECT_EQ(Pods(), (Lines{"j- {} [] Succeeded -"}));
  EXPECT_EQ(Events(),
            (Lines{"Normal Completed: Job completed", "Normal SuccessfulCreate: Created pod: j-*****"}));
}

TEST_F(RecordedJob, IndexedThreeComplete) {
  Run({{"completions", 3}, {"parallelism", 3}, {"completionMode", "Indexed"}}, {{"run-for", "1s"}});
  EXPECT_EQ(Status(), Complete("CompletionsReached", "Reached expected number of succeeded pods",
                               {{"succeeded", 3}, {"completedIndexes", "0-2"}}));
  Lines pods, events = {"Normal Completed: Job completed"};
  for (const std::string i : {"0", "1", "2"}) {
    const std::string index = R"({"batch.kubernetes.io/job-completion-index":")" + i + "\"}";
    pods.push_back("j-" + i + "- " + index + " [] Succeeded j-" + i);
    events.push_back("Normal SuccessfulCreate: Created pod: j-" + i + "-*****");
  }
  EXPECT_EQ(Pods(), pods);
  EXPECT_EQ(Events(), events);
  std::shared_ptr<const Json> pod = FirstPod()->Document();
  EXPECT_EQ((*pod)["spec"]["containers"][0]["env"],
            Json::parse(R"([{"name": "JOB_COMPLETION_INDEX", "valueFrom":
      {"fieldRef": {"apiVersion": "v1",
       "fieldPath": "metadata.labels['batch.kubernetes.io/job-completion-index']"}}}])"));
}

TEST_F(RecordedJob, BackoffLimitZeroFailed) {
  Run({{"backoffLimit", 0}}, {{"exit-code", "1"}});
  EXPECT_EQ(Status(),
            Failed("BackoffLimitExceeded", "Job has reached the specified backoff limit", {{"failed", 1}}));
  EXPECT_EQ(Pods(), (Lines{"j- {} [] Failed -"}));
  EXPECT_EQ(Events(), (Lines{"Normal SuccessfulCreate: Created pod: j-*****",
                             "Warning BackoffLimitExceeded: Job has reached the specified backoff limit"}));
}

TEST_F(RecordedJob, DeadlineExceeded) {
  Run({{"activeDeadlineSeconds", 2}});
  EXPECT_EQ(Status(),
            Failed("DeadlineExceeded", "Job was active longer than specified deadline", {{"failed", 1}}));
  EXPECT_EQ(Pods(), Lines{});
  EXPECT_EQ(Events(), (Lines{"Normal SuccessfulCreate: Created pod: j-*****",
                             "Normal SuccessfulDelete: Deleted pod: j-*****",
                             "Warning DeadlineExceeded: Job was active longer than specified deadline"}));
}

TEST_F(RecordedJob, FailurePolicyFailJob) {
  Run({{"podFailurePolicy",
        {{"rules", {{{"action", "FailJob"}, {"onExitCodes", {{"operator", "In"}, {"values", {42}}}}}}}}}},
      {{"exit-code", "42"}});
  const char* message =
      "Container c for pod default/j-***** failed with exit code 42 matching FailJob rule at index 0";
  EXPECT_EQ(Status(), Failed("PodFailurePolicy", message, {{"failed", 1}}));
  EXPECT_EQ(Pods(), (Lines{"j- {} [] Failed -"}));
  EXPECT_EQ(Events(), (Lines{"Normal SuccessfulCreate: Created pod: j-*****",
                             "Warning PodFailurePolicy: " + std::string(message)}));
}

TEST_F(RecordedJob, OneIndexFailsForGood) {
  Script("batch.kubernetes.io/job-completion-index=1", {{"exit-code", 1}});
  Script("batch.kubernetes.io/job-completion-index!=1", {{"exit-code", 0}});
  Run({{"completions", 3}, {"parallelism", 3}, {"completionMode", "Indexed"}, {"backoffLimitPerIndex", 0}});
  EXPECT_EQ(Status(),
            Failed("FailedIndexes", "Job has failed indexes",
                   {{"succeeded", 2}, {"failed", 1}, {"completedIndexes", "0,2"}, {"failedIndexes", "1"}}));
  Lines pods, events;
  for (const std::string i : {"0", "1", "2"}) {
    const std::string index = R"("batch.kubernetes.io/job-completion-index":")" + i + "\"";
    pods.push_back("j-" + i + "- {" + index + R"(,"batch.kubernetes.io/job-index-failure-count":"0"} [] )" +
                   (i == "1" ? "Failed" : "Succeeded") + " j-" + i);
    events.push_back("Normal SuccessfulCreate: Created pod: j-" + i + "-*****");
  }
  events.push_back("Warning FailedIndexes: Job has failed indexes");
  EXPECT_EQ(Pods(), pods);
  EXPECT_EQ(Events(), events);
}

TEST_F(RecordedJob, SuccessPolicy) {
  Run({{"completions", 5},
       {"completionMode", "Indexed"},
       {"successPolicy", {{"rules", {{{"succeededIndexes", "0"}}}}}}},
      {{"exit-code", "0"}});
  EXPECT_EQ(Status(), Complete("SuccessPolicy", "Matched rules at index 0",
                               {{"succeeded", 1}, {"completedIndexes", "0"}}));
  EXPECT_EQ(Pods().size(), 1u);
  EXPECT_EQ(Events(),
            (Lines{"Normal Completed: Job completed", "Normal SuccessfulCreate: Created pod: j-0-*****"}));
}

TEST_F(RecordedJob, Suspended) {
  Run({{"suspend", true}});
  EXPECT_EQ(Status(), (Json{{"conditions", {Condition("Suspended", "JobSuspended", "Job suspended")}},
                            {"terminating", 0},
                            {"uncountedTerminatedPods", Json::object()},
                            {"ready", 0}}));
  EXPECT_EQ(Pods(), Lines{});
  EXPECT_EQ(Events(), (Lines{"Normal Suspended: Job suspended"}));
}

TEST_F(RecordedJob, Running) {
  Run({{"completions", 2}, {"parallelism", 2}});
  EXPECT_EQ(Status(), Json::parse(R"({"startTime": "<time>", "active": 2, "terminating": 0,
                                      "uncountedTerminatedPods": {}, "ready": 2})"));
  const std::string pod = R"(j- {} ["batch.kubernetes.io/job-tracking"] Running -)";
  EXPECT_EQ(Pods(), (Lines{pod, pod}));
  const std::string created = "Normal SuccessfulCreate: Created pod: j-*****";
  EXPECT_EQ(Events(), (Lines{created, created}));
}

}  // namespace
}  // namespace terrarium::scenarios

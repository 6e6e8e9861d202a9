#pragma once

// Made-up pods and Jobs for tests of decisions.

#include <memory>
#include <string>
#include <utility>

#include "api/base/clock.h"
#include "api/json.h"
#include "controllers/job/internal/job_pod.h"
#include "controllers/job/internal/job_spec.h"
#include "tests/controllers/runtime/fake_client.h"

namespace terrarium::controllers::job::testing {

using api::Json;

inline constexpr api::Time kNow{std::chrono::seconds(1'767'225'600)};

// A Job's document with that spec.
inline Json Spec(const Json& spec) {
  Json job = {{"metadata", {{"name", "j"}, {"namespace", "default"}, {"uid", "job-uid"}}},
              {"spec", Json::object()}};
  if (spec.is_object()) job["spec"] = spec;
  return job;
}

inline Json FailurePolicy(const char* action, int exit_code) {
  return {{"rules", {{{"action", action}, {"onExitCodes", {{"operator", "In"}, {"values", {exit_code}}}}}}}};
}

// A pod with the tracking finalizer, whose uid is its name.
class PodMaker {
 public:
  explicit PodMaker(const std::string& name) {
    pod_["metadata"] = {{"name", name},
                        {"namespace", "default"},
                        {"uid", name},
                        {"labels", {{"job-name", "j"}}},
                        {"creationTimestamp", api::FormatTime(kNow)},
                        {"finalizers", {"batch.kubernetes.io/job-tracking"}}};
    pod_["status"]["phase"] = "Pending";
  }
  PodMaker& Phase(const char* phase) { return Set("/status/phase", phase); }
  PodMaker& Ready() { return Set("/status/conditions", {{{"type", "Ready"}, {"status", "True"}}}); }
  PodMaker& Index(int index) { return Annotate("batch.kubernetes.io/job-completion-index", index); }
  PodMaker& Failures(int count) { return Annotate("batch.kubernetes.io/job-index-failure-count", count); }
  PodMaker& Deleting() { return Set("/metadata/deletionTimestamp", api::FormatTime(kNow)); }
  PodMaker& WithoutFinalizer() { return Set("/metadata/finalizers", Json::array()); }
  PodMaker& Labels(const Json& labels) { return Set("/metadata/labels", labels); }
  PodMaker& ExitCode(int code) {
    return Set("/status/containerStatuses",
               {{{"name", "c"}, {"state", {{"terminated", {{"exitCode", code}}}}}}});
  }
  const Json& document() const { return pod_; }
  operator JobPodPtr() const {  // NOLINT: conversion is its purpose
    return std::make_shared<JobPod>(FactsOf(pod_), controllers_testing::MakeObject(pod_));
  }

 private:
  PodMaker& Set(const char* path, Json value) {
    pod_[Json::json_pointer(path)] = std::move(value);
    return *this;
  }
  PodMaker& Annotate(const char* key, int value) {
    pod_["metadata"]["annotations"][key] = std::to_string(value);
    return *this;
  }
  Json pod_;
};

inline PodMaker Pod(const std::string& name) { return PodMaker(name); }

}  // namespace terrarium::controllers::job::testing

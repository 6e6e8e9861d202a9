#pragma once

// Creates and deletes pods for a Job, and records Events and the reasons of its decisions.

#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "api/base/status.h"
#include "api/base/task.h"
#include "api/json.h"
#include "api/object.h"
#include "controllers/controller.h"
#include "controllers/job/internal/pod_facts.h"

namespace terrarium::controllers::job {

// The Job that a write is for, and the reason.
struct Decision {
  api::ObjectPtr job;
  std::string rule;
  std::shared_ptr<const api::Json> saw;
};

struct Created {
  int pods = 0;
  int refused = 0;                     // requests that failed; excludes pods that were never requested
  std::optional<api::Status> failure;  // the first error to retry
};

struct Deleted {
  int pods = 0;
  int ready = 0;  // of `pods`
  std::set<std::string>
      not_expected;  // uids of pods whose deletion no event will report: they are gone, or the request failed
  std::optional<api::Status> failure;
};

class PodControl {
 public:
  explicit PodControl(const ControllerContext& context) : context_(context) {}

  // Sends batches of growing size, and stops after a batch with a failure.
  api::Task<Created> Create(Decision decision, std::vector<api::Json> pods);

  // Copies of the pod's facts, since they must outlive a co_await.
  struct Target {
    std::string name;
    std::string uid;
    bool ready = false;
    bool takes_finalizer = false;  // before the deletion, so that the pod is not counted
  };
  static Target TargetOf(const PodFacts& pod, bool take_finalizer);
  api::Task<Deleted> Delete(Decision decision, std::vector<Target> pods);

  // Records an Event about the Job.
  void RecordEvent(const api::Object& job, std::string_view type, std::string_view reason,
                   std::string message);

 private:
  void Explain(const Decision& decision, const char* action, const std::string& pod);
  // Returns the pods without a finalizer; failures are in `outcome`.
  api::Task<std::vector<Target>> TakeFinalizersOff(std::string ns, std::vector<Target> pods,
                                                   Deleted* outcome);

  ControllerContext context_;
};

}  // namespace terrarium::controllers::job

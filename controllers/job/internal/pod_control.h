#pragma once

// Creating and deleting pods on behalf of a Job: the writes, what is told about them, and why.

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

// On whose behalf, and what made it so.
struct Decision {
  api::ObjectPtr job;
  std::string rule;
  std::shared_ptr<const api::Json> saw;
};

struct Created {
  int pods = 0;
  int refused = 0;                     // asked for and not made; what was not even asked for is not among them
  std::optional<api::Status> failure;  // the first one that is worth another try
};

struct Deleted {
  int pods = 0;
  int ready = 0;  // of them
  std::set<std::string> not_expected;  // uids of pods that nobody will see going: they have gone, or could not be asked
  std::optional<api::Status> failure;
};

class PodControl {
 public:
  explicit PodControl(const ControllerContext& context) : context_(context) {}

  // In growing batches; those after one that failed are not asked for.
  api::Task<Created> Create(Decision decision, std::vector<api::Json> pods);

  // A pod is named by facts that are copied, since they outlive a wait.
  struct Target {
    std::string name;
    std::string uid;
    bool ready = false;
    bool takes_finalizer = false;  // first, so that the pod is not counted
  };
  static Target TargetOf(const PodFacts& pod, bool take_finalizer);
  api::Task<Deleted> Delete(Decision decision, std::vector<Target> pods);

  // An Event about the Job.
  void Tell(const api::Object& job, std::string_view type, std::string_view reason, std::string message);

 private:
  void Explain(const Decision& decision, const char* action, const std::string& pod);
  // Those whose finalizer is off; the others are in `outcome`.
  api::Task<std::vector<Target>> TakeFinalizersOff(std::string ns, std::vector<Target> pods, Deleted* outcome);

  ControllerContext context_;
};

}  // namespace terrarium::controllers::job

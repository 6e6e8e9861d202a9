#pragma once

// Which pods belong to which Job, kept up to date event by event, so that a look at a Job costs by its pods that are
// active or not yet counted and not by all that have ever been. Rebuilt from the informers alone. Single-threaded.

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "api/object.h"
#include "api/object_name.h"
#include "api/selector/label_selector.h"
#include "controllers/job/internal/job_pod.h"
#include "controllers/job/internal/tally.h"

namespace terrarium::controllers::job {

struct JobState {
  std::string uid;
  api::ObjectName name;
  api::ObjectPtr job;  // nullptr: pods speak of it, but it is not there
  api::LabelSelector selector;
  bool finished = false;

  // Pods that name it as their controller, by name: all that are not both ended and rid of their finalizer, and those
  // that it does not select.
  std::map<std::string, JobPodPtr> pods;
  std::set<std::string> adoptable;  // names of pods that may be orphans it selects; looked at before they are adopted

  // Asked for and not yet seen, by the pods' uids.
  UidSet finalizer_removals;
  UidSet releases;
  // The revision of its own that was written last. A view of the Job from before must not be acted on: its counters may
  // lack pods whose finalizers are already seen to be off.
  std::int64_t written = 0;
  Carried carried;

  bool Runs() const { return job != nullptr && !finished; }
};

class JobStates {
 public:
  using StatePtr = std::shared_ptr<JobState>;

  StatePtr Find(const std::string& job_uid) const;  // nullptr: nothing is known of it
  // A version of a Job. Its pods may have been seen before it.
  StatePtr SetJob(const api::ObjectPtr& job, bool finished);
  // Its state, which is forgotten here when it has no pods.
  StatePtr RemoveJob(const api::Object& job);

  // The Job whose pod that is, as far as is known; nullptr: none's.
  StatePtr OwnerOf(const api::ObjectName& pod) const;
  struct Placed {
    StatePtr state;
    bool matters;  // the pod is, or was until now, one of the state's `pods`
  };
  // A version of a pod that the Job `name` of that uid, known or not, controls.
  Placed PutPod(const std::string& job_uid, const api::ObjectName& name, JobPodPtr pod);
  void RemovePod(const api::ObjectName& name);

 private:
  StatePtr Of(const std::string& job_uid, const api::ObjectName& name);
  void EraseIfNothing(const StatePtr& state);

  std::map<std::string, StatePtr> states_;
  std::map<api::ObjectName, StatePtr> owners_;  // of each pod in a state
};

}  // namespace terrarium::controllers::job

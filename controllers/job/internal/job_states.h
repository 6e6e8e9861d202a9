#pragma once

// The pods of each Job, updated on every event. The cost of a sync depends on the Job's pods that are active
// or not yet counted, not on all pods that it has ever had. Rebuilt from the informers alone.
// Single-threaded.

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
  api::ObjectPtr job;  // nullptr: pods refer to it, but the Job is not known yet or is gone
  api::LabelSelector selector;
  bool finished = false;

  // Pods whose controller it is, by name. A pod that has finished and lost its finalizer is left out, unless
  // the Job does not select it and has yet to release it.
  std::map<std::string, JobPodPtr> pods;
  std::set<std::string>
      adoptable;  // names of pods that may be orphans it selects; checked again before adoption

  // Requested and not yet observed, by the pods' uids.
  UidSet finalizer_removals;
  UidSet releases;
  // The revision of this controller's last write to the Job. An older view of the Job must not be acted on:
  // its counters may lack pods whose finalizer removal has already been observed.
  std::int64_t written = 0;
  Carried carried;

  bool Runs() const { return job != nullptr && !finished; }
};

class JobStates {
 public:
  using StatePtr = std::shared_ptr<JobState>;

  StatePtr Find(const std::string& job_uid) const;  // nullptr: the Job is unknown
  // Records a version of a Job. Its pods may have been observed before it.
  StatePtr SetJob(const api::ObjectPtr& job, bool finished);
  // Returns the Job's state, and forgets it when it has no pods.
  StatePtr RemoveJob(const api::Object& job);

  // The Job that is known to control the pod; nullptr when there is none.
  StatePtr OwnerOf(const api::ObjectName& pod) const;
  struct Placed {
    StatePtr state;
    bool matters;  // the pod is, or was until now, one of the state's `pods`
  };
  // Records a version of a pod whose controller is the Job `name` with that uid. The Job may be unknown.
  Placed PutPod(const std::string& job_uid, const api::ObjectName& name, JobPodPtr pod);
  void RemovePod(const api::ObjectName& name);

 private:
  StatePtr Of(const std::string& job_uid, const api::ObjectName& name);
  void EraseIfNothing(const StatePtr& state);

  std::map<std::string, StatePtr> states_;
  std::map<api::ObjectName, StatePtr> owners_;  // of each pod in a state
};

}  // namespace terrarium::controllers::job

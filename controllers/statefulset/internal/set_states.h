#pragma once

// The pods of each StatefulSet, updated on every event, and the controller's own writes that its view may not
// show yet. Rebuilt from the informers alone. Single-threaded.

#include <cstdint>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "api/object.h"
#include "api/object_name.h"
#include "api/selector/label_selector.h"
#include "controllers/statefulset/internal/pod_facts.h"

namespace terrarium::controllers::statefulset {

struct SetState {
  std::string uid;
  api::ObjectName name;
  api::ObjectPtr set;  // nullptr: pods refer to it, but the set is not known yet or is gone
  api::LabelSelector selector;

  std::map<std::string, StatefulPodPtr> pods;  // that it controls, by name
  // Names of pods that may be orphans that it selects. Checked again before adoption.
  std::set<std::string> adoptable;

  // The newest revisions that this controller wrote. A sync waits until its view includes them: on an older
  // view it could repeat the writes, or decide against its own status.
  std::int64_t set_written = 0;
  std::int64_t pods_written = 0;
  std::int64_t revisions_written = 0;
  std::map<std::string, std::string> deletions;  // uids and names of pods whose deletion was requested
  bool awaits_view = false;  // a sync was skipped; the event that it waits for enqueues the set
};
using SetStatePtr = std::shared_ptr<SetState>;

class SetStates {
 public:
  SetStatePtr Find(const std::string& set_uid) const;  // nullptr: unknown
  // Records a version of a set. Its pods may have been observed before it.
  SetStatePtr SetSet(const api::ObjectPtr& set);
  void RemoveSet(const api::Object& set);

  SetStatePtr OwnerOf(const api::ObjectName& pod) const;  // nullptr: no known owner
  // Records a version of a pod whose controller is the set `name` with that uid.
  SetStatePtr PutPod(const std::string& set_uid, const api::ObjectName& name, StatefulPodPtr pod);
  void RemovePod(const api::ObjectName& pod);

 private:
  SetStatePtr Of(const std::string& set_uid, const api::ObjectName& name);
  void EraseIfEmpty(const SetStatePtr& state);

  std::map<std::string, SetStatePtr> states_;
  std::map<api::ObjectName, SetStatePtr> owners_;  // of each pod in a state
};

}  // namespace terrarium::controllers::statefulset

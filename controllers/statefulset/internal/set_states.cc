#include "controllers/statefulset/internal/set_states.h"

#include <utility>

#include "api/json_access.h"

namespace terrarium::controllers::statefulset {

using api::ObjectName;

SetStatePtr SetStates::Find(const std::string& set_uid) const {
  auto found = states_.find(set_uid);
  return found == states_.end() ? nullptr : found->second;
}

SetStatePtr SetStates::Of(const std::string& set_uid, const ObjectName& name) {
  SetStatePtr& state = states_[set_uid];
  if (state == nullptr) {
    state = std::make_shared<SetState>();
    state->uid = set_uid;
    state->name = name;
  }
  return state;
}

SetStatePtr SetStates::SetSet(const api::ObjectPtr& set) {
  SetStatePtr state = Of(set->header().uid, set->name());
  if (state->set == nullptr) {
    // The selector of a set never changes. One that selects everything must not adopt the whole namespace.
    auto selector = api::LabelSelector::FromDocument(api::Find(*set->Document(), "spec", "selector"));
    const bool usable = selector && !selector->selects_everything();
    state->selector = usable ? std::move(*selector) : api::LabelSelector::Nothing();
  }
  state->set = set;
  return state;
}

void SetStates::RemoveSet(const api::Object& set) {
  SetStatePtr state = Find(set.header().uid);
  if (state == nullptr) return;
  state->set = nullptr;
  EraseIfEmpty(state);
}

SetStatePtr SetStates::OwnerOf(const ObjectName& pod) const {
  auto owner = owners_.find(pod);
  return owner == owners_.end() ? nullptr : owner->second;
}

SetStatePtr SetStates::PutPod(const std::string& set_uid, const ObjectName& name, StatefulPodPtr pod) {
  const ObjectName& pod_name = pod->object->name();
  SetStatePtr state = Of(set_uid, name);
  if (SetStatePtr before = OwnerOf(pod_name); before != nullptr && before != state) RemovePod(pod_name);
  owners_[pod_name] = state;
  state->pods[pod_name.name] = std::move(pod);
  return state;
}

void SetStates::RemovePod(const ObjectName& pod) {
  auto owner = owners_.find(pod);
  if (owner == owners_.end()) return;
  SetStatePtr state = std::move(owner->second);
  owners_.erase(owner);
  state->pods.erase(pod.name);
  EraseIfEmpty(state);
}

void SetStates::EraseIfEmpty(const SetStatePtr& state) {
  if (state->set == nullptr && state->pods.empty()) states_.erase(state->uid);
}

}  // namespace terrarium::controllers::statefulset

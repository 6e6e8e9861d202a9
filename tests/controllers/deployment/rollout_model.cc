#include "tests/controllers/deployment/rollout_model.h"

#include <algorithm>
#include <utility>

#include "controllers/deployment/internal/rollout.h"

namespace terrarium::controllers::deployment {
namespace {

constexpr int kTemplates = 5;
constexpr int kRoundsMax = 2000;

std::string Text(std::int64_t number) { return std::to_string(number); }

std::int64_t Replicas(std::span<const ReplicaSetSize> sets) {
  std::int64_t sum = 0;
  for (const ReplicaSetSize& set : sets) sum += set.replicas;
  return sum;
}

std::int64_t Pods(std::span<const ReplicaSetSize> sets) {
  std::int64_t sum = 0;
  for (const ReplicaSetSize& set : sets) sum += set.Pods();
  return sum;
}

// Available pods within spec.replicas.
std::int64_t LastingAvailable(std::span<const ReplicaSetSize> sets) {
  std::int64_t sum = 0;
  for (const ReplicaSetSize& set : sets) sum += std::min(set.available, set.replicas);
  return sum;
}

std::string Text(const ReplicaSetSize& set) {
  std::string text = set.name + "=" + Text(set.replicas) + "(" + Text(set.status_replicas) + "/" +
                     Text(set.available) + "-" + Text(set.terminating) + (set.status_current ? "" : " stale");
  if (set.before_scale) text += " from " + Text(*set.before_scale) + " of " + Text(set.max.value_or(0));
  return text + ")";
}

}  // namespace

RolloutModel::RolloutModel(std::uint64_t seed, const ModelOptions& options)
    : random_(seed), options_(options), replicas_(1 + Below(40)) {
  max_surge_ = RandomFencepost();
  max_unavailable_ = RandomFencepost();
  Note("created");
}

void RolloutModel::Note(const char* what) {
  if (!options_.keeps_history) return;
  history_ += std::string(what) + ": " + Text(replicas_) + " of " + Text(PodsMax()) +
              (options_.waits_for_termination ? " waiting" : "") + (paused_ ? " paused" : "") +
              ", template " + Text(revision_) + ",";
  for (const ReplicaSet& set : sets_) history_ += " " + Text(set.size);
  history_ += "\n";
}

void RolloutModel::Expect(bool holds, const char* what) {
  if (holds || !failure_.empty()) return;
  Note(what);
  failure_ = history_ + what;
}

api::Json RolloutModel::RandomFencepost() {
  if (Below(2) == 0) return Below(6);
  return Text(Below(8) * 15) + "%";
}

DeploymentSize RolloutModel::Size() const {
  DeploymentSize size;
  size.replicas = replicas_;
  size.rolling = options_.rolling;
  size.waits_for_termination = options_.waits_for_termination;
  for (const ReplicaSet& set : sets_) size.status_replicas += set.size.status_replicas;
  if (!options_.rolling) return size;
  Fenceposts posts = ResolveFenceposts(&max_surge_, &max_unavailable_, replicas_);
  size.max_surge = posts.surge;
  size.max_unavailable = std::min(posts.unavailable, replicas_);
  return size;
}

std::vector<ReplicaSetSize> RolloutModel::Sizes() const {
  std::vector<ReplicaSetSize> sizes;
  for (const ReplicaSet& set : sets_) sizes.push_back(set.size);
  return sizes;
}

std::size_t RolloutModel::NewIndex() const {
  for (std::size_t i = 0; i < sets_.size(); ++i)
    if (sets_[i].revision == revision_) return i;
  return kNotThereYet;
}

bool RolloutModel::IsSaturated(std::size_t index) const {
  if (index == kNotThereYet) return false;
  const ReplicaSetSize& size = sets_[index].size;
  return size.replicas == replicas_ && size.desired == replicas_ && size.available == replicas_;
}

void RolloutModel::Scale() {
  if (options_.scales_down) {
    replicas_ = Below(10) == 0 ? 0 : Below(50);
  } else {
    replicas_ += Below(10);
  }
  Note("scaled");
}

void RolloutModel::ChangeTemplate() {
  revision_ = static_cast<int>(Below(kTemplates));
  Note("template");
}

void RolloutModel::ChangeStrategy() {
  std::int64_t most = PodsMax();
  api::Json surge_before = max_surge_;
  max_surge_ = RandomFencepost();
  max_unavailable_ = RandomFencepost();
  if (!options_.scales_down && PodsMax() < most) max_surge_ = surge_before;
  Note("strategy");
}

// The ReplicaSet controller sees events in their order: pods failed before others were deleted.
void RolloutModel::SeeSome(ReplicaSet& set) {
  set.unseen_created -= Below(set.unseen_created + 1);
  if (set.unseen_failed > 0) {
    set.unseen_failed -= Below(set.unseen_failed + 1);
  } else if (options_.statuses_lag) {
    set.unseen -= Below(set.unseen + 1);
  } else if (set.unseen > 0 && Below(2) == 0) {
    set.unseen = 0;
  }
}

// The same order as the real controller: the status counts the pods from before its own creations and
// deletions. It may see these late, and does nothing until then.
void RolloutModel::SyncReplicaSet(ReplicaSet& set) {
  ReplicaSetSize& size = set.size;
  SeeSome(set);
  size.status_replicas = set.starting + set.available + set.unseen + set.unseen_failed - set.unseen_created;
  size.available = std::min(set.available, size.status_replicas);
  size.terminating = set.terminating - set.unseen;
  size.status_current = true;
  if (set.unseen > 0 || set.unseen_created > 0) return;
  std::int64_t lacking = size.replicas - size.status_replicas;
  if (lacking >= 0) {
    set.starting += lacking;
    if (options_.statuses_lag) set.unseen_created = lacking;
    return;
  }
  // The controller may delete a failed pod that it believes to be running. That has no effect.
  std::int64_t deleted = std::min(-lacking, set.starting + set.available);
  std::int64_t unavailable = std::min(set.starting, deleted);
  set.starting -= unavailable;
  set.available -= deleted - unavailable;
  set.terminating += deleted;
  set.unseen = deleted;
}

// Not while creations or deletions are unseen: the controller sees events in their order.
void RolloutModel::FailPods(ReplicaSet& set) {
  if (set.unseen > 0 || set.unseen_created > 0) return;
  std::int64_t before = set.available;
  MovePods(set, &ReplicaSet::available, nullptr);
  set.unseen_failed += before - set.available;
}

void RolloutModel::MovePods(ReplicaSet& set, std::int64_t ReplicaSet::*from, std::int64_t ReplicaSet::*to) {
  std::int64_t moved = Below(set.*from + 1);
  set.*from -= moved;
  if (to != nullptr) set.*to += moved;
}

RolloutModel::ReplicaSet* RolloutModel::AnySet() {
  return sets_.empty() ? nullptr : &sets_[Below(sets_.size())];
}

void RolloutModel::Step() {
  Happen();
  if (options_.counts_real_pods) CheckRealPods();
}

void RolloutModel::Happen() {
  const std::int64_t what = Below(100);
  if (what < 2) return Scale();
  if (what < 4) return ChangeTemplate();
  if (what < 5) return ChangeStrategy();
  if (what < 6) {
    paused_ = Below(3) == 0;
    return;
  }
  if (what < 8 && options_.statuses_lag) {
    if (ReplicaSet* set = AnySet()) FailPods(*set);
    return;
  }
  if (what < 7 && options_.policy_changes) {
    options_.waits_for_termination = !options_.waits_for_termination;
    return;
  }
  if (what < 40) return SyncDeployment();
  ReplicaSet* set = AnySet();
  if (set == nullptr) return;
  if (what < 70) {
    SyncReplicaSet(*set);
  } else if (what < 84) {
    MovePods(*set, &ReplicaSet::starting, &ReplicaSet::available);
  } else if (what < 96) {
    MovePods(*set, &ReplicaSet::terminating, nullptr);
    set->unseen = std::min(set->unseen, set->terminating);
  } else if (what < 98) {
    MovePods(*set, &ReplicaSet::available, &ReplicaSet::starting);
  } else if (options_.pods_get_evicted) {
    MovePods(*set, &ReplicaSet::available, &ReplicaSet::terminating);
  }
}

void RolloutModel::LeaveAlone() {
  paused_ = false;
  Note("left alone");
  std::vector<std::int64_t> before;
  for (int round = 0; round < kRoundsMax && failure_.empty(); ++round) {
    SyncDeployment();
    std::vector<std::int64_t> after;
    for (ReplicaSet& set : sets_) {
      set.unseen = set.unseen_created = set.unseen_failed = 0;
      SyncReplicaSet(set);
      set.available += std::exchange(set.starting, 0);
      set.terminating = 0;
      const ReplicaSetSize& size = set.size;
      after.insert(after.end(), {size.replicas, size.status_replicas, size.available, size.terminating,
                                 set.available, set.terminating});
    }
    if (after == before) return;
    before = after;
  }
  Expect(false, "does not come to rest");
}

void RolloutModel::CheckSettled() {
  std::size_t new_index = NewIndex();
  Expect(new_index != kNotThereYet, "no ReplicaSet of the current template");
  Expect(!IsScaling(Size(), Sizes()), "still scaling");
  for (std::size_t i = 0; i < sets_.size(); ++i) {
    const ReplicaSet& set = sets_[i];
    std::int64_t wanted = i == new_index ? replicas_ : 0;
    Expect(set.size.replicas == wanted, "a ReplicaSet is not of the size it ends with");
    Expect(set.available == wanted && set.terminating == 0, "a ReplicaSet has not the pods it ends with");
    Expect(!set.size.before_scale, "a ReplicaSet still remembers a scale");
  }
}

void RolloutModel::CountPods() {
  for (ReplicaSet& set : sets_) {
    set.size.seen_live = set.starting + set.available;
    set.size.seen_terminating = set.terminating;
  }
}

void RolloutModel::SyncDeployment() {
  if (options_.statuses_lag && options_.waits_for_termination) CountPods();
  std::vector<ReplicaSetSize> before = Sizes();
  if (paused_ || IsScaling(Size(), before)) {
    SyncScale();
  } else if (options_.rolling) {
    SyncRolling();
  } else {
    SyncRecreate();
  }
  before.resize(sets_.size());
  CheckGrowth(before);
}

void RolloutModel::SyncScale() {
  std::vector<std::size_t> active;
  for (std::size_t i = 0; i < sets_.size(); ++i)
    if (sets_[i].size.replicas > 0) active.push_back(i);
  const std::size_t new_index = NewIndex();
  if (active.size() <= 1) {
    std::size_t only = !active.empty() ? active[0] : new_index != kNotThereYet ? new_index : sets_.size() - 1;
    if (!sets_.empty()) Resize(only, NewReplicas(Size(), Sizes(), only));
  } else if (IsSaturated(new_index)) {
    for (std::size_t i : active)
      if (i != new_index) Resize(i, 0);
  } else {
    ScaleAll();
  }
}

void RolloutModel::SyncRolling() {
  std::vector<ReplicaSetSize> before = Sizes();
  GrowNew();
  std::size_t new_index = NewIndex();
  if (before.size() != sets_.size() || before[new_index].replicas != sets_[new_index].size.replicas) return;
  for (const deployment::Resize& resize : ShrinkOld(Size(), before, new_index)) {
    Expect(resize.index != new_index, "shrinks the new ReplicaSet");
    Expect(resize.replicas < before[resize.index].replicas, "shrinks nothing");
    Resize(resize.index, resize.replicas);
  }
  CheckAvailability(before);
}

void RolloutModel::SyncRecreate() {
  std::size_t new_index = NewIndex();
  std::int64_t old_pods = 0;
  for (std::size_t i = 0; i < sets_.size(); ++i) {
    if (i == new_index) continue;
    if (sets_[i].size.replicas > 0) Resize(i, 0);
    old_pods += sets_[i].starting + sets_[i].available + sets_[i].terminating;
  }
  if (old_pods == 0) GrowNew();
}

void RolloutModel::GrowNew() {
  std::size_t new_index = NewIndex();
  std::int64_t replicas = NewReplicas(Size(), Sizes(), new_index);
  if (new_index == kNotThereYet) {
    ReplicaSet set;
    set.revision = revision_;
    set.size.name = std::string(1, static_cast<char>('a' + revision_));
    set.size.created = api::Time(std::chrono::seconds(sets_.size()));
    set.size.status_current = false;
    sets_.push_back(set);
    new_index = sets_.size() - 1;
    Resize(new_index, replicas);
  } else if (replicas != sets_[new_index].size.replicas) {
    Resize(new_index, replicas);
  }
}

void RolloutModel::Resize(std::size_t index, std::int64_t replicas) {
  ReplicaSetSize& size = sets_[index].size;
  Expect(replicas >= 0, "a negative size");
  if (size.replicas != replicas) size.status_current = false;
  size.replicas = replicas;
  size.desired = replicas_;
  size.max = PodsMax();
  size.before_scale.reset();
  Note("resized");
}

void RolloutModel::ScaleAll() {
  std::vector<ReplicaSetSize> before = Sizes();
  std::vector<ScaledSet> scaled = ScaleProportionally(Size(), before);
  for (const ScaledSet& after : scaled) {
    Resize(after.index, after.replicas);
    sets_[after.index].size.desired = after.desired ? after.desired : before[after.index].desired;
    sets_[after.index].size.max = after.max ? after.max : before[after.index].max;
    sets_[after.index].size.before_scale = after.before_scale;
  }
  Note("proportionally");
  CheckScaled(before, scaled);
}

void RolloutModel::CheckScaled(std::span<const ReplicaSetSize> before, const std::vector<ScaledSet>& scaled) {
  const DeploymentSize size = Size();
  const std::int64_t total = replicas_ > 0 ? PodsMax() : 0;
  const std::int64_t change = total - Replicas(before);
  const std::int64_t growth = Replicas(Sizes()) - Replicas(before);
  std::size_t active = 0;
  for (const ReplicaSetSize& set : before) active += set.replicas > 0 ? 1 : 0;
  Expect(scaled.size() == active, "an answer for other than the active ReplicaSets");
  bool partial = false;
  bool shrinking = false;
  for (const ScaledSet& set : scaled) {
    partial = partial || set.before_scale;
    shrinking = shrinking || before[set.index].Shrinking();
    Expect(set.before_scale || (set.max == PodsMax() && set.desired == replicas_),
           "complete, but not marked for the present Deployment");
    // Without it a released controller that takes over would not see that a scale is unfinished.
    Expect(
        !set.before_scale || (set.desired == before[set.index].desired && set.max == before[set.index].max),
        "not complete, and marked as if it were");
    if (!size.waits_for_termination) continue;
    Expect(change <= 0 || set.replicas >= before[set.index].replicas, "shrinks while the Deployment grows");
    Expect(change >= 0 || set.replicas <= before[set.index].replicas, "grows while the Deployment shrinks");
  }
  if (change > 0 && size.waits_for_termination) {
    std::int64_t room = RoomForPods(size, before);
    Expect(growth <= room, "more than there is room for");
    Expect(growth == room || growth == change || shrinking, "room is not used");
    Expect(partial == (growth < change), "remembers a scale that is complete, or forgets one that is not");
  } else {
    Expect(!partial, "nothing holds this scale back");
    Expect(growth == change || scaled.front().replicas == 0, "the sum is wrong");
  }
}

void RolloutModel::CheckGrowth(std::span<const ReplicaSetSize> before) {
  if (!options_.waits_for_termination) return;
  std::int64_t pods = Pods(Sizes());
  Expect(pods <= std::max(Pods(before), PodsMax()), "makes more pods than there may be");
}

void RolloutModel::CheckRealPods() {
  std::int64_t pods = 0;
  for (const ReplicaSet& set : sets_) pods += set.starting + set.available + set.terminating;
  Expect(pods <= PodsMax(), "there are more pods than there may be");
}

void RolloutModel::CheckAvailability(std::span<const ReplicaSetSize> before) {
  std::int64_t promised = replicas_ - Size().max_unavailable;
  Expect(LastingAvailable(Sizes()) >= std::min(promised, LastingAvailable(before)),
         "too few pods stay available");
}

}  // namespace terrarium::controllers::deployment

#include "controllers/deployment/internal/proportional_scaling.h"

#include <algorithm>

#include "controllers/deployment/internal/rollout.h"

namespace terrarium::controllers::deployment {
namespace {

// A ReplicaSet was of size `replicas` when its Deployment might have `max` pods: its proportion counts from
// there.
struct Origin {
  std::int64_t replicas = 0;
  std::int64_t max = 0;
};

struct Share {
  std::size_t index = 0;
  Origin origin{};
  std::int64_t proportion = 0;  // what its proportion adds to the set, or takes away
  std::int64_t leftover = 0;    // what the roundings of all left for it, the largest
  std::int64_t step = 0;        // of both, what happens now

  std::int64_t Change() const { return proportion + leftover; }
};

struct Plan {
  std::int64_t replicas = 0;  // of the active sets, at present
  std::int64_t change = 0;    // of them together
  std::vector<Share> shares;  // of the active sets
};

// Nearest, halves up.
std::int64_t RoundedQuotient(std::int64_t dividend, std::int64_t divisor) {
  std::int64_t rest = dividend % divisor;
  return dividend / divisor + (rest >= divisor - rest ? 1 : 0);
}

Origin OriginOf(const DeploymentSize& deployment, const ReplicaSetSize& set) {
  const bool knows_max = set.max && *set.max > 0;
  if (set.before_scale && knows_max) return {*set.before_scale, *set.max};
  if (knows_max) return {set.replicas, *set.max};
  if (deployment.status_replicas > 0) return {set.replicas, deployment.status_replicas};
  return {set.replicas, deployment.PodsMax()};  // nothing is known: it stays as it is
}

// By how much a set is off its proportion.
std::int64_t ProportionalChange(const DeploymentSize& deployment, const ReplicaSetSize& set,
                                const Origin& origin, const Plan& plan) {
  if (deployment.replicas == 0) return -set.replicas;
  std::int64_t change = RoundedQuotient(origin.replicas * deployment.PodsMax(), origin.max) - set.replicas;
  // Without the policy Kubernetes lets one set shrink while the Deployment grows, and vice versa.
  // Where terminating pods count, that would take up room twice. A set that got a part of the leftover during
  // the scale keeps it.
  if (!deployment.waits_for_termination && !set.before_scale) return change;
  return plan.change > 0 ? std::max<std::int64_t>(change, 0) : std::min<std::int64_t>(change, 0);
}

// Largest first. Of equals the newer ones grow and the older ones shrink first.
void SortBySize(std::span<const ReplicaSetSize> all, Plan& plan) {
  std::sort(plan.shares.begin(), plan.shares.end(), [&](const Share& x, const Share& y) {
    const ReplicaSetSize& a = all[x.index];
    const ReplicaSetSize& b = all[y.index];
    if (a.replicas != b.replicas) return a.replicas > b.replicas;
    return plan.change < 0 ? IsOlder(a, b) : IsOlder(b, a);
  });
}

// No set changes by more than all together may, from the largest on; what the roundings leave is the
// largest's.
void Distribute(const DeploymentSize& deployment, std::span<const ReplicaSetSize> all, Plan& plan) {
  std::int64_t left = plan.change;
  for (Share& share : plan.shares) {
    const ReplicaSetSize& set = all[share.index];
    share.origin = OriginOf(deployment, set);
    if (left == 0) continue;
    std::int64_t change = ProportionalChange(deployment, set, share.origin, plan);
    share.proportion = plan.change > 0 ? std::min(change, left) : std::max(change, left);
    left -= share.proportion;
  }
  plan.shares.front().leftover = left;
}

// Proportions go before what is left over, so that the sets keep theirs however long it takes. As in
// NewReplicas, a set that is shrinking waits.
void FillRoom(std::span<const ReplicaSetSize> all, std::int64_t room, std::vector<Share>& shares) {
  auto grow = [&](Share& share, std::int64_t lacking) {
    if (all[share.index].Shrinking()) return;
    std::int64_t step = std::min(lacking, room);
    share.step += step;
    room -= step;
  };
  for (Share& share : shares) grow(share, share.proportion);
  grow(shares.front(), shares.front().leftover);
}

ScaledSet AfterStep(const DeploymentSize& deployment, const ReplicaSetSize& set, const Share& share) {
  // What the largest has to give for the others may be more than it has.
  ScaledSet after{.index = share.index,
                  .replicas = std::max<std::int64_t>(set.replicas + share.step, 0),
                  .desired = deployment.replicas,
                  .max = deployment.PodsMax(),
                  .before_scale = std::nullopt};
  // Until its scale is complete a set keeps all that a controller without the policy needs to finish it: to
  // that one the Deployment is being scaled as long as `desired` is another size.
  if (share.step != share.Change()) {
    after.desired = set.desired;
    after.max = share.origin.max;
    after.before_scale = share.origin.replicas;
  }
  return after;
}

}  // namespace

// Mirrors scale() of pkg/controller/deployment/sync.go (1.36) where termination is not waited for. A worked
// example of where it is: 50, 30 and 20 replicas and 15 terminating pods, when 110 pods at most become 130.
// The proportions are 59, 35 and 24, and 12 are left over for the largest. There is room for 130 - 115 = 15:
// 9, 5 and 1, which makes 59, 35 and 21. The second is complete; the first still waits for 12 and the third
// for 3, and they remember 50 and 20 of 110. When 10 more pods are gone, the third gets its 3 and the
// largest 7.
std::vector<ScaledSet> ScaleProportionally(const DeploymentSize& deployment,
                                           std::span<const ReplicaSetSize> all) {
  Plan plan;
  for (std::size_t i = 0; i < all.size(); ++i) {
    plan.replicas += all[i].replicas;
    if (all[i].replicas > 0) plan.shares.push_back({.index = i});
  }
  if (plan.shares.empty()) return {};
  plan.change = (deployment.replicas > 0 ? deployment.PodsMax() : 0) - plan.replicas;
  SortBySize(all, plan);
  Distribute(deployment, all, plan);
  if (deployment.waits_for_termination && plan.change > 0) {
    FillRoom(all, RoomForPods(deployment, all), plan.shares);
  } else {
    for (Share& share : plan.shares) share.step = share.Change();
  }
  std::vector<ScaledSet> scaled;
  for (const Share& share : plan.shares) scaled.push_back(AfterStep(deployment, all[share.index], share));
  return scaled;
}

bool IsScaling(const DeploymentSize& deployment, std::span<const ReplicaSetSize> all) {
  return std::any_of(all.begin(), all.end(), [&](const ReplicaSetSize& set) {
    if (set.replicas == 0) return false;
    return set.before_scale.has_value() || (set.desired && *set.desired != deployment.replicas);
  });
}

}  // namespace terrarium::controllers::deployment

#include "controllers/replicaset/internal/pod_ranking.h"

#include <algorithm>
#include <cmath>
#include <compare>
#include <cstddef>
#include <cstdint>

namespace terrarium::controllers::replicaset {
namespace {

// log2 of the nanoseconds since `then`, the unit of Kubernetes; -1 for the future.
std::int64_t LogAge(api::Time then, api::Time now) {
  const double age = std::chrono::duration<double, std::nano>(now - then).count();
  return age > 0 ? static_cast<std::int64_t>(std::log2(age)) : -1;
}

// The criteria that do not depend on time. Lower is deleted first.
std::weak_ordering CompareState(const RankedPod& x, const RankedPod& y, const RankingRules& rules) {
  const PodFacts& a = *x.facts;
  const PodFacts& b = *y.facts;
  if (auto order = a.assigned <=> b.assigned; order != 0) return order;
  if (auto order = a.phase <=> b.phase; order != 0) return order;
  if (auto order = a.ready <=> b.ready; order != 0) return order;
  if (auto order = a.deletion_cost <=> b.deletion_cost; rules.deletion_cost && order != 0) return order;
  return rules.picked ? x.rank <=> y.rank : y.rank <=> x.rank;
}

struct Entry {
  RankedPod ranked;
  // Logarithmic ages of ready_since and created, in a logarithmic ranking.
  std::int64_t ready_log = 0;
  std::int64_t created_log = 0;
};

class Order {
 public:
  explicit Order(const RankingRules& rules) : rules_(rules) {}

  Entry EntryOf(const RankedPod& ranked) const {
    Entry entry{ranked, 0, 0};
    if (!rules_.logarithmic) return entry;
    if (ranked.facts->ready_since != kNoTime) entry.ready_log = LogAge(ranked.facts->ready_since, rules_.now);
    if (ranked.facts->created != kNoTime) entry.created_log = LogAge(ranked.facts->created, rules_.now);
    return entry;
  }

  std::weak_ordering operator()(const Entry& x, const Entry& y) const {
    if (auto order = CompareState(x.ranked, y.ranked, rules_); order != 0) return order;
    const PodFacts& a = *x.ranked.facts;
    const PodFacts& b = *y.ranked.facts;
    if (a.ready && a.ready_since != b.ready_since)
      return ByTime(x, y, a.ready_since, b.ready_since, x.ready_log, y.ready_log);
    if (auto order = b.restarts <=> a.restarts; order != 0) return order;
    if (auto order = b.sidecar_restarts <=> a.sidecar_restarts; order != 0) return order;
    if (a.created != b.created) return ByTime(x, y, a.created, b.created, x.created_log, y.created_log);
    return ByUid(x, y);
  }

 private:
  std::weak_ordering ByTime(const Entry& x, const Entry& y, api::Time a, api::Time b, std::int64_t a_log,
                            std::int64_t b_log) const {
    if (!rules_.logarithmic || a == kNoTime || b == kNoTime) return b <=> a;
    return a_log == b_log ? ByUid(x, y) : a_log <=> b_log;
  }
  static std::weak_ordering ByUid(const Entry& x, const Entry& y) {
    return x.ranked.pod->header().uid <=> y.ranked.pod->header().uid;
  }

  RankingRules rules_;
};

// The order is not transitive: restarts decide between pods that became ready in the same second, while uids
// decide between one of them and a pod of another second. std::sort may leave its range with such a
// comparison; merging never does.
void MergeSort(std::vector<Entry>& entries, const Order& order) {
  auto less = [&order](const Entry& x, const Entry& y) { return order(x, y) < 0; };
  const std::size_t size = entries.size();
  std::vector<Entry> merged(size);
  for (std::size_t width = 1; width < size; width *= 2) {
    for (std::size_t begin = 0; begin < size; begin += 2 * width) {
      auto first = entries.begin() + static_cast<std::ptrdiff_t>(begin);
      auto middle = entries.begin() + static_cast<std::ptrdiff_t>(std::min(begin + width, size));
      auto last = entries.begin() + static_cast<std::ptrdiff_t>(std::min(begin + 2 * width, size));
      std::merge(first, middle, middle, last, merged.begin() + static_cast<std::ptrdiff_t>(begin), less);
    }
    entries.swap(merged);
  }
}

}  // namespace

void ChooseForDeletion(std::vector<RankedPod>& pods, std::size_t count, const RankingRules& rules) {
  if (count == 0) return;
  // Pods that stay by their state alone need not be sorted.
  auto last = pods.end();
  if (count < pods.size()) {
    auto less = [&rules](const RankedPod& x, const RankedPod& y) { return CompareState(x, y, rules) < 0; };
    auto nth = pods.begin() + static_cast<std::ptrdiff_t>(count - 1);
    std::nth_element(pods.begin(), nth, pods.end(), less);
    const RankedPod border = *nth;
    last = std::partition(nth + 1, pods.end(), [&](const RankedPod& pod) { return !less(border, pod); });
  }
  const Order order(rules);
  std::vector<Entry> entries;
  for (auto pod = pods.begin(); pod != last; ++pod) entries.push_back(order.EntryOf(*pod));
  MergeSort(entries, order);
  for (std::size_t i = 0; i < entries.size(); ++i) pods[i] = entries[i].ranked;
}

}  // namespace terrarium::controllers::replicaset

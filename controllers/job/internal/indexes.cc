#include "controllers/job/internal/indexes.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "api/json_access.h"

namespace terrarium::controllers::job {
namespace {

using api::Json;
using Interval = IndexSet::Interval;

constexpr const char* kIndexVariable = "JOB_COMPLETION_INDEX";
// A name has up to 63 characters, and the apiserver generates the last five.
constexpr std::size_t kGenerateNameMax = 58;

int SizeOf(const Interval& interval) { return interval.last - interval.first + 1; }

// One interval of "0-3,5"; ReadPiece returns nullopt when it is malformed.
struct Piece {
  std::int64_t first;
  std::int64_t last;
};
std::optional<Piece> ReadPiece(std::string_view text) {
  const std::size_t dash = std::min(text.find('-'), text.size());
  std::optional<std::int64_t> first = ParseNumber(text.substr(0, dash));
  if (!first) return std::nullopt;
  if (dash == text.size()) return Piece{*first, *first};
  std::string_view rest = text.substr(dash + 1);
  std::optional<std::int64_t> last = ParseNumber(rest.substr(0, rest.find('-')));
  if (!last) return std::nullopt;
  return Piece{*first, *last};
}

void AddIndexVariable(Json& container) {
  for (const Json& variable : api::ListAt(container, "env"))
    if (api::StringAt(variable, "name") == kIndexVariable) return;
  Json& env = container["env"];
  if (!env.is_array()) env = Json::array();
  const std::string path = std::string("metadata.labels['") + kCompletionIndexKey + "']";
  env.push_back({{"name", kIndexVariable}, {"valueFrom", {{"fieldRef", {{"fieldPath", path}}}}}});
}

struct Split {
  std::vector<const PodFacts*> removed;
  std::vector<const PodFacts*> staying;
};
// Of the active pods of one index, the most advanced one stays.
Split SplitByIndex(std::vector<const PodFacts*> active, int completions) {
  std::stable_sort(active.begin(), active.end(), [](const PodFacts* a, const PodFacts* b) {
    return a->index != b->index ? a->index < b->index : GivenUpBefore(*a, *b);
  });
  Split split;
  for (std::size_t i = 0; i < active.size(); ++i) {
    const int index = active[i]->index;
    const bool valid = index != kUnknownIndex && index < completions;
    const bool last_of_index = i + 1 == active.size() || active[i + 1]->index != index;
    (valid && last_of_index ? split.staying : split.removed).push_back(active[i]);
  }
  return split;
}

}  // namespace

IndexSet::IndexSet(std::initializer_list<int> indexes) : IndexSet(Of(std::vector<int>(indexes))) {}

IndexSet IndexSet::Of(std::vector<int> indexes) {
  std::sort(indexes.begin(), indexes.end());
  IndexSet out;
  for (int index : indexes)
    if (index != kUnknownIndex) out.Append({index, index});
  return out;
}

IndexSet IndexSet::Parse(std::string_view text, int completions) {
  IndexSet out;
  while (!text.empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    std::optional<Piece> piece = ReadPiece(text.substr(0, comma));
    text.remove_prefix(std::min(comma + 1, text.size()));
    if (!piece) continue;
    // The text is ascending, so all further indexes are out of range.
    if (piece->first >= completions) break;
    const int first = static_cast<int>(piece->first);
    const int last = static_cast<int>(std::min<std::int64_t>(piece->last, completions - 1));
    if (last < first) continue;
    IndexSet one;
    one.Append({first, last});
    out.Insert(one);
  }
  return out;
}

void IndexSet::Append(Interval interval) {
  if (intervals_.empty() || interval.first > intervals_.back().last + 1) {
    intervals_.push_back(interval);
    size_ += SizeOf(interval);
  } else if (interval.last > intervals_.back().last) {
    size_ += interval.last - intervals_.back().last;
    intervals_.back().last = interval.last;
  }
}

void IndexSet::Insert(const IndexSet& other) {
  if (other.empty()) return;
  if (empty() || other.intervals_.front().first >= intervals_.back().first) {
    for (const Interval& interval : other.intervals_) Append(interval);
    return;
  }
  IndexSet merged;
  auto mine = intervals_.begin();
  for (const Interval& interval : other.intervals_) {
    while (mine != intervals_.end() && mine->first <= interval.first) merged.Append(*mine++);
    merged.Append(interval);
  }
  while (mine != intervals_.end()) merged.Append(*mine++);
  *this = std::move(merged);
}

bool IndexSet::Has(int index) const {
  auto it = std::lower_bound(intervals_.begin(), intervals_.end(), index,
                             [](const Interval& interval, int value) { return interval.last < value; });
  return it != intervals_.end() && it->first <= index;
}

int IndexSet::SharedWith(const IndexSet& other) const {
  int shared = 0;
  auto a = intervals_.begin();
  auto b = other.intervals_.begin();
  while (a != intervals_.end() && b != other.intervals_.end()) {
    shared += std::max(std::min(a->last, b->last) - std::max(a->first, b->first) + 1, 0);
    if (a->last < b->last) {
      ++a;
    } else {
      ++b;
    }
  }
  return shared;
}

std::string IndexSet::String() const {
  std::string out;
  for (const Interval& interval : intervals_) {
    if (!out.empty()) out += ',';
    out += std::to_string(interval.first);
    if (interval.last == interval.first) continue;
    out += interval.last == interval.first + 1 ? ',' : '-';
    out += std::to_string(interval.last);
  }
  return out;
}

std::vector<int> FirstPendingIndexes(int count, int completions, std::span<const IndexSet* const> taken) {
  // For each set, the first interval that does not end before the candidate.
  std::vector<std::size_t> at(taken.size(), 0);
  std::vector<int> pending;
  int candidate = 0;
  while (candidate < completions && static_cast<int>(pending.size()) < count) {
    int free_until = completions;  // from the candidate on
    for (std::size_t set = 0; set < taken.size(); ++set) {
      const std::vector<Interval>& intervals = taken[set]->intervals();
      while (at[set] < intervals.size() && intervals[at[set]].last < candidate) ++at[set];
      if (at[set] == intervals.size()) continue;
      const Interval& next = intervals[at[set]];
      if (next.first <= candidate) {
        candidate = next.last + 1;
        free_until = candidate;  // check the earlier sets for the new candidate
        break;
      }
      free_until = std::min(free_until, next.first);
    }
    while (candidate < free_until && static_cast<int>(pending.size()) < count) pending.push_back(candidate++);
  }
  return pending;
}

bool FailsItsIndex(const PodFacts& pod, const CountingRules& rules, const FailureVerdict& verdict,
                   std::int32_t backoff_limit_per_index) {
  if (!IsPodFailed(pod, rules)) return false;
  if (verdict.action == FailureAction::kFailIndex) return true;
  return verdict.counts && pod.index_failures >= backoff_limit_per_index;
}

std::map<int, const PodFacts*> PodsKeptForTheirIndex(std::span<const PodFacts* const> pods,
                                                     const CountingRules& rules, const Uncounted& uncounted,
                                                     std::span<const IndexSet* const> settled_or_active) {
  std::map<int, const PodFacts*> kept;
  for (const PodFacts* pod : pods) {
    if (!IsPodFailed(*pod, rules) || !IsUncounted(*pod, rules, uncounted)) continue;
    if (std::any_of(settled_or_active.begin(), settled_or_active.end(),
                    [pod](const IndexSet* set) { return set->Has(pod->index); }))
      continue;
    auto [it, first] = kept.emplace(pod->index, pod);
    if (!first && pod->AllIndexFailures() >= it->second->AllIndexFailures() &&
        pod->finish_time >= it->second->finish_time)
      it->second = pod;
  }
  return kept;
}

std::vector<const PodFacts*> PodsToRemove(std::vector<const PodFacts*> active, std::optional<int> completions,
                                          int at_least) {
  auto [removed, staying] =
      completions ? SplitByIndex(std::move(active), *completions) : Split{{}, std::move(active)};
  const int more = std::min(at_least - static_cast<int>(removed.size()), static_cast<int>(staying.size()));
  if (more <= 0) return std::move(removed);
  std::stable_sort(staying.begin(), staying.end(),
                   [](const PodFacts* a, const PodFacts* b) { return GivenUpBefore(*a, *b); });
  removed.insert(removed.end(), staying.begin(), staying.begin() + more);
  return std::move(removed);
}

IndexFailures NextIndexFailures(const PodFacts* replaced, bool counts) {
  if (replaced == nullptr) return {};
  IndexFailures next{.failures = replaced->index_failures, .ignored = replaced->index_ignored_failures};
  std::int32_t& more = counts ? next.failures : next.ignored;
  // The number comes from an annotation that any client may write.
  if (more < std::numeric_limits<std::int32_t>::max()) ++more;
  return next;
}

std::string IndexedGenerateName(std::string_view job_name, int index) {
  const std::string suffix = "-" + std::to_string(index) + "-";
  return std::string(job_name.substr(0, kGenerateNameMax - suffix.size())) + suffix;
}

void AddCompletionIndexEnv(Json& pod_template) {
  for (const char* list : {"initContainers", "containers"}) {
    if (api::ListAt(pod_template, "spec", list).empty()) continue;
    for (Json& container : pod_template["spec"][list]) AddIndexVariable(container);
  }
}

void SetCompletionIndex(Json& pod_template, std::string_view job_name, int index) {
  const std::string number = std::to_string(index);
  pod_template["metadata"]["annotations"][kCompletionIndexKey] = number;
  pod_template["metadata"]["labels"][kCompletionIndexKey] = number;
  pod_template["spec"]["hostname"] = std::string(job_name) + "-" + number;
}

void SetIndexFailures(Json& pod_template, const IndexFailures& failures) {
  Json& annotations = pod_template["metadata"]["annotations"];
  annotations[kIndexFailuresAnnotation] = std::to_string(failures.failures);
  if (failures.ignored > 0) annotations[kIndexIgnoredFailuresAnnotation] = std::to_string(failures.ignored);
}

}  // namespace terrarium::controllers::job

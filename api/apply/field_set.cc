#include "api/apply/field_set.h"

#include <algorithm>
#include <array>
#include <cstddef>
#include <mutex>

namespace terrarium::api {
namespace {

using Entry = FieldSet::Entry;
using Entries = std::vector<Entry>;

const Entries& EntriesOf(const FieldSetPtr& set) {
  static const Entries kNone;
  return set == nullptr ? kNone : set->entries();
}

// The first entry at or after `from` that is not before `element`, in the logarithm of the distance: sets of
// one object often differ much in size.
Entries::const_iterator SkipTo(Entries::const_iterator from, Entries::const_iterator end,
                               const PathElement& element) {
  std::ptrdiff_t step = 1;
  while (end - from > step && from[step].element < element) {
    from += step;
    step *= 2;
  }
  return std::lower_bound(from, std::min(end, from + step + 1), element,
                          [](const Entry& entry, const PathElement& e) { return entry.element < e; });
}

// Combines two sets level by level. `combine(a, b)` gives the node of an element, where one of the entries
// may be nullptr. With `all` it is asked about the elements that only `b` has, too.
template <typename Combine>
FieldSetPtr Zip(const FieldSetPtr& a, const FieldSetPtr& b, bool all, Combine combine) {
  const Entries& left = EntriesOf(a);
  const Entries& right = EntriesOf(b);
  Entries out;
  bool same = true;
  auto add = [&](const Entry* x, const Entry* y) {
    FieldNode node = combine(x, y);
    same = same && x != nullptr && node.member == x->member && node.below == x->below;
    if (!node.empty()) out.push_back({(x != nullptr ? x : y)->element, node.member, std::move(node.below)});
  };
  auto x = left.begin();
  auto y = right.begin();
  while (x != left.end() || y != right.end()) {
    if (x == left.end() && !all) break;
    const auto order = x == left.end()    ? std::weak_ordering::greater
                       : y == right.end() ? std::weak_ordering::less
                                          : x->element <=> y->element;
    if (order < 0) {
      add(&*x++, nullptr);
    } else if (order == 0) {
      add(&*x++, &*y++);
    } else if (all) {
      add(nullptr, &*y++);
    } else {
      y = SkipTo(y, right.end(), x->element);
    }
  }
  if (same) return a;
  return out.empty() ? nullptr : std::make_shared<const FieldSet>(std::move(out));
}

void Visit(const FieldSetPtr& set, FieldPath& path, const std::function<void(const FieldPath&)>& visit) {
  for (const Entry& entry : EntriesOf(set)) {
    if (!entry.member) continue;
    path.push_back(entry.element);
    visit(path);
    path.pop_back();
  }
  for (const Entry& entry : EntriesOf(set)) {
    if (entry.below == nullptr) continue;
    path.push_back(entry.element);
    Visit(entry.below, path, visit);
    path.pop_back();
  }
}

// The sets that were interned last, by their hashes. Bounded; it affects only memory and speed.
class InternTable {
 public:
  // A larger set stays as it is, so that the table cannot hold much memory that nothing else needs.
  static constexpr std::size_t kBytesMax = 64 * 1024;

  // `set` has interned parts. Returns an equal set that is here, or keeps this one.
  FieldSetPtr Share(const FieldSetPtr& set) {
    const std::size_t hash = HashOf(*set);
    Shard& shard = shards_[hash % kShards];
    std::lock_guard lock(shard.mutex);
    FieldSetPtr& kept = shard.kept[hash / kShards % kKeptPerShard];
    if (kept == nullptr || !IsEqualLevel(*kept, *set)) kept = set;
    return kept;
  }

 private:
  static constexpr std::size_t kShards = 16;
  static constexpr std::size_t kKeptPerShard = 512;
  struct Shard {
    std::mutex mutex;
    std::array<FieldSetPtr, kKeptPerShard> kept;  // guarded by mutex
  };

  static std::size_t HashOf(const FieldSet& set) {
    constexpr std::size_t kFactor = 0x9e3779b97f4a7c15;
    std::size_t hash = set.entries().size();
    for (const Entry& entry : set.entries()) {
      hash = (hash ^ entry.element.Hash()) * kFactor;
      hash = (hash ^ std::hash<const void*>()(entry.below.get()) ^ (entry.member ? 1 : 0)) * kFactor;
      hash ^= hash >> 32;
    }
    return hash;
  }
  static bool IsEqualLevel(const FieldSet& a, const FieldSet& b) {
    return std::equal(a.entries().begin(), a.entries().end(), b.entries().begin(), b.entries().end(),
                      [](const Entry& x, const Entry& y) {
                        return x.member == y.member && x.below == y.below && x.element == y.element;
                      });
  }

  std::array<Shard, kShards> shards_;
};

}  // namespace

FieldSet::FieldSet(std::vector<Entry> entries) : entries_(std::move(entries)) {
  constexpr std::size_t kPunctuation = 8;  // quotes, colon, braces and comma
  for (const Entry& entry : entries_) {
    approximate_bytes_ += entry.element.ApproximateBytes() + kPunctuation;
    if (entry.below != nullptr) approximate_bytes_ += entry.below->approximate_bytes_;
  }
}

const Entry* FieldSet::Find(const PathElement& element) const {
  const auto it =
      std::lower_bound(entries_.begin(), entries_.end(), element,
                       [](const Entry& entry, const PathElement& e) { return entry.element < e; });
  return it != entries_.end() && it->element == element ? &*it : nullptr;
}

void FieldSetBuilder::Add(PathElement element, FieldNode node) {
  if (node.empty()) return;
  sorted_ = sorted_ && (entries_.empty() || entries_.back().element < element);
  entries_.push_back({std::move(element), node.member, std::move(node.below)});
}

FieldSetPtr FieldSetBuilder::Build() {
  if (entries_.empty()) return nullptr;
  if (!sorted_) {
    std::stable_sort(entries_.begin(), entries_.end(),
                     [](const Entry& a, const Entry& b) { return a.element < b.element; });
    Entries united;
    for (Entry& entry : entries_) {
      if (united.empty() || !(united.back().element == entry.element)) {
        united.push_back(std::move(entry));
        continue;
      }
      united.back().member = united.back().member || entry.member;
      united.back().below = Union(united.back().below, entry.below);
    }
    entries_ = std::move(united);
  }
  return std::make_shared<const FieldSet>(std::move(entries_));
}

FieldSetPtr SetOf(std::span<const PathElement> path) {
  if (path.empty()) return nullptr;
  FieldSetPtr below = SetOf(path.subspan(1));
  return std::make_shared<const FieldSet>(Entries{{path[0], below == nullptr, below}});
}

FieldSetPtr Union(const FieldSetPtr& a, const FieldSetPtr& b) {
  if (a == b || b == nullptr) return a;
  if (a == nullptr) return b;
  return Zip(a, b, /*all=*/true, [](const Entry* x, const Entry* y) -> FieldNode {
    if (x == nullptr) return {y->member, y->below};
    if (y == nullptr) return {x->member, x->below};
    return {x->member || y->member, Union(x->below, y->below)};
  });
}

FieldSetPtr UnionOf(std::vector<FieldSetPtr> sets) {
  if (sets.empty()) return nullptr;
  for (std::size_t step = 1; step < sets.size(); step *= 2)
    for (std::size_t i = 0; i + step < sets.size(); i += 2 * step) sets[i] = Union(sets[i], sets[i + step]);
  return std::move(sets[0]);
}

FieldSetPtr Intersection(const FieldSetPtr& a, const FieldSetPtr& b) {
  if (a == b || a == nullptr || b == nullptr) return b == nullptr ? nullptr : a;
  return Zip(a, b, /*all=*/false, [](const Entry* x, const Entry* y) -> FieldNode {
    if (y == nullptr) return {};
    return {x->member && y->member, Intersection(x->below, y->below)};
  });
}

FieldSetPtr Difference(const FieldSetPtr& a, const FieldSetPtr& b) {
  if (a == nullptr || b == nullptr) return a;
  if (a == b) return nullptr;
  return Zip(a, b, /*all=*/false, [](const Entry* x, const Entry* y) -> FieldNode {
    if (y == nullptr) return {x->member, x->below};
    return {x->member && !y->member, Difference(x->below, y->below)};
  });
}

FieldSetPtr RecursiveDifference(const FieldSetPtr& a, const FieldSetPtr& b) {
  if (a == nullptr || b == nullptr) return a;
  if (a == b) return nullptr;
  return Zip(a, b, /*all=*/false, [](const Entry* x, const Entry* y) -> FieldNode {
    if (y == nullptr) return {x->member, x->below};
    if (y->member) return {};
    return {x->member, RecursiveDifference(x->below, y->below)};
  });
}

bool Equal(const FieldSetPtr& a, const FieldSetPtr& b) {
  if (a == b) return true;
  const Entries& x = EntriesOf(a);
  const Entries& y = EntriesOf(b);
  return std::equal(x.begin(), x.end(), y.begin(), y.end(), [](const Entry& p, const Entry& q) {
    return p.member == q.member && p.element == q.element && Equal(p.below, q.below);
  });
}

bool Has(const FieldSetPtr& set, std::span<const PathElement> path) {
  if (set == nullptr || path.empty()) return false;
  const Entry* entry = set->Find(path[0]);
  if (entry == nullptr) return false;
  return path.size() == 1 ? entry->member : Has(entry->below, path.subspan(1));
}

void ForEachPath(const FieldSetPtr& set, const std::function<void(const FieldPath&)>& visit) {
  FieldPath path;
  Visit(set, path, visit);
}

FieldSetPtr Intern(const FieldSetPtr& set) {
  static InternTable table;
  if (set == nullptr || set->ApproximateBytes() > InternTable::kBytesMax) return set;
  Entries shared;
  for (std::size_t i = 0; i < set->entries().size(); ++i) {
    const Entry& entry = set->entries()[i];
    if (entry.below == nullptr) continue;
    FieldSetPtr below = Intern(entry.below);
    if (below == entry.below) continue;
    if (shared.empty()) shared = set->entries();
    shared[i].below = std::move(below);
  }
  return table.Share(shared.empty() ? set : std::make_shared<const FieldSet>(std::move(shared)));
}

}  // namespace terrarium::api

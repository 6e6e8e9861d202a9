#pragma once

// Sets of fields, by which owners of parts of an object are recorded.

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "api/apply/path_element.h"

namespace terrarium::api {

class FieldSet;
// nullptr is the empty set. Sets are immutable and share their parts.
using FieldSetPtr = std::shared_ptr<const FieldSet>;

// A trie of path elements. A path can be in the set without the paths below it, and the other way round.
// Invariant: entries are sorted, and each is a member or has something below it.
class FieldSet {
 public:
  struct Entry {
    PathElement element;
    bool member = false;
    FieldSetPtr below;
  };

  explicit FieldSet(std::vector<Entry> entries);
  const std::vector<Entry>& entries() const { return entries_; }
  // About the length of its text (fields_v1.h).
  std::size_t ApproximateBytes() const { return approximate_bytes_; }
  // nullptr when the set has nothing at or below `element`.
  const Entry* Find(const PathElement& element) const;

 private:
  std::vector<Entry> entries_;
  std::size_t approximate_bytes_ = 0;
};

// What a walker found at a path: whether the path itself is in the set, and what is below it.
struct FieldNode {
  bool member = false;
  FieldSetPtr below;

  bool empty() const { return !member && below == nullptr; }
};

// Collects the entries of one level, in any order.
class FieldSetBuilder {
 public:
  // Adds nothing for an empty node. The nodes of equal elements are united.
  void Add(PathElement element, FieldNode node);
  FieldSetPtr Build();

 private:
  std::vector<FieldSet::Entry> entries_;
  bool sorted_ = true;
};

// A set with one path.
FieldSetPtr SetOf(std::span<const PathElement> path);

// Each returns its first argument itself where that is the result, so that an unchanged set stays shared.
// Union takes the time of both sets, the others that of the smaller one of each level.
FieldSetPtr Union(const FieldSetPtr& a, const FieldSetPtr& b);
// The union of any number of sets, in n log n of their sizes.
FieldSetPtr UnionOf(std::vector<FieldSetPtr> sets);
FieldSetPtr Intersection(const FieldSetPtr& a, const FieldSetPtr& b);
// The paths of `a` that are not in `b`; a path below one of `b` stays.
FieldSetPtr Difference(const FieldSetPtr& a, const FieldSetPtr& b);
// The same, but a path below one of `b` goes too.
FieldSetPtr RecursiveDifference(const FieldSetPtr& a, const FieldSetPtr& b);

bool Equal(const FieldSetPtr& a, const FieldSetPtr& b);
bool Has(const FieldSetPtr& set, std::span<const PathElement> path);
// Calls `visit` for each path of the set: those of a level before those below it, as Kubernetes lists them.
void ForEachPath(const FieldSetPtr& set, const std::function<void(const FieldPath&)>& visit);

// The same set, sharing its parts with equal sets that were seen lately. Thread-safe.
FieldSetPtr Intern(const FieldSetPtr& set);

}  // namespace terrarium::api

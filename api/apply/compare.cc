#include "api/apply/compare.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "api/apply/list_items.h"

namespace terrarium::api {
namespace {

using Kind = ValueType::Kind;

// The nodes of one path in the three sets.
struct Nodes {
  FieldNode removed, modified, added;

  bool empty() const { return removed.empty() && modified.empty() && added.empty(); }
};

struct Builders {
  FieldSetBuilder removed, modified, added;

  void Add(const PathElement& element, Nodes nodes) {
    if (nodes.empty()) return;
    removed.Add(element, std::move(nodes.removed));
    modified.Add(element, std::move(nodes.modified));
    added.Add(element, std::move(nodes.added));
  }
  void BuildInto(Nodes* out) {
    out->removed.below = removed.Build();
    out->modified.below = modified.Build();
    out->added.below = added.Build();
  }
};

bool IsEmptyObject(const Json* value) { return value == nullptr || !value->is_object() || value->empty(); }
bool IsEmptyList(const Json* value) { return value == nullptr || !value->is_array() || value->empty(); }

void Leaf(const Json* from, const Json* to, Nodes* out) {
  if (from == nullptr)
    out->added.member = true;
  else if (to == nullptr)
    out->removed.member = true;
  else if (*from != *to)
    out->modified.member = true;
}

class Walker {
 public:
  explicit Walker(std::string* error) : error_(error) {}

  // Without the fields that are members of `skipped`.
  bool CompareRoots(const ValueType& type, const Json& from, const Json& to, const FieldSetPtr& skipped,
                    Nodes* out) {
    skipped_ = skipped.get();
    return Compare(type, &from, &to, out);
  }

  // One of the values may be nullptr. False when an item cannot be named.
  bool Compare(const ValueType& type, const Json* from, const Json* to, Nodes* out) {
    switch (type.kind()) {
      case Kind::kNone: return true;
      case Kind::kScalar:
      case Kind::kRaw: Leaf(from, to, out); return true;
      case Kind::kList: return Lists(type, from, to, out);
      case Kind::kFree: return Free(type, from, to, out);
      case Kind::kStruct:
      case Kind::kMap: return Objects(type, from, to, out);
    }
    return true;
  }

 private:
  // The value itself appeared or vanished, besides what is below it.
  static void MarkSelf(const Json* from, const Json* to, Nodes* out) {
    if (from == nullptr) out->added.member = true;
    if (to == nullptr) out->removed.member = true;
  }

  bool Objects(const ValueType& type, const Json* from, const Json* to, Nodes* out) {
    if (type.IsAtomicObject() || (IsEmptyObject(from) && IsEmptyObject(to))) return Leaf(from, to, out), true;
    static const Json::object_t kNone;
    const auto& left = IsEmptyObject(from) ? kNone : from->get_ref<const Json::object_t&>();
    const auto& right = IsEmptyObject(to) ? kNone : to->get_ref<const Json::object_t&>();
    Builders builders;
    const FieldSet* skipped = std::exchange(skipped_, nullptr);  // of the root alone
    auto compare = [&](const MemberName& name, const Json* x, const Json* y) {
      Nodes nodes;
      if (skipped != nullptr) {
        const FieldSet::Entry* entry = skipped->Find(PathElement::Field(name));
        if (entry != nullptr && entry->member) return true;
      }
      if (!Compare(type.Member(name), x, y, &nodes)) return false;
      if (!nodes.empty()) builders.Add(PathElement::Field(name), std::move(nodes));
      return true;
    };
    auto x = left.begin();
    auto y = right.begin();
    while (x != left.end() || y != right.end()) {
      bool named = true;
      if (y == right.end() || (x != left.end() && x->first.text() < y->first.text())) {
        named = compare(x->first, &x->second, nullptr);
        ++x;
      } else if (x == left.end() || y->first.text() < x->first.text()) {
        named = compare(y->first, nullptr, &y->second);
        ++y;
      } else {
        named = compare(x->first, &x->second, &y->second);
        ++x, ++y;
      }
      if (!named) return false;
    }
    builders.BuildInto(out);
    MarkSelf(from, to, out);
    return true;
  }

  // Objects are granular, all else is a leaf; a value may turn from one into the other.
  bool Free(const ValueType& type, const Json* from, const Json* to, Nodes* out) {
    const bool object_before = from != nullptr && from->is_object();
    const bool object_after = to != nullptr && to->is_object();
    if (!object_before && !object_after) return Leaf(from, to, out), true;
    if (!Objects(type, from, to, out)) return false;
    if (from != nullptr && to != nullptr && object_before != object_after) out->modified.member = true;
    return true;
  }

  bool Lists(const ValueType& type, const Json* from, const Json* to, Nodes* out) {
    if (!type.IsAssociativeList() || (IsEmptyList(from) && IsEmptyList(to))) return Leaf(from, to, out), true;
    if (from != nullptr && to != nullptr && *from == *to) return true;
    auto left = SortedListItems(type, from, error_);
    if (!left) return false;
    auto right = SortedListItems(type, to, error_);
    if (!right) return false;
    Builders builders;
    std::size_t i = 0, j = 0;
    while (i < left->size() || j < right->size()) {
      const bool from_left =
          j == right->size() || (i < left->size() && (*left)[i].element <= (*right)[j].element);
      const PathElement element = from_left ? (*left)[i].element : (*right)[j].element;
      const std::span<const ListItem> before = TakeRun(*left, element, &i);
      const std::span<const ListItem> after = TakeRun(*right, element, &j);
      Nodes nodes;
      if (!Items(type.Element(), before, after, &nodes)) return false;
      builders.Add(element, std::move(nodes));
    }
    builders.BuildInto(out);
    MarkSelf(from, to, out);
    return true;
  }

  // The items from *at on that have this element.
  static std::span<const ListItem> TakeRun(const std::vector<ListItem>& items, const PathElement& element,
                                           std::size_t* at) {
    const std::size_t begin = *at;
    while (*at < items.size() && items[*at].element == element) ++*at;
    return std::span(items).subspan(begin, *at - begin);
  }

  // Items of one element. Several of them count as one value.
  bool Items(const ValueType& type, std::span<const ListItem> before, std::span<const ListItem> after,
             Nodes* out) {
    const Json* from = before.empty() ? nullptr : before[0].value;
    const Json* to = after.empty() ? nullptr : after[0].value;
    if (before.size() <= 1 && after.size() <= 1) return Compare(type, from, to, out);
    if (before.size() >= 2 && after.size() >= 2) {
      auto same = [](const ListItem& a, const ListItem& b) { return *a.value == *b.value; };
      out->modified.member = !std::equal(before.begin(), before.end(), after.begin(), after.end(), same);
      return true;
    }
    if (before.size() >= 2) {
      out->removed.member = true;
      return to == nullptr || Compare(type, nullptr, to, out);
    }
    out->added.member = true;
    return from == nullptr || Compare(type, from, nullptr, out);
  }

  std::string* error_;
  const FieldSet* skipped_ = nullptr;
};

}  // namespace

std::optional<Comparison> Compare(const ValueType& type, const Json& from, const Json& to, std::string* error,
                                  const FieldSetPtr& skipped) {
  Nodes nodes;
  if (!Walker(error).CompareRoots(type, from, to, skipped, &nodes)) return std::nullopt;
  return Comparison{std::move(nodes.removed.below), std::move(nodes.modified.below),
                    std::move(nodes.added.below)};
}

Comparison Without(Comparison comparison, const FieldSetPtr& fields) {
  return {RecursiveDifference(comparison.removed, fields), RecursiveDifference(comparison.modified, fields),
          RecursiveDifference(comparison.added, fields)};
}

}  // namespace terrarium::api

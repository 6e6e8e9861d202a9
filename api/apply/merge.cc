#include "api/apply/merge.h"

#include <map>
#include <utility>
#include <vector>

#include "api/apply/list_items.h"

namespace terrarium::api {
namespace {

using Kind = ValueType::Kind;

bool IsEmptyObject(const Json* value) { return value == nullptr || !value->is_object() || value->empty(); }
bool IsEmptyList(const Json* value) { return value == nullptr || !value->is_array() || value->empty(); }

struct ByElement {
  bool operator()(const PathElement& a, const PathElement& b) const { return a < b; }
};

class Merger {
 public:
  explicit Merger(std::string* error) : error_(error) {}

  // One of the values may be nullptr. *out is nullopt when nothing is left. False on failure.
  bool Merge(const ValueType& type, const Json* object, const Json* config, std::optional<Json>* out) {
    switch (type.kind()) {
      case Kind::kList: return Lists(type, object, config, out);
      case Kind::kStruct:
      case Kind::kMap: return Objects(type, object, config, out);
      case Kind::kFree: {
        const Json& decisive = config != nullptr ? *config : *object;
        if (!decisive.is_object() && !decisive.is_null()) break;
        return Objects(type, object, config, out);
      }
      default: break;
    }
    return Leaf(object, config, out);
  }

 private:
  static bool Leaf(const Json* object, const Json* config, std::optional<Json>* out) {
    *out = config != nullptr ? *config : *object;
    return true;
  }

  bool Objects(const ValueType& type, const Json* object, const Json* config, std::optional<Json>* out) {
    if (type.IsAtomicObject() || (IsEmptyObject(object) && IsEmptyObject(config)))
      return Leaf(object, config, out);
    static const Json::object_t kNone;
    const auto& left = IsEmptyObject(object) ? kNone : object->get_ref<const Json::object_t&>();
    const auto& right = IsEmptyObject(config) ? kNone : config->get_ref<const Json::object_t&>();
    Json merged = Json::object();
    auto& members = merged.get_ref<Json::object_t&>();
    auto add = [&](const MemberName& name, const Json* x, const Json* y) {
      std::optional<Json> value;
      if (!Merge(type.Member(name), x, y, &value)) return false;
      if (value) members.AppendUnsorted(name.text()) = std::move(*value);
      return true;
    };
    auto x = left.begin();
    auto y = right.begin();
    while (x != left.end() || y != right.end()) {
      bool fine = true;
      if (y == right.end() || (x != left.end() && x->first.text() < y->first.text())) {
        fine = add(x->first, &x->second, nullptr);
        ++x;
      } else if (x == left.end() || y->first.text() < x->first.text()) {
        fine = add(y->first, nullptr, &y->second);
        ++y;
      } else {
        fine = add(x->first, &x->second, &y->second);
        ++x, ++y;
      }
      if (!fine) return false;
    }
    if (!merged.empty()) *out = std::move(merged);
    return true;
  }

  using Index = std::map<PathElement, const Json*, ByElement>;

  bool Lists(const ValueType& type, const Json* object, const Json* config, std::optional<Json>* out) {
    if (!type.IsAssociativeList() || (IsEmptyList(object) && IsEmptyList(config)))
      return Leaf(object, config, out);
    auto right = ListItems(type, config, error_);
    if (!right) return false;
    Index listed;
    for (const ListItem& item : *right) {
      if (listed.emplace(item.element, item.value).second) continue;
      *error_ = "duplicate entries for key " + item.element.ToString();
      return false;
    }
    auto left = ListItems(type, object, error_);
    if (!left) return false;
    // Items that the object has several times are not merged with the configuration's.
    static const Json kNull;
    Index present;
    for (const ListItem& item : *left)
      if (auto [it, added] = present.emplace(item.element, item.value); !added) it->second = &kNull;

    Json merged = Json::array();
    if (!Interleave(type.Element(), *left, *right, {present, listed}, &merged)) return false;
    if (!merged.empty()) *out = std::move(merged);
    return true;
  }

  struct Indexes {
    const Index& present;  // in the object
    const Index& listed;   // in the configuration
  };

  // Appends the items of both lists. Each item that only the object has stays behind the item that is before
  // it; those of the configuration come in its order.
  bool Interleave(const ValueType& type, const std::vector<ListItem>& left,
                  const std::vector<ListItem>& right, const Indexes& indexes, Json* merged) {
    std::vector<const PathElement*> shared;  // the configuration's items that the object has
    for (const ListItem& item : right)
      if (indexes.present.contains(item.element)) shared.push_back(&item.element);
    std::size_t next = 0;  // in `shared`
    std::map<PathElement, bool, ByElement> done;
    auto take_listed = [&](const ListItem& item) {
      const auto found = indexes.present.find(item.element);
      done[item.element] = true;
      return Append(type, found != indexes.present.end() ? found->second : nullptr, item.value, merged);
    };
    std::size_t i = 0, j = 0;
    while (i < left.size() || j < right.size()) {
      if (i < left.size() && j < right.size()) {
        const PathElement& element = left[i].element;
        if (element == right[j].element) {
          if (!take_listed(right[j])) return false;
          ++i, ++j, ++next;
          continue;
        }
        if (indexes.listed.contains(element) && next < shared.size() && !(*shared[next] == element)) {
          ++i;  // listed, but its turn comes later
          continue;
        }
      }
      if (i < left.size()) {
        if (!indexes.listed.contains(left[i].element)) {
          if (!Append(type, left[i].value, nullptr, merged)) return false;
          ++i;
          continue;
        }
        if (done.contains(left[i].element)) ++i;
      }
      if (j < right.size()) {
        if (!take_listed(right[j])) return false;
        if (next < shared.size() && *shared[next] == right[j].element) ++next;
        ++j;
      }
    }
    return true;
  }

  bool Append(const ValueType& type, const Json* object, const Json* config, Json* list) {
    std::optional<Json> item;
    if (!Merge(type, object, config, &item)) return false;
    if (item) list->push_back(std::move(*item));
    return true;
  }

  std::string* error_;
};

Json RemoveFromList(const ValueType& type, const Json& list, const FieldSet& gone) {
  if (!list.is_array() || !type.IsAssociativeList()) return nullptr;
  Json kept = Json::array();
  std::string error;
  for (const Json& item : list) {
    const auto element = type.ElementOf(item, &error);
    const FieldSet::Entry* entry = element ? gone.Find(*element) : nullptr;
    if (entry != nullptr && entry->member) continue;
    kept.push_back(entry != nullptr ? RemoveItems(type.Element(), item, entry->below) : item);
  }
  return kept.empty() ? Json(nullptr) : kept;
}

Json RemoveFromObject(const ValueType& type, const Json& object, const FieldSet& gone) {
  if (!object.is_object() || type.IsAtomicObject()) return nullptr;
  Json kept = Json::object();
  auto& members = kept.get_ref<Json::object_t&>();
  for (const auto& member : object.get_ref<const Json::object_t&>()) {
    const FieldSet::Entry* entry = gone.Find(PathElement::Field(member.first));
    if (entry != nullptr && entry->member) continue;
    members.AppendUnsorted(member.first.text()) =
        entry != nullptr ? RemoveItems(type.Member(member.first), member.second, entry->below)
                         : member.second;
  }
  return kept.empty() ? Json(nullptr) : kept;
}

}  // namespace

std::optional<Json> Merge(const ValueType& type, const Json& object, const Json& config, std::string* error) {
  std::optional<Json> out;
  if (!Merger(error).Merge(type, &object, &config, &out)) return std::nullopt;
  return out ? std::move(*out) : Json::object();
}

Json RemoveItems(const ValueType& type, const Json& object, const FieldSetPtr& gone) {
  if (gone == nullptr) return object;
  switch (type.kind()) {
    case Kind::kNone:
    case Kind::kScalar: return object;
    case Kind::kList: return RemoveFromList(type, object, *gone);
    case Kind::kRaw: return object.is_structured() ? Json(nullptr) : object;
    case Kind::kFree:
      if (!object.is_object()) return object.is_array() ? Json(nullptr) : object;
      return RemoveFromObject(type, object, *gone);
    case Kind::kStruct:
    case Kind::kMap: return RemoveFromObject(type, object, *gone);
  }
  return object;
}

FieldSetPtr WithNamedFields(const ValueType& type, const FieldSetPtr& set) {
  if (set == nullptr) return nullptr;
  std::vector<FieldSet::Entry> entries = set->entries();
  bool same = true;
  for (FieldSet::Entry& entry : entries) {
    if (entry.below == nullptr) continue;
    ValueType below;
    if (entry.element.kind() == PathElement::Kind::kField) {
      below = type.Member(entry.element.member_name());
      if (!entry.member && type.Declares(entry.element.member_name())) entry.member = true, same = false;
    } else if (entry.element.kind() == PathElement::Kind::kKey) {
      below = type.kind() == Kind::kList ? type.Element() : ValueType();
    }
    FieldSetPtr named = WithNamedFields(below, entry.below);
    same = same && named == entry.below;
    entry.below = std::move(named);
  }
  return same ? set : std::make_shared<const FieldSet>(std::move(entries));
}

}  // namespace terrarium::api

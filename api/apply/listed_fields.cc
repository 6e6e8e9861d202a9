#include "api/apply/listed_fields.h"

#include <utility>

#include "api/apply/list_items.h"

namespace terrarium::api {
namespace {

using Kind = ValueType::Kind;

class Walker {
 public:
  explicit Walker(std::string* error) : error_(error) {}

  // False when an item cannot be named.
  bool Node(const ValueType& type, const Json& value, FieldNode* out) {
    switch (type.kind()) {
      case Kind::kNone: return true;
      case Kind::kScalar:
      case Kind::kRaw: out->member = true; return true;
      case Kind::kList: return List(type, value, out);
      case Kind::kFree:
        if (!value.is_object() && !value.is_null()) return out->member = true, true;
        return Object(type, value, out);
      case Kind::kStruct:
      case Kind::kMap: return Object(type, value, out);
    }
    return true;
  }

 private:
  bool Object(const ValueType& type, const Json& value, FieldNode* out) {
    if (type.IsAtomicObject()) return out->member = true, true;
    const auto* members = value.get_ptr<const Json::object_t*>();
    if (members == nullptr) return true;
    FieldSetBuilder builder;
    for (const auto& member : *members) {
      FieldNode node;
      if (!Node(type.Member(member.first), member.second, &node)) return false;
      const bool empty = member.second.is_null() || (member.second.is_object() && member.second.empty());
      if (empty || !type.Declares(member.first)) node.member = true;
      builder.Add(PathElement::Field(member.first), std::move(node));
    }
    out->below = builder.Build();
    return true;
  }

  // An item that a list has several times is listed as a whole.
  bool List(const ValueType& type, const Json& value, FieldNode* out) {
    if (!type.IsAssociativeList()) return out->member = true, true;
    auto items = SortedListItems(type, &value, error_);
    if (!items) return false;
    FieldSetBuilder builder;
    for (std::size_t i = 0, end = 0; i < items->size(); i = end) {
      for (end = i + 1; end < items->size() && (*items)[end].element == (*items)[i].element;) ++end;
      FieldNode node{true, nullptr};
      if (end == i + 1 && !Node(type.Element(), *(*items)[i].value, &node)) return false;
      node.member = true;
      builder.Add(std::move((*items)[i].element), std::move(node));
    }
    out->below = builder.Build();
    return true;
  }

  std::string* error_;
};

}  // namespace

std::optional<FieldSetPtr> ListedFields(const ValueType& type, const Json& document, std::string* error) {
  FieldNode node;
  if (!Walker(error).Node(type, document, &node)) return std::nullopt;
  return std::move(node.below);
}

}  // namespace terrarium::api

#pragma once

// What the schema declares about a value as server-side apply sees it: which parts of it have owners of their
// own.

#include <string>
#include <string_view>
#include <vector>

#include "api/apply/path_element.h"
#include "api/schema/schema.h"

namespace terrarium::api {

// A value type, as cheap to copy as two pointers. The schema outlives it.
class ValueType {
 public:
  enum class Kind {
    kNone,    // not declared
    kScalar,  // owned as a whole
    kStruct,
    kMap,
    kList,
    kRaw,   // any value, owned as a whole
    kFree,  // any value: objects are granular, everything else is owned as a whole
  };
  enum class Scalar { kNumber, kString, kBool, kAny };

  ValueType() = default;
  static ValueType Of(const Message& message);
  static ValueType Of(const Field& field);

  Kind kind() const { return kind_; }
  // The field whose value, or whose element, has this type; nullptr for a message.
  const Field* field() const { return field_; }
  const Message* message() const { return message_; }  // of a struct

  // Objects: whether the whole object has one owner.
  bool IsAtomicObject() const;
  // Whether `name` is a declared field (kStruct); the names of all other objects are free.
  bool Declares(const MemberName& name) const { return FindField(name) != nullptr; }
  // The type of a member; kNone when a struct does not declare it.
  ValueType Member(const MemberName& name) const;

  // Lists: whether items have owners of their own, found by their keys or by their value.
  bool IsAssociativeList() const;
  bool IsSet() const;
  ValueType Element() const;
  // The element that names an item of an associative list. On failure returns nullopt and sets *error to
  // Kubernetes' text.
  std::optional<PathElement> ElementOf(const Json& item, std::string* error) const;

  Scalar scalar() const;  // kScalar

 private:
  ValueType(Kind kind, const Field* field, const Message* message)
      : kind_(kind), field_(field), message_(message) {}
  static ValueType OfElement(const Field& field);
  const Field* FindField(const MemberName& name) const;
  std::optional<PathElement> KeysOf(const Json& item, std::string* error) const;

  Kind kind_ = Kind::kNone;
  const Field* field_ = nullptr;
  const Message* message_ = nullptr;
};

}  // namespace terrarium::api

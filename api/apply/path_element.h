#pragma once

// One step of a path to a field, as managedFields names it.

#include <compare>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"
#include "api/member_name.h"

namespace terrarium::api {

// A member of a struct or map, or an item of a list: the item with some keys (list type map), with a value
// (list type set), or at an index. A value type that is cheap to copy.
class PathElement {
 public:
  enum class Kind : std::uint8_t { kField, kKey, kValue, kIndex };

  static PathElement Field(MemberName name) { return PathElement(std::move(name)); }
  static PathElement Field(std::string_view name) { return PathElement(MemberName(name)); }
  // `keys` is an object with the values of the list's keys, e.g. {"name": "main"}.
  static PathElement Key(Json keys);
  static PathElement Value(Json value);
  static PathElement Index(std::int64_t index);

  Kind kind() const { return kind_; }
  // Of a field.
  const std::string& name() const { return name_.text(); }
  const MemberName& member_name() const { return name_; }
  // Of all others: the object of keys, the value or the index.
  const Json& value() const { return *value_; }

  // About the length of its text.
  std::size_t ApproximateBytes() const;
  // As FieldsV1 writes it: f:spec, k:{"name":"main"}, v:"x", i:0.
  void AppendTo(std::string& out) const;
  // Reads that form. On failure returns nullopt; *error is Kubernetes' text, or empty for a kind of element
  // that is not known, which readers skip.
  static std::optional<PathElement> Parse(std::string_view text, std::string* error);
  // As messages name it: .spec, [name="main"], [="x"], [0].
  std::string ToString() const;

  // The order in which FieldsV1 lists elements: fields, keys, values, indexes.
  std::weak_ordering operator<=>(const PathElement& other) const;
  bool operator==(const PathElement& other) const { return (*this <=> other) == 0; }
  // Equal elements mostly have equal hashes: 80 and 80.0 do not.
  std::size_t Hash() const;

 private:
  explicit PathElement(MemberName name) : name_(std::move(name)) {}
  PathElement(Kind kind, Json value);

  MemberName name_;
  std::shared_ptr<const Json> value_;  // nullptr: a field
  std::uint32_t value_bytes_ = 0;      // about
  Kind kind_ = Kind::kField;
};

using FieldPath = std::vector<PathElement>;

// .spec.template.spec.containers[name="main"].image
std::string PathText(std::span<const PathElement> path);

// The order of values in FieldsV1: numbers, strings, booleans, lists, objects, null.
std::weak_ordering CompareJson(const Json& a, const Json& b);

}  // namespace terrarium::api

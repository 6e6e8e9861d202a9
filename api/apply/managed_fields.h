#pragma once

// Who owns which fields of an object: metadata.managedFields.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/apply/field_set.h"
#include "api/base/clock.h"
#include "api/json.h"
#include "api/member_name.h"

namespace terrarium::api {

// What distinguishes an entry of managedFields from the others.
struct FieldManager {
  MemberName name{std::string_view()};
  MemberName api_version{std::string_view()};
  MemberName subresource{std::string_view()};  // empty: the main resource
  bool applied = false;                        // operation Apply; otherwise Update

  // An applier is the same manager in every version.
  bool IsSame(const FieldManager& other) const;
  // The order and the words in which conflicts name managers: "me" with subresource "status" using v1.
  std::string Identifier() const;
  std::string ToString() const;
};

struct ManagedEntry {
  FieldManager manager;
  std::optional<Time> time;  // in whole seconds
  FieldSetPtr fields;
};

// All entries of an object. Each manager is there once and owns something.
class ManagedFields {
 public:
  bool empty() const { return entries_.empty(); }
  const std::vector<ManagedEntry>& entries() const { return entries_; }
  std::vector<ManagedEntry>& entries() { return entries_; }

  // nullptr: owns nothing.
  ManagedEntry* Find(const FieldManager& manager);
  const ManagedEntry* Find(const FieldManager& manager) const;

  // Brings the entries into the order in which Kubernetes shows them.
  void Sort();
  // The same entries in the same order; the times may differ.
  bool IsSameButForTimes(const ManagedFields& other) const;
  bool operator==(const ManagedFields& other) const;
  // About the length of its text.
  std::size_t ApproximateBytes() const;

 private:
  std::vector<ManagedEntry> entries_;
};

// nullptr: the object has no owners.
using ManagedFieldsPtr = std::shared_ptr<const ManagedFields>;

// Reads metadata.managedFields. Returns nullopt for an entry that Kubernetes refuses, and sets *error.
std::optional<ManagedFields> ReadManagedFields(const Json& list, std::string* error);
// True for a list that resets the owners: [] or [{}].
bool IsReset(const Json& list);

Json ManagedFieldsJson(const ManagedFields& managed);
void AppendManagedFields(const ManagedFields& managed, std::string& out);

}  // namespace terrarium::api

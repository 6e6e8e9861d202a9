#pragma once

// Summarizes for users the changes between two states of an object.

#include <cstddef>
#include <string>
#include <vector>

#include "api/json.h"

namespace terrarium::testbed {

struct FieldChange {
  std::string path;  // "status.replicas", "status.conditions[Ready].status", "metadata.labels[app.io/x]"
  api::Json from;    // null: the field was absent
  api::Json to;      // null: the field was removed

  // "status.replicas 3 -> 4"
  std::string String() const;
  friend bool operator==(const FieldChange&, const FieldChange&) = default;
};

// Orders changes by depth, shallow fields first, with metadata after everything else; the start of a deletion
// comes first. Matches list items by `type` or `name` if every item has one. Leaves out fields that change
// with every write or only state a time: resourceVersion, managedFields, the times of conditions, the
// annotation of kubectl apply.
std::vector<FieldChange> ChangesBetween(const api::Json& before, const api::Json& after);

// All changes in one line. From the sixth on, changes are only counted.
std::string Summary(const std::vector<FieldChange>& changes);

// The main facts about a created or deleted object: its owner, replicas, node and phase.
std::string Highlights(const api::Json& object);

}  // namespace terrarium::testbed

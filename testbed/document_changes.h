#pragma once

// What has changed between two states of an object, in a few words for people.

#include <cstddef>
#include <string>
#include <vector>

#include "api/json.h"

namespace terrarium::testbed {

struct FieldChange {
  std::string path;  // "status.replicas", "status.conditions[Ready].status", "metadata.labels[app.io/x]"
  api::Json from;    // null: it was not there
  api::Json to;      // null: it has gone

  // "status.replicas 3 -> 4"
  std::string String() const;
  friend bool operator==(const FieldChange&, const FieldChange&) = default;
};

// What lies deep comes last, and metadata after spec and status. Items of lists are told apart by their type or name where
// they have one. Left out is what changes with every write or says only when: resourceVersion, managedFields, times of
// conditions, the annotation of kubectl apply.
std::vector<FieldChange> ChangesBetween(const api::Json& before, const api::Json& after);

// All in one line; from the sixth on they are only counted.
std::string Summary(const std::vector<FieldChange>& changes);

// What is worth knowing of an object that has just come: its owner, its replicas, its node, its phase.
std::string Highlights(const api::Json& object);

}  // namespace terrarium::testbed

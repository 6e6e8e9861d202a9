#pragma once

// Follows one object through every revision and stores the first revision at which a condition held, so that
// it misses no state between two calls.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "api/base/status.h"
#include "storage/store.h"
#include "testbed/control_plane/object_condition.h"

namespace terrarium::testbed {

class ControlPlane;

// Completes a key from a user. An empty namespace becomes "default" if the resource is namespaced. 404 for a
// resource that is not served, 400 for a namespace of a cluster-scoped resource.
api::Result<storage::ObjectKey> KeyOfNamed(ControlPlane& control_plane, storage::ObjectKey named);

class ObjectWatch {
 public:
  // Fails as KeyOfNamed() does.
  static api::Result<std::unique_ptr<ObjectWatch>> Make(ControlPlane& control_plane, storage::ObjectKey key,
                                                        ObjectCondition condition);

  // Processes all events since the last call. Once true, always true.
  bool Held();
  std::int64_t revision() const { return revision_; }  // at which the condition held

 private:
  ObjectWatch(storage::Store& store, storage::ObjectKey key, ObjectCondition condition);
  void Evaluate(const api::ObjectPtr& object, std::int64_t revision);
  // After an overflow: watches again, beginning with the current state.
  void Restart();

  storage::Store& store_;
  storage::ObjectKey key_;
  ObjectCondition condition_;
  std::unique_ptr<storage::Watch> watch_;
  std::vector<storage::Event> taken_;
  bool held_ = false;
  std::int64_t revision_ = 0;
};

}  // namespace terrarium::testbed

#pragma once

// Follows one object through every revision and remembers the first at which a condition held, so that no state is
// missed however much happens between two looks.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "api/base/status.h"
#include "storage/store.h"
#include "testbed/object_condition.h"

namespace terrarium::testbed {

// The object that somebody named: without a namespace it is in "default", where its kind has any. 404 for a resource
// that is not served, 400 for a namespace where there are none.
api::Result<storage::ObjectKey> KeyOfNamed(storage::ObjectKey named);

class ObjectWatch {
 public:
  // Fails as KeyOfNamed() does.
  static api::Result<std::unique_ptr<ObjectWatch>> Make(storage::Store& store, storage::ObjectKey key,
                                                        ObjectCondition condition);

  // Looks at what has happened since the last call. Once true, always true.
  bool Held();
  std::int64_t revision() const { return revision_; }  // at which it held

 private:
  ObjectWatch(storage::Store& store, storage::ObjectKey key, ObjectCondition condition);
  void Look(const api::ObjectPtr& object, std::int64_t revision);
  // After an overflow: what there is now.
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

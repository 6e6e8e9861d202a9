#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "api/base/clock.h"
#include "api/object_name.h"

namespace terrarium::testbed::invariants {

struct ObjectRef {
  std::string resource;
  api::ObjectName name;
  friend bool operator==(const ObjectRef&, const ObjectRef&) = default;
};

// A violated invariant.
struct Violation {
  std::int64_t revision = 0;
  api::Time time{};
  std::string rule;                // "deployment-bound", ...
  std::vector<ObjectRef> objects;  // the objects concerned, the main one first
  std::string text;                // the revision, the expected and the actual counts

  // One line for messages.
  std::string String() const;
};

using Report = std::function<void(const Violation&)>;

}  // namespace terrarium::testbed::invariants

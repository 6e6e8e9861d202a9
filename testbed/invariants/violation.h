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

// Something that must never be, and was.
struct Violation {
  std::int64_t revision = 0;
  api::Time time{};
  std::string rule;                // "deployment-bound", ...
  std::vector<ObjectRef> objects;  // those concerned, the one that the rule is about first
  std::string text;                // at which revision, what was expected and what was counted

  // One line for people.
  std::string String() const;
};

using Report = std::function<void(const Violation&)>;

}  // namespace terrarium::testbed::invariants

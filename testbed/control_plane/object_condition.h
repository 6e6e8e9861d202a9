#pragma once

// A condition on one object, with the syntax of `kubectl wait --for`.
//
//   create, delete                          the object exists, or does not
//   condition=Ready, condition=Ready=False  an entry of status.conditions; True by default
//   jsonpath={.status.phase}=Running        a field has that value; without a value: it exists
//
// Paths are as in testbed/control_plane/field_path.h. Numbers and booleans are compared as they are printed.

#include <string>

#include "api/base/status.h"
#include "api/json.h"
#include "testbed/control_plane/field_path.h"

namespace terrarium::testbed {

class ObjectCondition {
 public:
  // 400 with a description for malformed text.
  static api::Result<ObjectCondition> Parse(const std::string& text);

  // `object` is nullptr when absent.
  bool Holds(const api::Json* object) const;

 private:
  enum class Kind { kCreate, kDelete, kCondition, kPath };

  Kind kind_ = Kind::kCreate;
  std::string name_;   // of the condition
  std::string value_;  // of the condition or field
  bool any_value_ = false;
  FieldPath path_;
};

}  // namespace terrarium::testbed

#pragma once

// What a test waits for: a condition on one object, in the words of `kubectl wait --for`.
//
//   create, delete                          the object is there, or is not
//   condition=Ready, condition=Ready=False  an entry of status.conditions; True unless said otherwise
//   jsonpath={.status.phase}=Running        a field has that value; without a value: it is there
//
// Paths are as in testbed/control_plane/field_path.h. Numbers and booleans are compared as they are printed.

#include <string>

#include "api/base/status.h"
#include "api/json.h"
#include "testbed/control_plane/field_path.h"

namespace terrarium::testbed {

class ObjectCondition {
 public:
  // 400 that says what is wrong with the text.
  static api::Result<ObjectCondition> Parse(const std::string& text);

  // `object` is nullptr when it is not there.
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

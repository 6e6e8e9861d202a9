#pragma once

// What a test waits for: a condition on one object, in the words of `kubectl wait --for`.
//
//   create, delete                          the object is there, or is not
//   condition=Ready, condition=Ready=False  an entry of status.conditions; True unless said otherwise
//   jsonpath={.status.phase}=Running        a field has that value; without a value: it is there
//
// Paths know members, indexes ([0]) and the filter [?(@.type=="Ready")]. Numbers and booleans are compared as they are
// printed.

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "api/base/status.h"
#include "api/json.h"

namespace terrarium::testbed {

class ObjectCondition {
 public:
  // 400 that says what is wrong with the text.
  static api::Result<ObjectCondition> Parse(const std::string& text);

  // `object` is nullptr when it is not there.
  bool Holds(const api::Json* object) const;

 private:
  struct Member {
    std::string name;
  };
  struct Index {
    std::size_t at;
  };
  struct Filter {
    std::string name;
    std::string value;
  };
  using Step = std::variant<Member, Index, Filter>;
  enum class Kind { kCreate, kDelete, kCondition, kPath };

  static api::Result<std::vector<Step>> ParsePath(std::string_view text);
  static api::Result<Step> ParseBracket(std::string_view inside);
  static const api::Json* Follow(const api::Json& object, const std::vector<Step>& path);

  Kind kind_ = Kind::kCreate;
  std::string name_;   // of the condition
  std::string value_;  // of the condition or field
  bool any_value_ = false;
  std::vector<Step> path_;
};

}  // namespace terrarium::testbed

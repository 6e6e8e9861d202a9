#pragma once

// A path to a field of a document, as kubectl's jsonpath writes it:
//
//   .status.conditions[?(@.type=="Ready")].status
//
// It supports members (.name, or ["name.with/dots"]), indexes ([0]) and the filter above, which selects the
// first match.

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "api/base/status.h"
#include "api/json.h"

namespace terrarium::testbed {

class FieldPath {
 public:
  // The leading dot is optional. 400 with a description for malformed text.
  static api::Result<FieldPath> Parse(std::string_view text);

  // nullptr when absent.
  const api::Json* Find(const api::Json& object) const;

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

  static api::Result<Step> ParseBracket(std::string_view inside);
  static const api::Json* Follow(const api::Json& at, const Step& step);

  std::vector<Step> steps_;
};

// A value as jsonpath prints it: strings without quotes.
std::string PrintedValue(const api::Json& value);
// 'text' or "text" without its quotes.
std::string_view Unquoted(std::string_view text);

}  // namespace terrarium::testbed

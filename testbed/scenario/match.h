#pragma once

// Partial matches of an object against an expected value:
//
//   a mapping           every key of it matches; other keys are ignored
//   a list of mappings  each of them matches an item of its own, in any order; other items are ignored
//   any other list      equal
//   null                the field is absent
//   anything else       equal
//
// A mapping whose keys are all among the following is a comparison:
//
//   {atLeast: 3} {atMost: 5}   a number within these bounds
//   {not: VALUE}               anything that does not match VALUE, also an absent field
//   {like: "Scaled*"}          a string; * stands for any characters
//   {present: true}            the field exists, with any value

#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"

namespace terrarium::testbed::scenario {

using api::Json;

struct Difference {
  std::string path;  // "status.conditions[type=Available].status"
  std::string expected;
  std::string got;
};

bool Matches(const Json& want, const Json& got);
// The differences that keep `got` from matching. Empty: it matches.
std::vector<Difference> Differences(const Json& want, const Json& got);

// Whether the value is a comparison, as above.
bool IsComparison(const Json& value);
// The error of a comparison. Empty: it is valid. REQUIRES: IsComparison(value)
std::string WrongComparison(const Json& value);

// Whether `text` matches `pattern`, in which * stands for any number of characters.
bool Like(std::string_view pattern, std::string_view text);

}  // namespace terrarium::testbed::scenario

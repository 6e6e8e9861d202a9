#pragma once

// Partial matches: what somebody expects of an object, held against the object.
//
//   a mapping           every key of it matches; other keys do not matter
//   a list of mappings  for each of them there is an item that matches, in whatever order; others do not matter
//   any other list      equal
//   null                the field is absent
//   anything else       equal
//
// and, where a value is a mapping of nothing but these, a comparison:
//
//   {atLeast: 3} {atMost: 5}   a number within
//   {not: VALUE}               anything but what matches VALUE, also nothing
//   {like: "Scaled*"}          a text, * stands for anything
//   {present: true}            there, whatever it is

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
// How `got` fails to match; empty when it does.
std::vector<Difference> Differences(const Json& want, const Json& got);

// A mapping of comparisons.
bool IsComparison(const Json& value);
// What is wrong with one; empty: nothing. REQUIRES: IsComparison(value)
std::string WrongComparison(const Json& value);

// Whether `text` is `pattern`, in which * stands for any number of characters.
bool Like(std::string_view pattern, std::string_view text);

}  // namespace terrarium::testbed::scenario

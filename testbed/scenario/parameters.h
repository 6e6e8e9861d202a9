#pragma once

// The parameters of a scenario (`each`): every combination of their values is a run of its own, in which
// ${name} stands for the value. A string that consists of ${name} becomes the value itself, such as a number
// or a mapping; inside a longer string the value is printed. ${row.want} is a member of a value that is a
// mapping, $${ is a plain ${.

#include <string>
#include <vector>

#include "testbed/scenario/shape.h"

namespace terrarium::testbed::scenario {

const Shape& EachShape();

// A scenario with more combinations is a mistake, and could exhaust the memory.
inline constexpr std::size_t kCombinationsMax = 10'000;
// The number of combinations, or some number above kCombinationsMax. REQUIRES: as below.
std::size_t CombinationCount(const Json& each);
// Name and value of each parameter, as an object. Without parameters: one combination of nothing.
// REQUIRES: `each` has that shape, or is null.
std::vector<Json> Combinations(const Json& each);

// Substitutes the values, in keys as well; unknown names are mistakes.
Json Substitute(const Json& document, const Json& values, const std::string& path, Mistakes& mistakes);

// "policy=TerminationComplete, replicas=3". A mapping is called by its member `name`, or printed.
std::string CombinationName(const Json& values);

// Whether a step with that `when` belongs to the combination: each parameter, or member of one (row.policy),
// has that value, or one of the list.
bool Applies(const Json& when, const Json& values);
// Reports names in `when` that are not parameters.
void CheckWhen(const Json& when, const Json& values, const std::string& path, Mistakes& mistakes);

}  // namespace terrarium::testbed::scenario

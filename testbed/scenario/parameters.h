#pragma once

// The parameters of a scenario (`each`): every combination of their values is a run of its own, in which
// ${name} stands for the value. A text that is nothing but ${name} becomes the value itself, a number or a
// mapping; inside a longer text it is printed. ${row.want} is a member of a value that is a mapping, $${ is a
// plain ${.

#include <string>
#include <vector>

#include "testbed/scenario/shape.h"

namespace terrarium::testbed::scenario {

const Shape& EachShape();

// Combinations() of more than this many would be a mistake, and could fill the memory.
inline constexpr std::size_t kCombinationsMax = 10'000;
// How many there are, or some number above kCombinationsMax. REQUIRES: as below.
std::size_t CombinationCount(const Json& each);
// Name and value of each parameter, as an object. Without parameters: one combination of nothing.
// REQUIRES: `each` has that shape, or is null.
std::vector<Json> Combinations(const Json& each);

// Puts the values in, in keys as well; unknown names are mistakes.
Json Substitute(const Json& document, const Json& values, const std::string& path, Mistakes& mistakes);

// "policy=TerminationComplete, replicas=3". A mapping is called by its member `name`, or printed.
std::string CombinationName(const Json& values);

// Whether a step with that `when` belongs to the combination: each parameter, or member of one (row.policy),
// has that value, or one of the list.
bool Applies(const Json& when, const Json& values);
// Names in `when` that are no parameters.
void CheckWhen(const Json& when, const Json& values, const std::string& path, Mistakes& mistakes);

}  // namespace terrarium::testbed::scenario

#pragma once

// Tables that describe a valid scenario file. Both the reader's checks and the JSON Schema for editors come
// from these tables, so they cannot disagree.

#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"

namespace terrarium::testbed::scenario {

using api::Json;

struct Shape;

// A key of a mapping.
struct Member {
  std::string_view name;
  const Shape& shape;
  std::string_view about;
  bool required = false;
};
using Members = std::vector<Member>;

struct Shape {
  enum class Type {
    kText,
    kBoolean,
    kInteger,
    kNumber,
    kAnything,
    kObject,  // any mapping
    kList,    // of `of`
    kMap,     // of any key to `of`
    kFields,  // a mapping of `members`, and no other key
    kEither,  // one of `choices`
    kSteps,   // the list of steps; step.h has the table of steps
  };
  Type type;
  // What a value must be, for messages: "a duration like 90s".
  std::string_view is;
  // For a text or the keys of a map: a pattern for the JSON Schema. Empty: anything.
  std::string pattern = {};
  std::vector<std::string> words = {};  // the valid texts, or keys of a map; empty: any
  // Describes what is wrong with a value of the right type. Empty: nothing. It may be stricter than
  // `pattern`.
  std::string (*wrong)(const Json& value) = nullptr;
  const Shape* of = nullptr;
  Members members = {};
  std::vector<const Shape*> choices = {};
  std::int64_t least = INT64_MIN;  // the least integer, or the least size of a list
};

// A mistake in a document. `path` is a JSON pointer; with '#' at the end it means the key itself.
struct Mistake {
  std::string path;
  std::string message;
};
using Mistakes = std::vector<Mistake>;

// Checks a value against a shape.
void CheckShape(const Shape& shape, const Json& value, const std::string& path, Mistakes& mistakes);
// Checks the keys of a mapping. `what` names the mapping in messages. REQUIRES: `value` is an object.
void CheckMembers(const std::vector<const Members*>& members, const Json& value, const std::string& path,
                  std::string_view what, Mistakes& mistakes);

// "a, b or c".
std::string JoinOr(const std::vector<std::string>& words);
// The one of `words` that is closest to `word`, as " (did you mean X?)". Empty if none is close.
std::string DidYouMean(std::string_view word, const std::vector<std::string>& words);
// The same, or ": " and `otherwise` if none is close.
std::string DidYouMeanOr(std::string_view word, const std::vector<std::string>& words,
                         const std::string& otherwise);

}  // namespace terrarium::testbed::scenario

#pragma once

// What a scenario file may hold, as tables: the reader checks a file against them and the JSON Schema for editors is
// printed from them, so the two cannot disagree.

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
    kSteps,   // the list of steps, each one of the table of steps (step.h)
  };
  Type type;
  // What a value has to be, in a few words: "a duration like 90s". For messages.
  std::string_view is;
  // Of a text, or of the keys of a map: what JSON Schema can say about it. Empty: anything.
  std::string pattern = {};
  std::vector<std::string> words = {};  // the texts, or keys of a map, that there are; empty: any
  // What is wrong with a value of the right type, in words; empty: nothing. It may know more than `pattern` says.
  std::string (*wrong)(const Json& value) = nullptr;
  const Shape* of = nullptr;
  Members members = {};
  std::vector<const Shape*> choices = {};
  std::int64_t least = INT64_MIN;  // of an integer, or of how many a list has
};

// A mistake in a document: at which path (a JSON pointer; with '#' behind it, at the key itself), and what.
struct Mistake {
  std::string path;
  std::string message;
};
using Mistakes = std::vector<Mistake>;

// Checks a value against a shape.
void CheckShape(const Shape& shape, const Json& value, const std::string& path, Mistakes& mistakes);
// Checks the keys of a mapping against what it may hold. `what` names the mapping in messages. REQUIRES: an object.
void CheckMembers(const std::vector<const Members*>& members, const Json& value, const std::string& path,
                  std::string_view what, Mistakes& mistakes);

// "a, b or c".
std::string JoinOr(const std::vector<std::string>& words);
// Of `words`, the one that somebody who wrote `word` probably meant, as " (did you mean X?)"; otherwise empty.
std::string DidYouMean(std::string_view word, const std::vector<std::string>& words);
// The same, or ": otherwise" where nothing comes near.
std::string DidYouMeanOr(std::string_view word, const std::vector<std::string>& words, const std::string& otherwise);

}  // namespace terrarium::testbed::scenario

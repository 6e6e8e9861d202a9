#pragma once

// YAML text to documents and back, with the rules of the library Kubernetes uses: YAML 1.1 scalars (yes, no,
// on and off are booleans, 0644 is an octal number), timestamps left as text, keys that are not text turned
// into it.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"

namespace terrarium::api {

// Where something stands in a text, counted from 1.
struct YamlPlace {
  int line = 0;
  int column = 0;
};

struct YamlDocument {
  Json value;
  int line = 1;  // where it starts
  // Empty, or the one text in which Kubernetes reports repeated keys to a strict caller. The last of them
  // wins.
  std::vector<std::string> strict_errors;
};

// Reads the first document, as the apiserver does with a body; an empty text is null. On failure returns
// nullopt and sets *error to a text such as "yaml: line 3: did not find expected key". Clients put "error
// converting YAML to JSON: " in front.
std::optional<YamlDocument> ParseYaml(std::string_view text, std::string* error);

// Reads all documents of a manifest, leaving out empty ones.
std::optional<std::vector<YamlDocument>> ParseYamlStream(std::string_view text, std::string* error);

// Where every value of a document stands, by its path in it: "" is the whole, "/steps/0/apply" a member of an
// item (a JSON pointer). The key of a member is at its path with a '#' behind it. Values that an alias or a
// merge key brought are where they were written.
using YamlPlaces = std::map<std::string, YamlPlace, std::less<>>;
// The next step of such a path, with what pointers escape.
std::string YamlPathBelow(const std::string& path, std::string_view key);

struct PlacedYaml {
  YamlDocument document;
  YamlPlaces places;
};
struct YamlMistake {
  YamlPlace place;
  std::string message;  // without "yaml: line N: "
};
// The same as ParseYamlStream for readers who tell their users where something is wrong. On failure sets
// *mistake.
std::optional<std::vector<PlacedYaml>> ParsePlacedYaml(std::string_view text, YamlMistake* mistake);

// Block style, two spaces, keys sorted, sequences not indented below their key.
std::string WriteYaml(const Json& value);

}  // namespace terrarium::api

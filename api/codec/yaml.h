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

// A position in a text, counted from 1.
struct YamlPlace {
  int line = 0;
  int column = 0;
};

struct YamlDocument {
  Json value;
  int line = 1;  // where it starts
  // Empty, or the single message in which Kubernetes reports repeated keys under strict validation. The last
  // value of a repeated key wins.
  std::vector<std::string> strict_errors;
};

// Reads the first document, as the apiserver does with a body; an empty text is null. On failure returns
// nullopt and sets *error to a text such as "yaml: line 3: did not find expected key". Callers prepend "error
// converting YAML to JSON: ".
std::optional<YamlDocument> ParseYaml(std::string_view text, std::string* error);

// Reads all documents of a manifest, leaving out empty ones.
std::optional<std::vector<YamlDocument>> ParseYamlStream(std::string_view text, std::string* error);

// The position of every value of a document, by its path: "" is the whole, "/steps/0/apply" a member of an
// item (a JSON pointer). The key of a member is at its path with a '#' behind it. Values from an alias or a
// merge key have the position of their definition.
using YamlPlaces = std::map<std::string, YamlPlace, std::less<>>;
// Appends an escaped key to such a path.
std::string YamlPathBelow(const std::string& path, std::string_view key);

struct PlacedYaml {
  YamlDocument document;
  YamlPlaces places;
};
struct YamlMistake {
  YamlPlace place;
  std::string message;  // without "yaml: line N: "
};
// Same as ParseYamlStream, with the positions for error messages. On failure sets *mistake.
std::optional<std::vector<PlacedYaml>> ParsePlacedYaml(std::string_view text, YamlMistake* mistake);

// Block style, two spaces, keys sorted, sequences not indented below their key.
std::string WriteYaml(const Json& value);

}  // namespace terrarium::api

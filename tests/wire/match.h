#pragma once

// Compares a response with the expectation of a case, and edits documents by path.

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "api/json.h"

namespace terrarium::wire {

using api::Json;

// Whether a text matches the pattern, in which words such as <uid> stand for values that differ from run to
// run.
bool TextMatches(std::string_view pattern, std::string_view text);

// The differences that keep `got` from containing `want`, each beginning with a path; empty if there are
// none. Objects may have more keys than wanted, unless their path or one above it is in `exact`. Lists must
// have the same length.
std::vector<std::string> Differences(const Json& want, const Json& got,
                                     const std::vector<std::string>& exact = {});

// The steps of a path such as spec.ports[0].name or metadata.labels["a.b/c"]; nullopt if it is malformed.
using PathStep = std::variant<std::string, std::size_t>;
std::optional<std::vector<PathStep>> SplitPath(std::string_view path);

const Json* FindAt(const Json& document, std::string_view path);
// Sets the value at a path. Missing objects and lists are created, and a list may be extended by one item.
// False if the path cannot exist.
bool SetAt(Json& document, std::string_view path, Json value);
bool UnsetAt(Json& document, std::string_view path);

// A JSON merge patch.
Json Merge(Json base, const Json& patch);

// The Status for '@invalid subject' with its '@cause field: message' lines; nullopt and *error if they are
// malformed.
std::optional<Json> InvalidStatus(const std::string& subject, const std::vector<std::string>& causes,
                                  std::string* error);

std::string Show(const Json& value);

}  // namespace terrarium::wire

#pragma once

// Compares an answer with what a case expects, and edits documents by path.

#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "api/json.h"

namespace terrarium::wire {

using api::Json;

// Whether a text is the pattern, in which words such as <uid> stand for what differs from run to run.
bool TextMatches(std::string_view pattern, std::string_view text);

// How `got` fails to contain `want`, each as a text that begins with a path; empty when it does. Objects may
// have more keys than wanted, unless their path or one above it is in `exact`; lists have the same length.
std::vector<std::string> Differences(const Json& want, const Json& got,
                                     const std::vector<std::string>& exact = {});

// The steps of a path such as spec.ports[0].name or metadata.labels["a.b/c"]; nullopt when it cannot be read.
using PathStep = std::variant<std::string, std::size_t>;
std::optional<std::vector<PathStep>> SplitPath(std::string_view path);

const Json* FindAt(const Json& document, std::string_view path);
// Puts a value where the path leads; missing objects and lists on the way are made, and a list may be
// extended by the item behind its last. False when the path leads nowhere.
bool SetAt(Json& document, std::string_view path, Json value);
bool UnsetAt(Json& document, std::string_view path);

// A JSON merge patch.
Json Merge(Json base, const Json& patch);

// The Status that '@invalid subject' with its '@cause field: message' lines stands for; nullopt and *error
// when they cannot be read.
std::optional<Json> InvalidStatus(const std::string& subject, const std::vector<std::string>& causes,
                                  std::string* error);

std::string Show(const Json& value);

}  // namespace terrarium::wire

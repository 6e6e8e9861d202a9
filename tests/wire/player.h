#pragma once

// Plays conversations against an apiserver in this process: no sockets, a store in memory, a clock that the
// case moves.

#include <map>
#include <string>

#include "tests/wire/format.h"

namespace terrarium::wire {

struct PlayOptions {
  std::string gates;                           // "A=true,B=false"
  std::map<std::string, std::string> objects;  // YAML by name, for '@like'
};

// Plays the conversation on a fresh apiserver up to the first step that fails. Returns an empty text, or
// "LINE: REQUEST" followed by an indented line for each difference.
std::string Play(const Conversation& talk, const PlayOptions& options);

}  // namespace terrarium::wire

#pragma once

// Plays conversations against an apiserver in this process: no sockets, a store in memory, a virtual clock.

#include <map>
#include <string>

#include "tests/wire/format.h"

namespace terrarium::wire {

struct PlayOptions {
  std::string gates;                           // "A=true,B=false"
  std::map<std::string, std::string> objects;  // YAML by name, for '@like'
};

// Plays the conversation on a new apiserver up to the first failing step. Returns an empty text, or "LINE:
// REQUEST" followed by an indented line for each difference.
std::string Play(const Conversation& talk, const PlayOptions& options);

}  // namespace terrarium::wire

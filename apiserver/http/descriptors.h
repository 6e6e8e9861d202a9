#pragma once

// File descriptors: how many the process may have, and how many of them are for connections.

#include <cstddef>

namespace terrarium::apiserver {

// Raises the soft limit of open files to the hard one and returns what it is then.
std::size_t RaiseDescriptorLimit();

// How many connections may be open when the process may have `limit` descriptors: an eighth of them, and 64
// at least, is for the files of clusters, event loops and calls to the outside. Never more than `wanted`,
// never none.
std::size_t ConnectionsWithin(std::size_t limit, std::size_t wanted);

}  // namespace terrarium::apiserver

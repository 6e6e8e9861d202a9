#pragma once

// The limit on file descriptors, and the part of it for connections.

#include <cstddef>

namespace terrarium::apiserver {

// Raises the soft limit of open files to the hard one and returns it.
std::size_t RaiseDescriptorLimit();

// The number of connections that may be open with `limit` descriptors. An eighth of them, at least 64, is
// reserved for files of clusters, event loops and outgoing calls. At most `wanted`, at least 1.
std::size_t ConnectionsWithin(std::size_t limit, std::size_t wanted);

}  // namespace terrarium::apiserver

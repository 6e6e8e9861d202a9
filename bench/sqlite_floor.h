#pragma once

#include <string>

namespace terrarium::bench {

// Bare inserts of `body`, one transaction each, into a fresh file with the same journal and durability as the
// store's. Returns inserts per second.
double SqliteInsertsPerSecond(const std::string& path, const std::string& body,
                              const std::string& synchronous, double seconds);

}  // namespace terrarium::bench

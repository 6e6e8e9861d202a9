#pragma once

// Files that only their owner can read, in folders that other users of the machine may write to.

#include <string>

#include "api/base/status.h"

namespace terrarium::testbed {

// Replaces the file `path` atomically, readable by the owner only. It never writes through an existing file
// or link: the text goes to a new file with a random name beside it, which is then renamed. Fails when `path`
// is not a file. It does not flush to disk, since the files describe a process that does not survive the
// machine.
api::Result<void> WritePrivateFile(const std::string& path, const std::string& text);

// A folder that no other user can write to: $XDG_RUNTIME_DIR, or one below $TMPDIR or /tmp that is created if
// needed.
api::Result<std::string> PrivateFolder();

}  // namespace terrarium::testbed

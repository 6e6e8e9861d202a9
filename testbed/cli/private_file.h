#pragma once

// Files that only their owner reads, in places that other users of the machine may write to as well.

#include <string>

#include "api/base/status.h"

namespace terrarium::testbed {

// Replaces the file `path` by `text`, whole or not at all, readable by the owner alone. Nothing that lies
// there is written through: the text goes to a new file of a random name beside it, which is then renamed.
// Fails when `path` is something else than a file. It is not flushed to the disk: what these files describe
// ends with the machine.
api::Result<bool> WritePrivateFile(const std::string& path, const std::string& text);

// A folder that no other user can write to: $XDG_RUNTIME_DIR, or one below $TMPDIR or /tmp that is created if
// needed.
api::Result<std::string> PrivateFolder();

}  // namespace terrarium::testbed

#pragma once

#include <memory>

#include "storage/internal/sqlite_log.h"
#include "storage/internal/state.h"

namespace terrarium::storage {

// The state that the file describes, and in `file_compacted` the revision up to which the file itself is
// compacted. Fails with a description when the log is inconsistent, instead of loading a part of it.
api::Result<std::unique_ptr<State>> LoadState(SqliteLog& log, const SqliteOptions& options,
                                              std::int64_t& file_compacted);

}  // namespace terrarium::storage

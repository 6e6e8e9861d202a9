#pragma once

#include <memory>

#include "storage/internal/recent_events.h"
#include "storage/internal/sqlite_log.h"
#include "storage/internal/state.h"

namespace terrarium::storage {

struct LoadedFile {
  std::unique_ptr<State> state;
  std::int64_t compacted = 0;  // the revision up to which the file itself is compacted
  RecentEvents recent;
};

// The state that the file describes. Fails with a description when the log is inconsistent, instead of
// loading a part of it.
api::Result<LoadedFile> LoadState(SqliteLog& log, const SqliteOptions& options);

}  // namespace terrarium::storage

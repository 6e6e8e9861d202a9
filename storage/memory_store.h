#pragma once

#include <memory>

#include "storage/history_limits.h"
#include "storage/store.h"

namespace terrarium::storage {

struct MemoryOptions {
  HistoryLimits history;
};

// A store without persistence. Submit applies the write and calls `done` before it returns. It uses no
// threads, so the same calls give the same revisions, events and order of callbacks.
std::unique_ptr<Store> OpenMemoryStore(const MemoryOptions& options = {});

}  // namespace terrarium::storage

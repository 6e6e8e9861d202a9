#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>

#include "api/base/status.h"
#include "api/object.h"
#include "storage/history_limits.h"
#include "storage/store.h"

namespace terrarium::storage {

enum class Durability {
  kFull,    // an acknowledged write survives a power cut
  kNormal,  // it survives the end of the process; a power cut may cost the newest ones, never the file
  kOff,     // it survives the end of the process; a power cut may cost the file
};

// Makes the header of an object from its document. The store sets revision, namespace and name.
using DeriveHeader = std::function<api::ObjectHeader(std::string_view resource, const api::Json& document)>;

struct SqliteOptions {
  // A plain file: ":memory:" and "file:..." have no special meaning. Created when missing, for its owner
  // alone; its folder must exist.
  std::string path;
  bool follow_symlinks = true;  // false: a path with a symbolic link in it is refused
  Durability durability = Durability::kFull;
  HistoryLimits history;
  DeriveHeader derive_header;  // used while opening; when empty: uid, labels and deletionTimestamp, no fields
  bool inline_commits = false;  // no thread: Submit commits its write and calls `done` before it returns
  std::string vfs;              // SQLite's name of the file layer to use; empty: the default one
};

// Opens the store in one file (and FILE-wal beside it), which then belongs to this store alone until
// Shutdown. The Status of a failure is one line that begins with the path: in use, not a database, another
// program's, written by a newer version, damaged, not writable. A file of an older version is brought up to
// date first.
//
// Writes are committed by one thread, all that are waiting in one transaction; `done` is called from it.
api::Result<std::unique_ptr<Store>> OpenSqliteStore(const SqliteOptions& options);

}  // namespace terrarium::storage

#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "storage/internal/row_checksum.h"
#include "storage/internal/sqlite_db.h"
#include "storage/internal/sqlite_schema.h"
#include "storage/internal/state.h"
#include "storage/sqlite_store.h"

namespace terrarium::storage {

// The log of a store in its file. One caller at a time. Holds the file, alone, as long as it lives.
class SqliteLog {
 public:
  static api::Result<std::unique_ptr<SqliteLog>> Open(const SqliteOptions& options);

  // Calls `use` with every row in the order of revisions, until it returns an error. `intact`: the checksum
  // matches.
  SqlError ForEach(const std::function<SqlError(const LogRow& row, bool intact)>& use);
  SqlError ReadMeta(std::int64_t& compacted, std::int64_t& revision);

  // Writes all rows and commits, or leaves the file unchanged.
  SqlError Append(const std::deque<Change>& changes);
  // Deletes the rows that the revisions in (from, to] superseded and the deletions among them, and records
  // `to` as compacted and `revision` as reached; or leaves the file unchanged.
  struct CompactRange {
    std::int64_t from;
    std::int64_t to;
    std::int64_t revision;
  };
  SqlError Compact(const CompactRange& range);

 private:
  explicit SqliteLog(SqliteDb db) : db_(std::move(db)) {}
  SqlError Setup(Durability durability);
  SqlError CheckPages();
  SqlError SwitchToWal();
  SqlError Run(SqliteStatement& statement);
  SqlError Insert(const Change& change);
  // Ends the transaction that begin_ opened: with a commit when `error` is empty, with a rollback otherwise.
  SqlError Finish(SqlError error);

  SqliteDb db_;  // first: it is closed after the statements
  SqliteStatement begin_, commit_, rollback_, insert_, delete_superseded_, delete_deletions_, set_meta_;
};

}  // namespace terrarium::storage

#pragma once

// Owners of SQLite's handles. Errors are messages for users; only this file makes them from SQLite's codes.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include <sqlite3.h>

#include "api/base/status.h"
#include "storage/sqlite_store.h"

namespace terrarium::storage {

// nullopt: success.
using SqlError = std::optional<std::string>;

class SqliteDb {
 public:
  // Opens the file of `options` for reading and writing, creating it when it is missing.
  static api::Result<SqliteDb> Open(const SqliteOptions& options);

  // Runs statements without results, or ignores their results.
  SqlError Exec(const char* sql);
  // Sets `value` to the single number that `sql` returns.
  SqlError QueryInt(const char* sql, std::int64_t& value);
  // The message for the last failed call of this connection.
  std::string Error() const;
  bool ReadOnly() const { return sqlite3_db_readonly(db_.get(), "main") == 1; }
  bool InTransaction() const { return sqlite3_get_autocommit(db_.get()) == 0; }
  sqlite3* get() const { return db_.get(); }

 private:
  struct Close {
    void operator()(sqlite3* db) const { sqlite3_close_v2(db); }
  };
  explicit SqliteDb(sqlite3* db) : db_(db) {}
  std::unique_ptr<sqlite3, Close> db_;
};

// A prepared statement, for repeated use. Parameters count from 1, columns from 0. Text and blobs are not
// copied: they must live until Reset.
class SqliteStatement {
 public:
  SqlError Prepare(const SqliteDb& db, const char* sql);

  void Bind(int index, std::int64_t value) { sqlite3_bind_int64(statement_.get(), index, value); }
  void BindText(int index, std::string_view text);
  void BindBlob(int index, std::string_view bytes);
  // SQLITE_ROW, SQLITE_DONE or an error, which Error() of the connection explains until the next call.
  int Step() { return sqlite3_step(statement_.get()); }
  void Reset() { sqlite3_reset(statement_.get()); }

  std::int64_t Int(int column) const { return sqlite3_column_int64(statement_.get(), column); }
  // Valid until the next Step or Reset.
  std::string_view Bytes(int column) const;

 private:
  struct Finalize {
    void operator()(sqlite3_stmt* statement) const { sqlite3_finalize(statement); }
  };
  std::unique_ptr<sqlite3_stmt, Finalize> statement_;
};

}  // namespace terrarium::storage

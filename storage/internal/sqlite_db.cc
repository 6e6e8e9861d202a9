#include "storage/internal/sqlite_db.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "api/base/errors.h"

namespace terrarium::storage {
namespace {

// SQLite quotes the SQL of a table whose definition it cannot read.
std::string OneLine(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return text;
}

std::string Explain(sqlite3* db) {
  switch (sqlite3_errcode(db)) {
    case SQLITE_BUSY:
    case SQLITE_LOCKED: return "in use by another process";
    case SQLITE_NOTADB: return "not a database";
    case SQLITE_READONLY: return "not writable";
    case SQLITE_CORRUPT: return "damaged (" + OneLine(sqlite3_errmsg(db)) + ")";
    default: return OneLine(sqlite3_errmsg(db));
  }
}

// Objects include Secrets, and SQLite would create the file as the umask has it. It gives the WAL the
// permissions of the file. An existing file is not touched: to open and close it here would release the locks
// that this process has on it.
SqlError CreateForOwner(const std::string& path) {
  int fd = open(path.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR);
  if (fd >= 0) {
    close(fd);
    return std::nullopt;
  }
  if (errno != EEXIST) return std::strerror(errno);
  struct stat found {};
  if (stat(path.c_str(), &found) != 0) return "a symbolic link: " + std::string(std::strerror(errno));
  return std::nullopt;
}

}  // namespace

api::Result<SqliteDb> SqliteDb::Open(const SqliteOptions& options) {
  const std::string& path = options.path;
  // SQLite gives names like ":memory:" and "file:..." a meaning of their own, but not if they are clearly
  // paths.
  const std::string file = path.starts_with('/') ? path : "./" + path;
  if (SqlError error = CreateForOwner(file)) return api::GenericServerError(path + ": " + *error);
  sqlite3* raw = nullptr;
  // One user at a time by the store's own rules, so SQLite need not lock.
  int flags = SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX;
  if (!options.follow_symlinks) flags |= SQLITE_OPEN_NOFOLLOW;
  int rc = sqlite3_open_v2(file.c_str(), &raw, flags, options.vfs.empty() ? nullptr : options.vfs.c_str());
  SqliteDb db(raw);
  if (rc != SQLITE_OK)
    return api::GenericServerError(path + ": " + (raw == nullptr ? sqlite3_errstr(rc) : Explain(raw)));
  sqlite3_extended_result_codes(raw, 0);
  return db;
}

std::string SqliteDb::Error() const { return Explain(db_.get()); }

SqlError SqliteDb::Exec(const char* sql) {
  if (sqlite3_exec(db_.get(), sql, nullptr, nullptr, nullptr) == SQLITE_OK) return std::nullopt;
  return Error();
}

SqlError SqliteDb::QueryInt(const char* sql, std::int64_t& value) {
  SqliteStatement statement;
  if (SqlError error = statement.Prepare(*this, sql)) return error;
  int rc = statement.Step();
  if (rc == SQLITE_ROW) {
    value = statement.Int(0);
    return std::nullopt;
  }
  return rc == SQLITE_DONE ? "no answer to " + std::string(sql) : Error();
}

SqlError SqliteStatement::Prepare(const SqliteDb& db, const char* sql) {
  sqlite3_stmt* raw = nullptr;
  int rc = sqlite3_prepare_v3(db.get(), sql, -1, SQLITE_PREPARE_PERSISTENT, &raw, nullptr);
  statement_.reset(raw);
  if (rc == SQLITE_OK) return std::nullopt;
  return db.Error();
}

void SqliteStatement::BindText(int index, std::string_view text) {
  // An empty view may have no pointer, which would bind NULL.
  sqlite3_bind_text(statement_.get(), index, text.empty() ? "" : text.data(), static_cast<int>(text.size()),
                    SQLITE_STATIC);
}

void SqliteStatement::BindBlob(int index, std::string_view bytes) {
  sqlite3_bind_blob64(statement_.get(), index, bytes.data(), bytes.size(), SQLITE_STATIC);
}

std::string_view SqliteStatement::Bytes(int column) const {
  const void* data = sqlite3_column_blob(statement_.get(), column);
  return {static_cast<const char*>(data),
          static_cast<std::size_t>(sqlite3_column_bytes(statement_.get(), column))};
}

}  // namespace terrarium::storage

#include "storage/internal/sqlite_log.h"

#include <algorithm>
#include <utility>

#include "api/apply/managed_fields.h"
#include "api/base/check.h"
#include "api/base/errors.h"
#include "storage/internal/sqlite_migrate.h"

namespace terrarium::storage {
namespace {

const char* SynchronousPragma(Durability durability) {
  switch (durability) {
    case Durability::kFull: return "PRAGMA synchronous = FULL";
    case Durability::kNormal: return "PRAGMA synchronous = NORMAL";
    case Durability::kOff: return "PRAGMA synchronous = OFF";
  }
  CHECK(false);
}

LogOp OpOf(EventType type) {
  switch (type) {
    case EventType::kAdded: return LogOp::kCreate;
    case EventType::kModified: return LogOp::kUpdate;
    case EventType::kDeleted: return LogOp::kDelete;
  }
  CHECK(false);
}

}  // namespace

api::Result<std::unique_ptr<SqliteLog>> SqliteLog::Open(const SqliteOptions& options) {
  api::Result<SqliteDb> db = SqliteDb::Open(options);
  if (!db) return std::move(db.status());
  std::unique_ptr<SqliteLog> log(new SqliteLog(std::move(*db)));
  if (SqlError error = log->Setup(options.durability))
    return api::GenericServerError(options.path + ": " + *error);
  return log;
}

SqlError SqliteLog::Setup(Durability durability) {
  // Set before the first access, this takes the whole file for the life of the connection, and WAL then needs
  // no shared memory file.
  if (SqlError error = db_.Exec("PRAGMA locking_mode = EXCLUSIVE")) return error;
  if (db_.ReadOnly()) return "not writable";
  if (SqlError error = db_.Exec(SynchronousPragma(durability))) return error;
  if (SqlError error = CheckPages()) return error;
  if (SqlError error = PrepareSchema(db_)) return error;
  if (SqlError error = SwitchToWal()) return error;
  const char* const pragmas[] = {
      // The WAL is folded into the file every 8 MB; what a large transaction added is cut off again when it
      // restarts.
      "PRAGMA wal_autocheckpoint = 2000",
      "PRAGMA journal_size_limit = 16777216",
      "PRAGMA temp_store = MEMORY",
      // The exclusive lock is only taken by a first write.
      "BEGIN IMMEDIATE; UPDATE meta SET value = value WHERE key = 'revision'; COMMIT",
  };
  for (const char* pragma : pragmas)
    if (SqlError error = db_.Exec(pragma)) return error;

  const std::pair<SqliteStatement*, const char*> statements[] = {
      {&begin_, "BEGIN IMMEDIATE"},
      {&commit_, "COMMIT"},
      {&rollback_, "ROLLBACK"},
      {&insert_,
       "INSERT INTO log (revision, resource, ns, name, op, previous_revision, body, owners, checksum) "
       "VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"},
      {&delete_superseded_,
       "DELETE FROM log WHERE revision IN (SELECT previous_revision FROM log WHERE revision > ?1 AND "
       "revision <= ?2 "
       "AND previous_revision > 0 ORDER BY previous_revision)"},
      {&delete_deletions_, "DELETE FROM log WHERE revision > ?1 AND revision <= ?2 AND op = 2"},
      {&set_meta_,
       "UPDATE meta SET value = CASE key WHEN 'compacted' THEN ?1 WHEN 'revision' THEN ?2 ELSE ?3 END"},
  };
  for (const auto& [statement, sql] : statements)
    if (SqlError error = statement->Prepare(db_, sql)) return error;
  return std::nullopt;
}

// Finds rows that are lost because a page no longer leads to them; the checksums find what is wrong inside of
// rows.
SqlError SqliteLog::CheckPages() {
  SqliteStatement pragma;
  if (SqlError error = pragma.Prepare(db_, "PRAGMA quick_check(1)")) return error;
  if (pragma.Step() != SQLITE_ROW) return db_.Error();
  if (pragma.Bytes(0) == "ok") return std::nullopt;
  std::string found(pragma.Bytes(0));
  std::replace(found.begin(), found.end(), '\n', ' ');
  return "damaged (" + found + ")";
}

SqlError SqliteLog::SwitchToWal() {
  SqliteStatement pragma;
  if (SqlError error = pragma.Prepare(db_, "PRAGMA journal_mode = WAL")) return error;
  if (pragma.Step() != SQLITE_ROW) return db_.Error();
  // It answers with the mode it stays in when it cannot.
  if (pragma.Bytes(0) != "wal") return "cannot have a write-ahead log here";
  return std::nullopt;
}

SqlError SqliteLog::ReadMeta(std::int64_t& compacted, std::int64_t& revision) {
  std::int64_t checksum = 0;
  const std::pair<const char*, std::int64_t*> values[] = {
      {"SELECT value FROM meta WHERE key = 'compacted' ORDER BY key", &compacted},
      {"SELECT value FROM meta WHERE key = 'revision' ORDER BY key", &revision},
      {"SELECT value FROM meta WHERE key = 'checksum' ORDER BY key", &checksum}};
  for (const auto& [sql, value] : values)
    if (SqlError error = db_.QueryInt(sql, *value)) return "damaged: the table meta: " + *error;
  if (checksum == ChecksumOfMeta(compacted, revision)) return std::nullopt;
  return "damaged: the table meta does not have the checksum with which it was written";
}

SqlError SqliteLog::ForEach(const std::function<SqlError(const LogRow& row, bool intact)>& use) {
  SqliteStatement select;
  if (SqlError error = select.Prepare(db_,
                                      "SELECT revision, resource, ns, name, op, previous_revision, body, "
                                      "owners, checksum FROM log ORDER BY revision"))
    return error;
  for (;;) {
    int rc = select.Step();
    if (rc == SQLITE_DONE) return std::nullopt;
    if (rc != SQLITE_ROW) return db_.Error();
    LogRow row{.revision = select.Int(0),
               .resource = select.Bytes(1),
               .ns = select.Bytes(2),
               .name = select.Bytes(3),
               .op = select.Int(4),
               .previous_revision = select.Int(5),
               .body = select.Bytes(6),
               .owners = select.Bytes(7)};
    if (SqlError error = use(row, select.Int(8) == ChecksumOf(row))) return error;
  }
}

SqlError SqliteLog::Run(SqliteStatement& statement) {
  int rc = statement.Step();
  SqlError error;
  if (rc != SQLITE_DONE) error = db_.Error();
  statement.Reset();
  return error;
}

SqlError SqliteLog::Insert(const Change& change) {
  const Event& event = change.event;
  const api::ObjectHeader& header = event.object->header();
  std::string owners;
  if (event.object->owners() != nullptr) api::AppendManagedFields(*event.object->owners(), owners);
  const LogRow row{.revision = event.revision(),
                   .resource = change.resource,
                   .ns = header.ns,
                   .name = header.name,
                   .op = static_cast<std::int64_t>(OpOf(event.type)),
                   .previous_revision = event.previous == nullptr ? 0 : event.previous->revision(),
                   .body = event.object->body(),
                   .owners = owners};
  insert_.Bind(1, row.revision);
  insert_.BindText(2, row.resource);
  insert_.BindText(3, row.ns);
  insert_.BindText(4, row.name);
  insert_.Bind(5, row.op);
  insert_.Bind(6, row.previous_revision);
  insert_.BindBlob(7, row.body);
  insert_.BindBlob(8, row.owners);
  insert_.Bind(9, ChecksumOf(row));
  return Run(insert_);
}

SqlError SqliteLog::Finish(SqlError error) {
  if (!error) error = Run(commit_);
  // Some errors have rolled back already. A rollback itself needs no disk.
  if (error && db_.InTransaction())
    if (SqlError second = Run(rollback_)) *error += "; and the rollback failed: " + *second;
  return error;
}

SqlError SqliteLog::Append(const std::deque<Change>& changes) {
  if (SqlError error = Run(begin_)) return error;
  SqlError error;
  for (auto change = changes.begin(); !error && change != changes.end(); ++change) error = Insert(*change);
  return Finish(std::move(error));
}

SqlError SqliteLog::Compact(const CompactRange& range) {
  if (SqlError error = Run(begin_)) return error;
  SqlError error;
  for (SqliteStatement* statement : {&delete_superseded_, &delete_deletions_, &set_meta_}) {
    statement->Bind(1, statement == &set_meta_ ? range.to : range.from);
    statement->Bind(2, statement == &set_meta_ ? range.revision : range.to);
    if (statement == &set_meta_) statement->Bind(3, ChecksumOfMeta(range.to, range.revision));
    if (!error) error = Run(*statement);
  }
  return Finish(std::move(error));
}

}  // namespace terrarium::storage

#include "storage/sqlite_schema.h"

#include <string>

#include "storage/internal/sqlite_migrate.h"

namespace terrarium::storage {
namespace {

struct Migration {
  int from;  // leads to from + 1
  const char* sql;
};

// One row per step that was ever released; rows are added, never edited. A new file takes every step as well, so that
// the layout is written down once. Version 0 is an empty file.
constexpr Migration kMigrations[] = {
    {0, R"(
        CREATE TABLE log (
          revision INTEGER PRIMARY KEY,
          resource TEXT NOT NULL,
          ns TEXT NOT NULL,
          name TEXT NOT NULL,
          op INTEGER NOT NULL,
          body BLOB NOT NULL);
        CREATE TABLE meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
        INSERT INTO meta VALUES ('compacted', 0), ('revision', 1);
        )"},
    // A row names the one it supersedes, so that compaction finds what to delete without searching by name.
    {1, R"(
        CREATE TABLE log_new (
          revision INTEGER PRIMARY KEY,
          resource TEXT NOT NULL,
          ns TEXT NOT NULL,
          name TEXT NOT NULL,
          op INTEGER NOT NULL,
          previous_revision INTEGER NOT NULL,
          body BLOB NOT NULL);
        INSERT INTO log_new (revision, resource, ns, name, op, previous_revision, body)
          SELECT revision, resource, ns, name, op,
                 CASE op WHEN 0 THEN 0 ELSE
                   COALESCE(LAG(revision) OVER (PARTITION BY resource, ns, name ORDER BY revision), 0) END,
                 body
          FROM log ORDER BY revision;
        DROP TABLE log;
        ALTER TABLE log_new RENAME TO log;
        )"},
};
static_assert(sizeof(kMigrations) / sizeof(kMigrations[0]) == kSchemaVersion);

SqlError CheckOwner(SqliteDb& db, std::int64_t version) {
  std::int64_t application_id = 0, tables = 0;
  if (SqlError error = db.QueryInt("PRAGMA application_id", application_id)) return error;
  if (SqlError error = db.QueryInt("SELECT count(*) FROM sqlite_master", tables)) return error;
  bool empty = application_id == 0 && version == 0 && tables == 0;
  if (application_id != kApplicationId && !empty) return "a database of another program";
  if (version > kSchemaVersion)
    return "written by a newer schema (version " + std::to_string(version) + "; this program knows " +
           std::to_string(kSchemaVersion) + ")";
  return std::nullopt;
}

SqlError Migrate(SqliteDb& db, std::int64_t version) {
  for (const Migration& step : kMigrations) {
    if (step.from < version) continue;
    if (SqlError error = db.Exec(step.sql)) return error;
  }
  std::string stamp = "PRAGMA application_id = " + std::to_string(kApplicationId) +
                      "; PRAGMA user_version = " + std::to_string(kSchemaVersion);
  return db.Exec(stamp.c_str());
}

}  // namespace

SqlError PrepareSchema(SqliteDb& db) {
  std::int64_t version = 0;
  if (SqlError error = db.QueryInt("PRAGMA user_version", version)) return error;
  if (SqlError error = CheckOwner(db, version)) return error;
  if (version == kSchemaVersion) return std::nullopt;
  if (SqlError error = db.Exec("BEGIN EXCLUSIVE")) return error;
  SqlError error = Migrate(db, version);
  if (!error) error = db.Exec("COMMIT");
  // The first error is the one to tell; if the rollback fails as well, closing the connection does it.
  if (error && db.InTransaction()) db.Exec("ROLLBACK");
  return error;
}

}  // namespace terrarium::storage

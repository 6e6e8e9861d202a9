#include "storage/internal/sqlite_schema.h"

#include <string>

#include <sys/stat.h>

#include "storage/internal/row_checksum.h"
#include "storage/internal/sqlite_migrate.h"

namespace terrarium::storage {
namespace {

struct Migration {
  int from;         // migrates to version from + 1
  int log_columns;  // of the table log before the migration
  const char* sql;
};

// One row per released migration. Add rows, never edit them. A new file goes through every migration too, so
// that the layout is defined only once. Version 0 is an empty file.
constexpr Migration kMigrations[] = {
    {0, 0, R"(
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
    {1, 6, R"(
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
    // Checksums detect damage inside a row.
    {2, 7, R"(
        ALTER TABLE log ADD COLUMN checksum INTEGER NOT NULL DEFAULT 0;
        UPDATE log SET checksum = row_checksum(revision, resource, ns, name, op, previous_revision, body);
        INSERT INTO meta SELECT 'checksum', meta_checksum(
          (SELECT value FROM meta WHERE key = 'compacted' ORDER BY key),
          (SELECT value FROM meta WHERE key = 'revision' ORDER BY key));
        )"},
    // The owners of fields have a column of their own. A row whose checksum is wrong stays wrong.
    {3, 8, R"(
        ALTER TABLE log ADD COLUMN owners BLOB NOT NULL DEFAULT '';
        UPDATE log SET checksum =
          row_checksum(revision, resource, ns, name, op, previous_revision, body, owners)
          WHERE checksum = row_checksum(revision, resource, ns, name, op, previous_revision, body);
        )"},
};
static_assert(sizeof(kMigrations) / sizeof(kMigrations[0]) == kSchemaVersion);
constexpr int kLogColumns = 9;  // at kSchemaVersion

// Without this check, a damaged version number would migrate tables that are already migrated.
SqlError CheckLayout(SqliteDb& db, std::int64_t version) {
  std::int64_t columns = 0;
  if (SqlError error = db.QueryInt("SELECT count(*) FROM pragma_table_info('log')", columns)) return error;
  const int expected = version == kSchemaVersion ? kLogColumns : kMigrations[version].log_columns;
  if (columns == expected) return std::nullopt;
  return "damaged: its tables are not those of schema version " + std::to_string(version);
}

SqlError CheckOwner(SqliteDb& db, std::int64_t version) {
  std::int64_t application_id = 0, tables = 0;
  if (SqlError error = db.QueryInt("PRAGMA application_id", application_id)) return error;
  if (SqlError error = db.QueryInt("SELECT count(*) FROM sqlite_master", tables)) return error;
  bool empty = application_id == 0 && version == 0 && tables == 0;
  if (application_id != kApplicationId && !empty) return "a database of another program";
  if (version > kSchemaVersion)
    return "written by a newer schema (version " + std::to_string(version) + "; this program knows " +
           std::to_string(kSchemaVersion) + ")";
  if (version < 0) return "damaged: its schema version is " + std::to_string(version);
  return CheckLayout(db, version);
}

SqlError Migrate(SqliteDb& db, std::int64_t version) {
  if (!AddChecksumFunctions(db.get())) return db.Error();
  for (const Migration& step : kMigrations) {
    if (step.from < version) continue;
    if (SqlError error = db.Exec(step.sql)) return error;
  }
  std::string stamp = "PRAGMA application_id = " + std::to_string(kApplicationId) +
                      "; PRAGMA user_version = " + std::to_string(kSchemaVersion);
  return db.Exec(stamp.c_str());
}

// Older versions created the file with the permissions of the umask, so usually all users could read it.
// Migrating such a file makes it private; later changes of the permissions by its owner are respected.
constexpr int kFirstPrivateVersion = 3;

// Ignores errors: the file may belong to another user, who then has to change the permissions.
void MakePrivate(const std::string& path) {
  for (const char* side : {"", "-wal", "-journal"}) chmod((path + side).c_str(), S_IRUSR | S_IWUSR);
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
  // Returns the first error. If the rollback fails too, closing the connection rolls back.
  if (error && db.InTransaction()) db.Exec("ROLLBACK");
  if (!error && version < kFirstPrivateVersion) MakePrivate(sqlite3_db_filename(db.get(), "main"));
  return error;
}

}  // namespace terrarium::storage

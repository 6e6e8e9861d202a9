#include "storage/internal/sqlite_schema.h"

#include <filesystem>

#include <gtest/gtest.h>
#include <sqlite3.h>

#include "api/base/check.h"
#include "storage/internal/row_checksum.h"
#include "storage/sqlite_store.h"
#include "tests/storage/faulty_vfs.h"
#include "tests/storage/store_testing.h"

namespace terrarium::storage {
namespace {

using testing::kPods;
using testing::MakeObject;
using testing::Show;

// The layout of version 1 as released; it never changes.
constexpr const char* kVersion1 = R"(
    CREATE TABLE log (
      revision INTEGER PRIMARY KEY,
      resource TEXT NOT NULL,
      ns TEXT NOT NULL,
      name TEXT NOT NULL,
      op INTEGER NOT NULL,
      body BLOB NOT NULL);
    CREATE TABLE meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
    INSERT INTO meta VALUES ('compacted', 0), ('revision', 1);
    PRAGMA application_id = 1416786529;
    PRAGMA user_version = 1;
)";

class SqliteSchemaTest : public ::testing::Test {
 protected:
  std::int64_t Sql(const std::string& sql) {
    sqlite3* db = nullptr;
    CHECK(sqlite3_open(path_.c_str(), &db) == SQLITE_OK);
    std::int64_t answer = 0;
    auto row = [](void* out, int, char** values, char**) {
      *static_cast<std::int64_t*>(out) = std::atoll(values[0]);
      return 0;
    };
    CHECK(AddChecksumFunctions(db));
    EXPECT_EQ(sqlite3_exec(db, sql.c_str(), row, &answer, nullptr), SQLITE_OK) << sqlite3_errmsg(db);
    sqlite3_close(db);
    return answer;
  }
  void InsertRow(std::int64_t revision, const std::string& name, LogOp op, int value) {
    Sql("INSERT INTO log (revision, resource, ns, name, op, body) VALUES (" + std::to_string(revision) +
        ", 'pods', 'a', '" + name + "', " + std::to_string(static_cast<int>(op)) + ", '" +
        MakeObject("a", name, value)->AtRevision(revision)->body() + "')");
  }
  api::Result<std::unique_ptr<Store>> Open(const std::string& vfs = "") {
    SqliteOptions options;
    options.path = path_;
    options.vfs = vfs;
    return OpenSqliteStore(options);
  }

  testing::TempDir dir_;
  std::string path_ = dir_.File("store.db");
};

TEST_F(SqliteSchemaTest, ANewFileCarriesVersionAndApplication) {
  ASSERT_TRUE(Open().ok());
  EXPECT_EQ(Sql("PRAGMA user_version"), kSchemaVersion);
  EXPECT_EQ(Sql("PRAGMA application_id"), kApplicationId);
}

TEST_F(SqliteSchemaTest, ANewerVersionIsRefusedInOneLine) {
  ASSERT_TRUE(Open().ok());
  Sql("PRAGMA user_version = 9");
  auto store = Open();
  ASSERT_FALSE(store.ok());
  EXPECT_EQ(store.status().message, path_ + ": written by a newer schema (version 9; this program knows 4)");
  EXPECT_EQ(Sql("PRAGMA user_version"), 9);
}

TEST_F(SqliteSchemaTest, Version1IsBroughtUpToDate) {
  Sql(kVersion1);
  InsertRow(2, "x", LogOp::kCreate, 1);
  InsertRow(3, "y", LogOp::kCreate, 1);
  InsertRow(4, "x", LogOp::kUpdate, 2);
  InsertRow(5, "y", LogOp::kDelete, 1);
  InsertRow(6, "y", LogOp::kCreate, 5);
  InsertRow(7, "x", LogOp::kUpdate, 3);
  auto store = Open();
  ASSERT_TRUE(store.ok()) << store.status().message;
  EXPECT_EQ((*store)->CurrentRevision(), 7);
  EXPECT_EQ(Show((*store)->List({.resource = kPods})->items), "a/x=3@7 a/y=5@6");
  EXPECT_EQ(Show((*store)->List({.resource = kPods, .at_revision = 4})->items), "a/x=2@4 a/y=1@3");
  (*store)->Shutdown();
  EXPECT_EQ(Sql("PRAGMA user_version"), kSchemaVersion);
  EXPECT_EQ(Sql("SELECT previous_revision FROM log WHERE revision = 7"), 4);
  EXPECT_EQ(Sql("SELECT previous_revision FROM log WHERE revision = 6"), 0);
  EXPECT_EQ(Sql("SELECT previous_revision FROM log WHERE revision = 5"), 3);
}

TEST_F(SqliteSchemaTest, ACompactedVersion1IsBroughtUpToDate) {
  Sql(kVersion1);
  Sql("UPDATE meta SET value = 5");
  InsertRow(4, "x", LogOp::kUpdate, 2);  // the version it replaced is gone
  InsertRow(6, "x", LogOp::kUpdate, 3);
  auto store = Open();
  ASSERT_TRUE(store.ok()) << store.status().message;
  EXPECT_EQ((*store)->CompactedRevision(), 5);
  EXPECT_EQ(Show((*store)->List({.resource = kPods, .at_revision = 5})->items), "a/x=2@4");
  EXPECT_EQ(Show((*store)->List({.resource = kPods})->items), "a/x=3@6");
}

TEST_F(SqliteSchemaTest, AMigrationThatFailsAtAnyPointLeavesTheOldVersionWhole) {
  Sql(kVersion1);
  InsertRow(2, "x", LogOp::kCreate, 1);
  InsertRow(3, "x", LogOp::kUpdate, 2);
  testing::FaultyVfs vfs("faulty");
  int failures = 0;
  for (int operations = 0;; ++operations) {
    vfs.FailAfter(operations, SQLITE_FULL);
    bool worked = Open("faulty").ok();
    vfs.Heal();
    if (worked) break;
    ++failures;
    // The file has the old or the new version. Both are readable, and the old one is migrated again.
    std::int64_t version = Sql("PRAGMA user_version");
    EXPECT_TRUE(version == 1 || version == kSchemaVersion) << version;
    EXPECT_EQ(Sql("SELECT count(*) FROM log"), 2) << "after " << operations;
  }
  EXPECT_GT(failures, 3);
  auto store = Open();
  ASSERT_TRUE(store.ok());
  EXPECT_EQ(Show((*store)->List({.resource = kPods})->items), "a/x=2@3");
}

// The layout of version 2 as released; it never changes.
constexpr const char* kVersion2 = R"(
    CREATE TABLE log (
      revision INTEGER PRIMARY KEY,
      resource TEXT NOT NULL,
      ns TEXT NOT NULL,
      name TEXT NOT NULL,
      op INTEGER NOT NULL,
      previous_revision INTEGER NOT NULL,
      body BLOB NOT NULL);
    CREATE TABLE meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
    INSERT INTO meta VALUES ('compacted', 0), ('revision', 1);
    PRAGMA application_id = 1416786529;
    PRAGMA user_version = 2;
)";

TEST_F(SqliteSchemaTest, Version2GetsChecksums) {
  Sql(kVersion2);
  Sql("INSERT INTO log VALUES (2, 'pods', 'a', 'x', 0, 0, '" +
      MakeObject("a", "x", 1)->AtRevision(2)->body() + "')");
  Sql("INSERT INTO log VALUES (3, 'pods', 'a', 'x', 1, 2, '" +
      MakeObject("a", "x", 2)->AtRevision(3)->body() + "')");
  auto store = Open();
  ASSERT_TRUE(store.ok()) << store.status().message;
  EXPECT_EQ(Show((*store)->List({.resource = kPods})->items), "a/x=2@3");
  (*store)->Shutdown();
  EXPECT_EQ(Sql("SELECT count(*) FROM log WHERE checksum = "
                "row_checksum(revision, resource, ns, name, op, previous_revision, body, owners)"),
            2);
  EXPECT_TRUE(Open().ok());
}

// The layout of version 3 as released; it never changes.
constexpr const char* kVersion3 = R"(
    CREATE TABLE log (
      revision INTEGER PRIMARY KEY,
      resource TEXT NOT NULL,
      ns TEXT NOT NULL,
      name TEXT NOT NULL,
      op INTEGER NOT NULL,
      previous_revision INTEGER NOT NULL,
      body BLOB NOT NULL,
      checksum INTEGER NOT NULL DEFAULT 0);
    CREATE TABLE meta (key TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
    INSERT INTO meta VALUES ('compacted', 0), ('revision', 1), ('checksum', meta_checksum(0, 1));
    PRAGMA application_id = 1416786529;
    PRAGMA user_version = 3;
)";

TEST_F(SqliteSchemaTest, Version3GetsOwnersAndItsObjectsHaveNone) {
  Sql(kVersion3);
  const std::string body = MakeObject("a", "x", 1)->AtRevision(2)->body();
  Sql("INSERT INTO log VALUES (2, 'pods', 'a', 'x', 0, 0, '" + body +
      "', row_checksum(2, 'pods', 'a', 'x', 0, 0, '" + body + "'))");
  auto store = Open();
  ASSERT_TRUE(store.ok()) << store.status().message;
  const ObjectPtr object = (*store)->Get({kPods, "a", "x"});
  ASSERT_NE(object, nullptr);
  EXPECT_EQ(object->body(), body);
  EXPECT_EQ(object->owners(), nullptr);
}

TEST_F(SqliteSchemaTest, DamageOfARowOfVersion3IsFoundAfterItsMigration) {
  Sql(kVersion3);
  Sql("INSERT INTO log VALUES (2, 'pods', 'a', 'x', 0, 0, '" +
      MakeObject("a", "x", 1)->AtRevision(2)->body() + "', 7)");
  auto store = Open();
  ASSERT_FALSE(store.ok());
  EXPECT_EQ(store.status().message, path_ +
                                        ": damaged: revision 2 (pods a/x) does not have the checksum "
                                        "with which it was written");
}

TEST_F(SqliteSchemaTest, AVersionThatIsNotThatOfTheTablesIsDamage) {
  ASSERT_TRUE(Open().ok());
  for (int version : {0, 1, 2, 3}) {
    Sql("PRAGMA user_version = " + std::to_string(version));
    auto store = Open();
    ASSERT_FALSE(store.ok()) << version;
    EXPECT_EQ(store.status().message,
              path_ + ": damaged: its tables are not those of schema version " + std::to_string(version));
  }
  Sql("PRAGMA user_version = " + std::to_string(kSchemaVersion));
  EXPECT_TRUE(Open().ok());
}

TEST_F(SqliteSchemaTest, AnOldFileIsMadePrivateOnceAndThenLeftToItsOwner) {
  using std::filesystem::perms;
  const perms wide = perms(0644), shared = perms(0640), owner = perms(0600);
  auto permissions = [this] { return std::filesystem::status(path_).permissions(); };
  Sql(kVersion2);
  std::filesystem::permissions(path_, wide);
  ASSERT_TRUE(Open().ok());
  EXPECT_EQ(permissions(), owner);
  std::filesystem::permissions(path_, shared);
  ASSERT_TRUE(Open().ok());
  EXPECT_EQ(permissions(), shared);
}

}  // namespace
}  // namespace terrarium::storage

#include "storage/sqlite_store.h"

#include <filesystem>
#include <fstream>
#include <future>

#include <gtest/gtest.h>
#include <sqlite3.h>
#include <sys/stat.h>

#include "api/apply/managed_fields.h"
#include "api/base/check.h"
#include "storage/internal/row_checksum.h"
#include "storage/internal/sqlite_schema.h"
#include "tests/storage/faulty_vfs.h"
#include "tests/storage/store_testing.h"

namespace terrarium::storage {
namespace {

using testing::CreateWrite;
using testing::DeleteWrite;
using testing::Do;
using testing::kPods;
using testing::Must;
using testing::Show;
using testing::TakeAll;
using testing::UpdateWrite;
using Code = WriteOutcome::Code;

class SqliteStoreTest : public ::testing::Test {
 protected:
  SqliteStoreTest() {
    options_.path = dir_.File("store.db");
    options_.durability = Durability::kOff;
  }
  std::unique_ptr<Store> Open() {
    api::Result<std::unique_ptr<Store>> store = OpenSqliteStore(options_);
    if (!store) ADD_FAILURE() << store.status().message;
    CHECK(store.ok());
    return std::move(*store);
  }
  // The message of the failure, without the path.
  std::string OpenError() {
    api::Result<std::unique_ptr<Store>> store = OpenSqliteStore(options_);
    if (store) return "it opened";
    const std::string& message = store.status().message;
    EXPECT_TRUE(message.starts_with(options_.path + ": ")) << message;
    EXPECT_EQ(message.find('\n'), std::string::npos);
    return message.substr(options_.path.size() + 2);
  }
  // Runs SQL on the file of a closed store and returns its first number.
  std::int64_t Sql(const std::string& sql) {
    sqlite3* db = nullptr;
    CHECK(sqlite3_open(options_.path.c_str(), &db) == SQLITE_OK);
    CHECK(AddChecksumFunctions(db));
    std::int64_t answer = 0;
    auto row = [](void* out, int, char** values, char**) {
      *static_cast<std::int64_t*>(out) = values[0] == nullptr ? 0 : std::atoll(values[0]);
      return 0;
    };
    char* error = nullptr;
    EXPECT_EQ(sqlite3_exec(db, sql.c_str(), row, &answer, &error), SQLITE_OK)
        << (error == nullptr ? "" : error);
    sqlite3_free(error);
    sqlite3_close(db);
    return answer;
  }

  testing::TempDir dir_;
  SqliteOptions options_;
};

TEST_F(SqliteStoreTest, ReopeningKeepsObjectsHistoryAndRevisions) {
  auto store = Open();
  std::int64_t base = store->CurrentRevision();
  ObjectPtr x = Must(*store, CreateWrite("a", "x", 1));
  Must(*store, UpdateWrite(x, 2));
  Must(*store, DeleteWrite(Must(*store, CreateWrite("a", "y", 1))));
  Must(*store, CreateWrite("", "n", 1, "nodes"));
  store.reset();

  store = Open();
  EXPECT_EQ(store->CurrentRevision(), base + 5);
  EXPECT_EQ(Show(store->List({.resource = kPods})->items, base), "a/x=2@2");
  EXPECT_EQ(Show(store->List({.resource = "nodes"})->items, base), "n=1@5");
  EXPECT_EQ(Show(store->List({.resource = kPods, .at_revision = base + 3})->items, base), "a/x=2@2 a/y=1@3");
  auto watch = store->StartWatch({.resource = kPods, .from_revision = base + 1});
  ASSERT_TRUE(watch.ok());
  std::vector<Event> events = TakeAll(**watch);
  EXPECT_EQ(Show(events, base), "~a/x=2@2 +a/y=1@3 -a/y=1@4");
  EXPECT_EQ(Show(std::vector{events[0].previous}, base), "a/x=1@1");
  EXPECT_EQ((*watch)->DeliveredRevision(), base + 5);
  ObjectPtr now = store->Get({kPods, "a", "x"});
  EXPECT_EQ(now->body(), testing::MakeObject("a", "x", 2)->AtRevision(base + 2)->body());
  EXPECT_EQ(Must(*store, UpdateWrite(now, 3))->revision(), base + 6);
}

TEST_F(SqliteStoreTest, HeadersAreDerivedAgainFromTheDocument) {
  Must(*Open(), CreateWrite("a", "x", 7));
  ObjectPtr basic = Open()->Get({kPods, "a", "x"});
  EXPECT_EQ(basic->header().uid, "uid-x");
  EXPECT_EQ(*api::FindLabel(basic->header(), "app"), "x");

  options_.derive_header = [](std::string_view resource, const api::Json& document) {
    api::ObjectHeader header;
    header.fields = {std::string(resource), document["data"]["value"].dump()};
    return header;
  };
  ObjectPtr derived = Open()->Get({kPods, "a", "x"});
  EXPECT_EQ(derived->header().fields, (std::vector<std::string>{kPods, "7"}));
  EXPECT_EQ(derived->header().ns, "a");
  EXPECT_EQ(derived->header().name, "x");
  EXPECT_EQ(derived->revision(), basic->revision());
}

TEST_F(SqliteStoreTest, HeadersOfReopenedStoresHaveControllerPhaseAndNode) {
  const api::Json owner = {{"apiVersion", "apps/v1"},
                           {"kind", "ReplicaSet"},
                           {"name", "web"},
                           {"uid", "uid-web"},
                           {"controller", true}};
  const api::Json document = {
      {"metadata",
       {{"namespace", "a"}, {"name", "x"}, {"finalizers", {"example.com/f"}}, {"ownerReferences", {owner}}}},
      {"spec", {{"nodeName", "node-1"}}},
      {"status", {{"phase", "Running"}}}};
  Write write = CreateWrite("a", "x", 7);
  write.object = api::Object::Make(api::ReadHeader(document), document);
  Must(*Open(), std::move(write));
  ObjectPtr pod = Open()->Get({kPods, "a", "x"});
  ASSERT_NE(pod->controller(), nullptr);
  EXPECT_EQ(pod->controller()->uid, "uid-web");
  EXPECT_EQ(pod->name(), (api::ObjectName{"a", "x"}));
  EXPECT_EQ(pod->header().phase.text(), "Running");
  EXPECT_EQ(pod->header().node_name, "node-1");
  EXPECT_TRUE(pod->header().has_finalizers);
}

TEST_F(SqliteStoreTest, OwnersOfFieldsAreKeptBesideTheText) {
  const api::Json list = {{{"manager", "me"},
                           {"operation", "Apply"},
                           {"apiVersion", "v1"},
                           {"time", "2026-01-02T03:04:05Z"},
                           {"fieldsType", "FieldsV1"},
                           {"fieldsV1", {{"f:data", {{"f:value", api::Json::object()}}}}}}};
  std::string error;
  auto owners = api::ReadManagedFields(list, &error);
  ASSERT_TRUE(owners.has_value()) << error;
  auto store = Open();
  Write write = CreateWrite("a", "x");
  write.object = write.object->WithOwners(std::make_shared<const api::ManagedFields>(*owners));
  Must(*store, std::move(write));
  store.reset();
  store = Open();
  const ObjectPtr object = store->Get({kPods, "a", "x"});
  ASSERT_NE(object->owners(), nullptr);
  EXPECT_EQ(*object->owners(), *owners);
  EXPECT_EQ(object->ParseWithOwners()["metadata"]["managedFields"], list);
}

TEST_F(SqliteStoreTest, OwnersThatCannotBeReadAreDamage) {
  auto store = Open();
  const ObjectPtr x = Must(*store, CreateWrite("a", "x"));
  store.reset();
  const std::string row = "damaged: revision " + std::to_string(x->revision()) + " (pods a/x) ";
  Sql("UPDATE log SET owners = '['");
  EXPECT_EQ(OpenError(), row + "does not have the checksum with which it was written");
  const std::string checksum =
      "; UPDATE log SET checksum = row_checksum(revision, resource, ns, name, op, previous_revision, body, "
      "owners)";
  Sql("UPDATE log SET owners = '['" + checksum);
  EXPECT_EQ(OpenError(), row + "has owners that are not JSON");
  Sql("UPDATE log SET owners = '[{}]'" + checksum);
  EXPECT_EQ(OpenError(), row + "has owners that cannot be read: operation must be `Apply` or `Update`");
}

TEST_F(SqliteStoreTest, RevisionsDoNotGoBackWhenTheNewestRowsWereDeletionsAndAreCompacted) {
  auto store = Open();
  ObjectPtr x = Must(*store, CreateWrite("a", "x"));
  std::int64_t last = Must(*store, DeleteWrite(x))->revision();
  store->Compact(last);
  store.reset();
  EXPECT_EQ(Sql("SELECT count(*) FROM log"), 0);

  store = Open();
  EXPECT_EQ(store->CurrentRevision(), last);
  EXPECT_EQ(store->CompactedRevision(), last);
  EXPECT_EQ(Must(*store, CreateWrite("a", "x"))->revision(), last + 1);
}

TEST_F(SqliteStoreTest, CompactionKeepsEveryCurrentObjectAndWhatIsAbove) {
  auto store = Open();
  std::int64_t base = store->CurrentRevision();
  ObjectPtr x = Must(*store, CreateWrite("a", "x", 1));
  ObjectPtr y = Must(*store, CreateWrite("a", "y", 1));
  x = Must(*store, UpdateWrite(x, 2));
  Must(*store, DeleteWrite(y));
  x = Must(*store, UpdateWrite(x, 3));
  store->Compact(base + 4);
  store.reset();
  EXPECT_EQ(Sql("SELECT count(*) FROM log"), 2) << "the state at 4, and 5";
  store = Open();
  EXPECT_EQ(store->CompactedRevision(), base + 4);
  EXPECT_EQ(Show(store->List({.resource = kPods, .at_revision = base + 4})->items, base), "a/x=2@3");
  EXPECT_EQ(Show(store->List({.resource = kPods})->items, base), "a/x=3@5");
  EXPECT_FALSE(store->List({.resource = kPods, .at_revision = base + 3}).ok());
}

TEST_F(SqliteStoreTest, TheFileAndItsWalStayBoundedUnderUpdates) {
  options_.history = {.events_max = 100, .events_min = 10};
  options_.inline_commits = true;
  auto store = Open();
  ObjectPtr x = Must(*store, CreateWrite("a", "x"));
  std::string padding(2000, 'p');
  for (int i = 0; i < 6'000; ++i) {
    api::ObjectHeader header = x->header();
    Write write{.op = Write::Op::kUpdate, .key = {kPods, "a", "x"}, .expected_revision = x->revision()};
    write.object = api::Object::Make(header, {{"metadata", {{"name", "x"}}}, {"data", padding}});
    x = Must(*store, std::move(write));
  }
  EXPECT_LT(std::filesystem::file_size(options_.path + "-wal"), 20u << 20);
  store.reset();
  EXPECT_LT(std::filesystem::file_size(options_.path), 12u << 20);
  EXPECT_LE(Sql("SELECT count(*) FROM log"), 101);
}

TEST_F(SqliteStoreTest, HistoryLimitsHoldForAFileThatWasWrittenWithLargerOnes) {
  auto store = Open();
  ObjectPtr x = Must(*store, CreateWrite("a", "x"));
  for (int i = 0; i < 50; ++i) x = Must(*store, UpdateWrite(x, i));
  store.reset();
  options_.history = {.events_max = 10, .events_min = 10};
  store = Open();
  EXPECT_EQ(store->CompactedRevision(), store->CurrentRevision() - 10);
}

TEST_F(SqliteStoreTest, ASecondOpenerIsRefusedUntilTheFirstShutsDown) {
  auto first = Open();
  EXPECT_EQ(OpenError(), "in use by another process");
  Must(*first, CreateWrite("a", "x"));
  EXPECT_EQ(OpenError(), "in use by another process");
  first->Shutdown();
  EXPECT_EQ(Open()->Count(kPods), 1u);
}

TEST_F(SqliteStoreTest, AFileOfAnotherFormatIsLeftAlone) {
  std::ofstream(options_.path) << std::string(5000, 'x');
  EXPECT_EQ(OpenError(), "not a database");
  EXPECT_EQ(std::filesystem::file_size(options_.path), 5000u);
}

TEST_F(SqliteStoreTest, ADatabaseOfAnotherProgramIsLeftAlone) {
  Sql("CREATE TABLE theirs (x)");
  EXPECT_EQ(OpenError(), "a database of another program");
  Sql("PRAGMA application_id = 77");
  EXPECT_EQ(OpenError(), "a database of another program");
  EXPECT_EQ(Sql("SELECT count(*) FROM sqlite_master"), 1);
}

TEST_F(SqliteStoreTest, AMissingFolderIsReported) {
  options_.path = dir_.File("missing/store.db");
  EXPECT_EQ(OpenError(), "No such file or directory");
}

TEST_F(SqliteStoreTest, TheFileAndItsWalAreTheOwnersAlone) {
  const mode_t before = umask(0);
  auto store = Open();
  umask(before);
  Must(*store, CreateWrite("a", "x"));
  for (const std::string& file : {options_.path, options_.path + "-wal"})
    EXPECT_EQ(std::filesystem::status(file).permissions(), std::filesystem::perms(0600)) << file;
}

TEST_F(SqliteStoreTest, ANameIsAlwaysThatOfAFile) {
  const std::filesystem::path here = std::filesystem::current_path();
  std::filesystem::current_path(std::filesystem::path(dir_.File("x")).parent_path());
  for (const char* name : {":memory:", "file:uri.db?mode=memory", "file::memory:", "plain.db"}) {
    options_.path = name;
    Must(*Open(), CreateWrite("a", "x"));
    EXPECT_TRUE(std::filesystem::is_regular_file(name)) << name;
    EXPECT_EQ(Open()->Count(kPods), 1u) << name;
  }
  std::filesystem::current_path(here);
}

TEST_F(SqliteStoreTest, SymbolicLinksAreFollowedUnlessForbidden) {
  Must(*Open(), CreateWrite("a", "x"));
  std::filesystem::create_symlink(options_.path, dir_.File("link.db"));
  options_.path = dir_.File("link.db");
  EXPECT_EQ(Open()->Count(kPods), 1u);
  options_.follow_symlinks = false;
  EXPECT_NE(OpenError(), "it opened");
  std::filesystem::remove(options_.path);
  std::filesystem::create_symlink(dir_.File("nothing"), options_.path);
  options_.follow_symlinks = true;
  EXPECT_EQ(OpenError(), "a symbolic link: No such file or directory");
  EXPECT_FALSE(std::filesystem::exists(dir_.File("nothing")));
}

TEST_F(SqliteStoreTest, AFileThatIsTakenAwayIsNoticed) {
  auto store = Open();
  Must(*store, CreateWrite("a", "x"));
  EXPECT_EQ(store->Trouble(), "");
  std::filesystem::rename(options_.path, dir_.File("elsewhere.db"));
  EXPECT_EQ(store->Trouble(), options_.path +
                                  " is gone (No such file or directory): its objects are lost when the "
                                  "server ends");
  std::ofstream(options_.path) << "another one";
  EXPECT_EQ(store->Trouble(),
            options_.path + " was replaced by another file: its objects are lost when the server ends");
  std::filesystem::rename(dir_.File("elsewhere.db"), options_.path);
  EXPECT_EQ(store->Trouble(), "");
}

TEST_F(SqliteStoreTest, AWriteAheadLogThatIsTakenAwayIsNoticed) {
  const std::string wal = options_.path + "-wal";
  Open()->Shutdown();
  std::filesystem::create_symlink(options_.path, dir_.File("link.db"));
  for (const char* name : {"store.db", "link.db"}) {
    options_.path = dir_.File(name);
    auto store = Open();
    EXPECT_EQ(store->Trouble(), "");
    Must(*store, CreateWrite("a", name));
    store->Compact(store->CurrentRevision());
    EXPECT_EQ(store->Trouble(), "");
    std::filesystem::rename(wal, dir_.File("elsewhere"));
    EXPECT_EQ(store->Trouble(), wal +
                                    " is gone (No such file or directory): the newest writes are lost if "
                                    "the server is killed");
    std::ofstream(wal) << "another one";
    EXPECT_EQ(store->Trouble(),
              wal + " was replaced by another file: the newest writes are lost if the server is killed");
    std::filesystem::rename(dir_.File("elsewhere"), wal);
    EXPECT_EQ(store->Trouble(), "");
  }
}

TEST_F(SqliteStoreTest, ALogThatDoesNotAddUpIsRefused) {
  auto store = Open();
  std::int64_t base = store->CurrentRevision();
  ObjectPtr x = Must(*store, CreateWrite("a", "x"));
  x = Must(*store, UpdateWrite(x, 1));
  Must(*store, UpdateWrite(x, 2));
  store.reset();
  std::filesystem::copy_file(options_.path, dir_.File("whole.db"));
  auto damaged = [&](const std::string& sql) {
    std::filesystem::copy_file(dir_.File("whole.db"), options_.path,
                               std::filesystem::copy_options::overwrite_existing);
    Sql(sql);
    return OpenError();
  };
  // The writer of the row also wrote its checksum.
  const std::string with_checksums =
      "; UPDATE log SET checksum = row_checksum(revision, resource, ns, name, op, previous_revision, body, "
      "owners); "
      "UPDATE meta SET value = meta_checksum((SELECT value FROM meta WHERE key = 'compacted'), "
      "(SELECT value FROM meta WHERE key = 'revision')) WHERE key = 'checksum'";
  std::string second = "revision " + std::to_string(base + 2) + " (pods a/x) ";
  std::string third = "revision " + std::to_string(base + 3) + " (pods a/x) ";
  EXPECT_EQ(damaged("DELETE FROM log WHERE revision = " + std::to_string(base + 2)),
            "damaged: " + third + "does not follow the one before");
  EXPECT_EQ(damaged("UPDATE log SET previous_revision = 1 WHERE revision = " + std::to_string(base + 2)),
            "damaged: " + second + "does not have the checksum with which it was written");
  EXPECT_EQ(damaged("UPDATE log SET previous_revision = 1 WHERE revision = " + std::to_string(base + 2) +
                    with_checksums),
            "damaged: " + second + "does not fit the state before it");
  EXPECT_EQ(damaged("UPDATE log SET body = substr(body, 1, length(body) - 1) WHERE revision = " +
                    std::to_string(base + 2) + with_checksums),
            "damaged: " + second + "is not JSON");
  EXPECT_EQ(
      damaged("UPDATE log SET body = 'x' WHERE revision = " + std::to_string(base + 2) + with_checksums),
      "damaged: " + second + "does not begin with its own revision");
  EXPECT_EQ(damaged("UPDATE meta SET value = 99 WHERE key = 'revision'"),
            "damaged: the table meta does not have the checksum with which it was written");
  EXPECT_EQ(damaged("DELETE FROM meta WHERE key = 'compacted'").substr(0, 24), "damaged: the table meta:");
  EXPECT_EQ(
      damaged("UPDATE meta SET value = 99 WHERE key = 'revision'" + with_checksums),
      "damaged: the log ends at revision " + std::to_string(base + 3) + ", but the store had reached 99");
}

TEST_F(SqliteStoreTest, AFailedCommitChangesNothingAndTheNextOneWorks) {
  testing::FaultyVfs vfs("faulty");
  options_.vfs = "faulty";
  auto store = Open();
  ObjectPtr x = Must(*store, CreateWrite("a", "x", 1));
  auto watch = store->ListAndWatch({.resource = kPods}).watch;
  for (int code : {SQLITE_FULL, SQLITE_IOERR_WRITE, SQLITE_IOERR_FSYNC}) {
    vfs.FailAfter(0, code);
    WriteOutcome outcome = Do(*store, UpdateWrite(x, 2));
    EXPECT_EQ(outcome.code, Code::kFailed);
    EXPECT_EQ(outcome.object, nullptr);
    EXPECT_EQ(outcome.error, code == SQLITE_FULL ? "database or disk is full" : "disk I/O error");
    EXPECT_EQ(store->CurrentRevision(), x->revision());
    EXPECT_EQ(store->Get({kPods, "a", "x"}), x);
    EXPECT_TRUE(TakeAll(*watch).empty());
    vfs.Heal();
    ObjectPtr next = Must(*store, UpdateWrite(x, 3));
    EXPECT_EQ(next->revision(), x->revision() + 1);
    EXPECT_EQ(TakeAll(*watch).size(), 1u);
    x = next;
  }
  store.reset();
  EXPECT_EQ(Open()->Get({kPods, "a", "x"})->body(), x->body());
}

TEST_F(SqliteStoreTest, ABatchFailsAsAWhole) {
  testing::FaultyVfs vfs("faulty");
  options_.vfs = "faulty";
  auto store = Open();
  std::int64_t base = store->CurrentRevision();
  // The commit thread waits in the first acknowledgement while the batch fills.
  std::promise<void> started, go;
  store->Submit(CreateWrite("a", "first"), [&](WriteOutcome) {
    started.set_value();
    go.get_future().wait();
  });
  started.get_future().wait();
  std::vector<Code> codes;
  auto note = [&](WriteOutcome outcome) { codes.push_back(outcome.code); };
  store->Submit(CreateWrite("a", "x"), note);
  store->Submit(CreateWrite("a", "x"), note);  // refused only because of the previous write
  store->Submit(CreateWrite("a", "y"), note);
  vfs.FailAfter(0, SQLITE_FULL);
  go.set_value();
  Do(*store, DeleteWrite(testing::MakeObject("a", "never")));
  EXPECT_EQ(codes, (std::vector<Code>(3, Code::kFailed)));
  EXPECT_EQ(store->CurrentRevision(), base + 1);
  vfs.Heal();
  EXPECT_EQ(Must(*store, CreateWrite("a", "x"))->revision(), base + 2);
  store.reset();
  EXPECT_EQ(Show(Open()->List({.resource = kPods})->items, base), "a/first=0@1 a/x=0@2");
}

TEST_F(SqliteStoreTest, AFailedCompactionIsTriedAgain) {
  testing::FaultyVfs vfs("faulty");
  options_.vfs = "faulty";
  options_.inline_commits = true;
  auto store = Open();
  Must(*store, DeleteWrite(Must(*store, CreateWrite("a", "x"))));
  vfs.FailAfter(0, SQLITE_FULL);
  store->Compact(store->CurrentRevision());
  EXPECT_EQ(store->CompactedRevision(), store->CurrentRevision());
  vfs.Heal();
  store.reset();
  EXPECT_EQ(Sql("SELECT count(*) FROM log"), 0);
}

}  // namespace
}  // namespace terrarium::storage

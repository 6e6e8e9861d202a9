// Acknowledged writes survive a crash at any point.

#include <set>

#include <gtest/gtest.h>
#include <signal.h>
#include <sqlite3.h>
#include <sys/wait.h>
#include <unistd.h>

#include "api/base/check.h"
#include "storage/sqlite_store.h"
#include "tests/storage/faulty_vfs.h"
#include "tests/storage/store_testing.h"

namespace terrarium::storage {
namespace {

using testing::CreateWrite;
using testing::DeleteWrite;
using testing::Do;
using testing::kPods;
using testing::Show;
using testing::UpdateWrite;
using Code = WriteOutcome::Code;

std::string ShowPods(const Store& store) { return Show(store.List({.resource = kPods})->items); }

struct Outcome {
  std::int64_t acknowledged = 0;
  bool failed = false;
};

// Creates, updates, deletes and compacts, always the same, until a write fails.
Outcome Work(Store& store, int writes) {
  Outcome outcome;
  for (int i = 0; i < writes; ++i) {
    std::string name = "x" + std::to_string(i % 4);
    ObjectPtr now = store.Get({kPods, "a", name});
    Write write = now == nullptr ? CreateWrite("a", name, i) : UpdateWrite(now, i);
    if (now != nullptr && i % 5 == 0) write = DeleteWrite(now);
    WriteOutcome written = Do(store, std::move(write));
    if (written.code != Code::kOk) {
      EXPECT_EQ(written.code, Code::kFailed);
      outcome.failed = true;
      return outcome;
    }
    outcome.acknowledged = written.object->revision();
    if (i % 7 == 0) store.Compact(outcome.acknowledged - 3);
  }
  return outcome;
}

TEST(SqliteCrash, AnAcknowledgedWriteSurvivesTheEndOfTheProcessAtEveryFileOperation) {
  constexpr int kWrites = 40;
  testing::TempDir dir;
  testing::FaultyVfs vfs("faulty");
  auto open = [&](const std::string& file, const std::string& vfs_name) {
    SqliteOptions options;
    options.path = dir.File(file);
    options.durability = Durability::kOff;  // the process crashes, not the machine
    options.inline_commits = true;
    options.vfs = vfs_name;
    auto store = OpenSqliteStore(options);
    if (!store) ADD_FAILURE() << store.status().message;
    CHECK(store.ok());
    return std::move(*store);
  };

  // The state of the store at each revision without failures.
  std::map<std::int64_t, std::string> expected;
  {
    auto store = open("whole.db", "");
    expected[store->CurrentRevision()] = "";
    Outcome whole = Work(*store, kWrites);
    ASSERT_FALSE(whole.failed);
    for (int writes = 1; writes <= kWrites; ++writes) {
      auto one = open("r" + std::to_string(writes) + ".db", "");
      Work(*one, writes);
      expected[one->CurrentRevision()] = ShowPods(*one);
    }
  }

  int crashes = 0;
  for (int operations = 0;; operations += 3) {
    std::string file = "crash" + std::to_string(operations) + ".db";
    Outcome before;
    std::int64_t start = 0;
    {
      auto store = open(file, "faulty");
      start = store->CurrentRevision();
      vfs.FailAfter(operations, SQLITE_IOERR_WRITE);
      before = Work(*store, kWrites);
      store.reset();
      vfs.Heal();
    }
    auto after = open(file, "");
    std::int64_t acknowledged = std::max(before.acknowledged, start);
    EXPECT_GE(after->CurrentRevision(), acknowledged) << "crash after " << operations << " operations";
    EXPECT_LE(after->CurrentRevision(), acknowledged + 1) << "at most the write that was under way";
    EXPECT_EQ(ShowPods(*after), expected.at(after->CurrentRevision())) << "crash after " << operations;
    std::int64_t next = after->CurrentRevision() + 1;
    EXPECT_EQ(Do(*after, CreateWrite("b", "next")).object->revision(), next);
    if (!before.failed) break;
    ++crashes;
  }
  EXPECT_GT(crashes, 20);
}

// A real crash: a child process writes as fast as it can and reports acknowledged writes until it is killed.
TEST(SqliteCrash, NothingAcknowledgedIsLostOnKill) {
  for (std::size_t round = 0; round < 3; ++round) {
    testing::TempDir dir;
    SqliteOptions options;
    options.path = dir.File("store.db");
    options.durability = round == 0 ? Durability::kFull : Durability::kOff;
    options.history = {.events_max = 200, .events_min = 50};
    int pipe_ends[2];
    ASSERT_EQ(pipe(pipe_ends), 0);
    pid_t child = fork();
    ASSERT_GE(child, 0);
    if (child == 0) {
      close(pipe_ends[0]);
      auto store = OpenSqliteStore(options);
      if (!store) _exit(1);
      for (int i = 0;; ++i) {
        (*store)->Submit(CreateWrite("a", "x" + std::to_string(i)), [&, i](WriteOutcome outcome) {
          std::int64_t record[2] = {i, outcome.object->revision()};
          if (write(pipe_ends[1], record, sizeof(record)) != sizeof(record)) _exit(1);
        });
        if (i % 64 != 63) continue;
        // Waits for all earlier writes, so that some are in flight without flooding memory.
        Do(**store, DeleteWrite(testing::MakeObject("a", "never")));
        Do(**store, DeleteWrite((*store)->Get({kPods, "a", "x" + std::to_string(i - 63)})));
      }
    }
    close(pipe_ends[1]);
    std::map<std::int64_t, std::int64_t> acknowledged;  // number in the name -> revision
    std::int64_t record[2];
    while (acknowledged.size() < 300 + 500 * round &&
           read(pipe_ends[0], record, sizeof(record)) == sizeof(record))
      acknowledged[record[0]] = record[1];
    ASSERT_GE(acknowledged.size(), 300u);
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    while (read(pipe_ends[0], record, sizeof(record)) == sizeof(record)) acknowledged[record[0]] = record[1];
    close(pipe_ends[0]);

    auto store = OpenSqliteStore(options);
    ASSERT_TRUE(store.ok()) << store.status().message;
    for (const auto& [number, revision] : acknowledged) {
      EXPECT_LE(revision, (*store)->CurrentRevision());
      ObjectPtr object = (*store)->Get({kPods, "a", "x" + std::to_string(number)});
      if (object == nullptr) {
        EXPECT_EQ(number % 64, 0) << "only these are ever deleted";
      } else {
        EXPECT_EQ(object->revision(), revision);
      }
    }
  }
}

}  // namespace
}  // namespace terrarium::storage

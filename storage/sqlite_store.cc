#include "storage/sqlite_store.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <mutex>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include <sys/stat.h>

#include "storage/internal/batch.h"
#include "storage/internal/commit_thread.h"
#include "storage/internal/sqlite_load.h"
#include "storage/internal/sqlite_log.h"
#include "storage/internal/store_base.h"

namespace terrarium::storage {
namespace {

// Limits the size of a transaction, and thereby how long its first write waits for the others.
constexpr std::size_t kBatchWritesMax = 1024;
// Revisions that one compaction transaction covers, and how far the file may lag behind memory.
constexpr std::int64_t kCompactRevisions = 1000;

// Detects that the file at a path was removed or replaced. SQLite continues to use the file that it opened.
class FileIdentity {
 public:
  // `loss` is the part of Trouble() that states what is lost.
  FileIdentity(std::string path, std::string loss) : path_(std::move(path)), loss_(std::move(loss)) {
    known_ = stat(path_.c_str(), &at_open_) == 0;
  }

  // Empty when the path still names the file that was opened.
  std::string Trouble() const {
    struct stat now {};
    if (!known_) return "";
    if (stat(path_.c_str(), &now) != 0) return path_ + " is gone (" + std::strerror(errno) + "): " + loss_;
    if (now.st_dev == at_open_.st_dev && now.st_ino == at_open_.st_ino) return "";
    return path_ + " was replaced by another file: " + loss_;
  }

 private:
  std::string path_;
  std::string loss_;
  struct stat at_open_ {};
  bool known_ = false;
};

// SQLite keeps the WAL beside the file that a symbolic link leads to.
std::string WalOf(const std::string& path) {
  std::error_code error;
  std::filesystem::path file = std::filesystem::canonical(path, error);
  return (error ? path : file.string()) + "-wal";
}

class SqliteStore final : public StoreBase {
 public:
  SqliteStore(const SqliteOptions& options, std::unique_ptr<SqliteLog> log, LoadedFile loaded)
      : StoreBase(std::move(loaded.state)),
        file_(options.path, "its objects are lost when the server ends"),
        wal_(WalOf(options.path), "the newest writes are lost if the server is killed"),
        log_(std::move(log)),
        file_compacted_(loaded.compacted),
        recent_(std::move(loaded.recent)) {
    if (!options.inline_commits)
      thread_ = std::make_unique<CommitThread>(
          kBatchWritesMax, [this](std::vector<CommitJob> jobs) { CommitAndNotify(std::move(jobs)); });
  }
  SqliteStore(const SqliteStore&) = delete;
  SqliteStore& operator=(const SqliteStore&) = delete;
  ~SqliteStore() override { Shutdown(); }

  void Submit(Write write, WriteDone done) override {
    CommitJob job{std::move(write), std::move(done)};
    if (thread_ == nullptr) {
      std::vector<CommitJob> jobs;
      jobs.push_back(std::move(job));
      CommitAndNotify(std::move(jobs));
    } else if (!thread_->Push(job)) {
      job.done(ShutDownOutcome());
    }
  }

  void Compact(std::int64_t revision) override {
    state_->Compact(revision);
    compact_asked_.store(true);
    if (thread_ != nullptr) {
      thread_->Poke();
    } else {
      CommitAndNotify({});
    }
  }

  std::string Trouble() const override {
    if (shut_down_done_) return "";
    std::string trouble = file_.Trouble();
    return trouble.empty() ? wal_.Trouble() : trouble;
  }

  void Shutdown() override {
    std::call_once(shut_down_, [this] {
      if (thread_ != nullptr) thread_->Stop();
      Wakes wakes;
      {
        std::lock_guard lock(sequencer_);
        CompactFile(1);
        // Closing checkpoints the WAL into the file. If that fails, the WAL stays, and the next open reads
        // it.
        log_.reset();
        shut_down_done_ = true;
        wakes = hub_.Close();
      }
      CallWakes(wakes);
    });
  }

 private:
  // REQUIRES: the caller holds no lock of the store.
  void CommitAndNotify(std::vector<CommitJob> jobs) {
    std::vector<WriteOutcome> outcomes;
    Wakes wakes;
    {
      std::lock_guard lock(sequencer_);
      outcomes = Commit(jobs, wakes);
    }
    CallWakes(wakes);
    for (std::size_t i = 0; i < jobs.size(); ++i) jobs[i].done(std::move(outcomes[i]));
    // Compacts last, so that no write of this batch waits for it.
    std::lock_guard lock(sequencer_);
    CompactFile(compact_asked_.exchange(false) ? 1 : kCompactRevisions);
  }

  std::vector<WriteOutcome> Commit(std::vector<CommitJob>& jobs, Wakes& wakes) {
    if (log_ == nullptr) return std::vector<WriteOutcome>(jobs.size(), ShutDownOutcome());
    std::vector<WriteOutcome> outcomes;
    outcomes.reserve(jobs.size());
    Batch batch(*state_);
    for (CommitJob& job : jobs) outcomes.push_back(batch.Add(std::move(job.write)));
    if (batch.changes().empty()) return outcomes;
    if (SqlError error = log_->Append(batch.changes())) {
      // Refused writes fail too: the reason may have been a write of this batch that was not committed.
      return std::vector<WriteOutcome>(jobs.size(), {WriteOutcome::Code::kFailed, nullptr, *error});
    }
    for (const Change& change : batch.changes()) recent_.Add(BytesKeptAlive(change.event));
    state_->Apply(batch.changes());
    wakes = hub_.Publish(batch.changes());
    return outcomes;
  }

  // Compacts the file up to the newest events of all resources if it lags by `lag_min` revisions or more. A
  // failure costs only space in the file; the next write tries again.
  void CompactFile(std::int64_t lag_min) {
    const std::int64_t target = std::max(state_->floor(), state_->revision() - recent_.count());
    while (log_ != nullptr && target - file_compacted_ >= lag_min) {
      std::int64_t to = std::min(target, file_compacted_ + kCompactRevisions);
      if (log_->Compact({.from = file_compacted_, .to = to, .revision = state_->revision()})) return;
      file_compacted_ = to;
      if (lag_min > 1) return;  // one transaction at a time between writes
    }
  }

  const FileIdentity file_;
  const FileIdentity wal_;  // written when the store was opened, and not removed before it is closed
  std::atomic<bool> shut_down_done_ = false;
  std::mutex sequencer_;
  std::unique_ptr<SqliteLog> log_;  // guarded by sequencer_, as the next two; nullptr after Shutdown
  std::int64_t file_compacted_;
  RecentEvents recent_;
  std::atomic<bool> compact_asked_ = false;
  std::once_flag shut_down_;
  std::unique_ptr<CommitThread> thread_;  // last: it uses the rest
};

}  // namespace

api::Result<std::unique_ptr<Store>> OpenSqliteStore(const SqliteOptions& options) {
  api::Result<std::unique_ptr<SqliteLog>> log = SqliteLog::Open(options);
  if (!log) return std::move(log.status());
  api::Result<LoadedFile> loaded = LoadState(**log, options);
  if (!loaded) return std::move(loaded.status());
  return std::unique_ptr<Store>(std::make_unique<SqliteStore>(options, std::move(*log), std::move(*loaded)));
}

}  // namespace terrarium::storage

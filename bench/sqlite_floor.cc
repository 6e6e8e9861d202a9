#include "bench/sqlite_floor.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>

#include <sqlite3.h>

namespace terrarium::bench {
namespace {

void Check(bool fine, sqlite3* db) {
  if (fine) return;
  std::fprintf(stderr, "bench: sqlite: %s\n", sqlite3_errmsg(db));
  std::exit(1);
}

}  // namespace

double SqliteInsertsPerSecond(const std::string& path, const std::string& body,
                              const std::string& synchronous, double seconds) {
  std::remove(path.c_str());
  sqlite3* db = nullptr;
  Check(sqlite3_open(path.c_str(), &db) == SQLITE_OK, db);
  std::string setup = "PRAGMA journal_mode=WAL; PRAGMA synchronous=" + synchronous +
                      "; CREATE TABLE log(revision INTEGER PRIMARY KEY, name TEXT, body BLOB);";
  Check(sqlite3_exec(db, setup.c_str(), nullptr, nullptr, nullptr) == SQLITE_OK, db);
  sqlite3_stmt* insert = nullptr;
  Check(sqlite3_prepare_v2(db, "INSERT INTO log(name, body) VALUES(?, ?)", -1, &insert, nullptr) == SQLITE_OK,
        db);
  auto start = std::chrono::steady_clock::now();
  auto elapsed = [&] {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  long count = 0;
  for (; elapsed() < seconds; ++count) {
    std::string name = "pod-" + std::to_string(count);
    sqlite3_bind_text(insert, 1, name.data(), static_cast<int>(name.size()), SQLITE_TRANSIENT);
    sqlite3_bind_blob(insert, 2, body.data(), static_cast<int>(body.size()), SQLITE_STATIC);
    Check(sqlite3_step(insert) == SQLITE_DONE, db);
    sqlite3_reset(insert);
  }
  double rate = static_cast<double>(count) / elapsed();
  sqlite3_finalize(insert);
  sqlite3_close(db);
  std::remove(path.c_str());
  return rate;
}

}  // namespace terrarium::bench

#include "tests/conformance/store_conformance.h"

#include "api/base/check.h"
#include "storage/memory_store.h"
#include "storage/sqlite_store.h"

namespace terrarium::storage::testing {
namespace {

StoreKind Sqlite(std::string name, Durability durability, bool inline_commits) {
  auto open = [=](const std::string& file, const HistoryLimits& history) {
    SqliteOptions options;
    options.path = file;
    options.durability = durability;
    options.history = history;
    options.inline_commits = inline_commits;
    api::Result<std::unique_ptr<Store>> store = OpenSqliteStore(options);
    CHECK(store.ok());
    return std::move(*store);
  };
  return {std::move(name), open, true};
}

}  // namespace

std::vector<StoreKind> AllStores() {
  auto memory = [](const std::string&, const HistoryLimits& history) {
    return OpenMemoryStore(MemoryOptions{.history = history});
  };
  return {
      {"Memory", memory, false},
      Sqlite("SqliteFull", Durability::kFull, false),
      Sqlite("SqliteNormal", Durability::kNormal, false),
      Sqlite("SqliteOff", Durability::kOff, false),
      Sqlite("SqliteInline", Durability::kNormal, true),
  };
}

}  // namespace terrarium::storage::testing

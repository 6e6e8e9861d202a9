#include "testbed/plane.h"

#include <utility>

#include "apiserver/header.h"
#include "storage/memory_store.h"

namespace terrarium::testbed {

api::Result<std::unique_ptr<Plane>> Plane::Make(const api::Env& env, PlaneOptions options) {
  std::unique_ptr<storage::Store> store;
  if (options.data_file.empty()) {
    store = storage::OpenMemoryStore();
  } else {
    storage::SqliteOptions sqlite;
    sqlite.path = options.data_file;
    sqlite.durability = options.durability;
    sqlite.derive_header = apiserver::DeriveHeaderOfStored;
    auto opened = storage::OpenSqliteStore(sqlite);
    if (!opened) return opened.status();
    store = std::move(*opened);
  }
  return std::unique_ptr<Plane>(new Plane(env, std::move(store), std::move(options.handler)));
}

Plane::Plane(const api::Env& env, std::unique_ptr<storage::Store> store, apiserver::HandlerOptions options)
    : env_(env), store_(std::move(store)), handler_(apiserver::Handler::Make(env_, *store_, std::move(options))) {}

Plane::~Plane() { Shutdown(); }

void Plane::Shutdown() { store_->Shutdown(); }

}  // namespace terrarium::testbed

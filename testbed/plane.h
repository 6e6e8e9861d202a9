#pragma once

// One control plane: its store and its apiserver, wired together.

#include <memory>
#include <string>

#include "api/base/env.h"
#include "api/base/status.h"
#include "apiserver/handler.h"
#include "storage/sqlite_store.h"
#include "storage/store.h"

namespace terrarium::testbed {

struct PlaneOptions {
  std::string data_file;  // empty: in memory
  storage::Durability durability = storage::Durability::kFull;
  apiserver::HandlerOptions handler;
};

class Plane {
 public:
  // What `env` refers to outlives the plane. Fails when the data file cannot be used.
  static api::Result<std::unique_ptr<Plane>> Make(const api::Env& env, PlaneOptions options);
  ~Plane();

  const api::Env& env() const { return env_; }
  apiserver::Handler& handler() { return *handler_; }
  storage::Store& store() { return *store_; }

  // Ends all watches and makes every acknowledged write durable. Idempotent.
  void Shutdown();

 private:
  Plane(const api::Env& env, std::unique_ptr<storage::Store> store, apiserver::HandlerOptions options);

  api::Env env_;
  std::unique_ptr<storage::Store> store_;
  std::unique_ptr<apiserver::Handler> handler_;
};

}  // namespace terrarium::testbed

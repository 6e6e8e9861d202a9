#pragma once

#include <functional>

#include "apiserver/internal/call.h"
#include "apiserver/internal/write_path.h"

namespace terrarium::apiserver {

struct CreationOptions {
  bool dry_run = false;
  bool owners_required = false;  // see ChangeTarget
};

// Stores a new object within quotas and limits, and responds with it. `exists` gets the object that has the
// name already, and responds instead.
void StoreNew(const CallPtr& call, Prepared prepared, const CreationOptions& options,
              std::function<void(const api::Object& existing)> exists);

}  // namespace terrarium::apiserver

#pragma once

// Deleting one object, step by step: grace periods, finalizers, propagation, namespaces. Shared by delete,
// deletecollection and eviction.

#include <functional>

#include "api/base/clock.h"
#include "api/base/status.h"
#include "apiserver/internal/call.h"
#include "apiserver/internal/options.h"
#include "apiserver/internal/write_path.h"

namespace terrarium::apiserver {

// The effect of a delete on the document. Pure.
struct DeletionPlan {
  enum class Action {
    kNothing,         // it is already being deleted, and not later than requested
    kMark,            // `document` has its deletionTimestamp and waits for its grace period or its finalizers
    kMarkThenRemove,  // `document` is written once more, then removed: a graceful kind whose grace period is
                      // 0
    kRemove,          // removed immediately
  };
  Action action = Action::kRemove;
  Json document;
};
DeletionPlan PlanDeletion(const ResourceInfo& resource, Json document, const DeleteOptions& options,
                          api::Time now);

// 409 when the object is not the one, or not in the state, that the options name.
api::Result<void> CheckPreconditions(const ResourceInfo& resource, const DeleteOptions& options,
                                     const api::Object& current);

// Deletes one object of a resource. `deleted` is false when it continues to exist for a while.
void DeleteObject(const CallPtr& call, const ResourceInfo& resource, const storage::ObjectKey& key,
                  const DeleteOptions& options, ChangeDone done);

}  // namespace terrarium::apiserver

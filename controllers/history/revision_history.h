#pragma once

// Reads and writes the ControllerRevisions of the owners of one kind. Single-threaded, on the
// controller-manager's lane. Reads come from the informer, which may be stale: a creation of what exists
// already returns the existing revision, and an update against a stale version is retried.

#include <cstdint>
#include <string>
#include <vector>

#include "api/base/status.h"
#include "api/base/task.h"
#include "api/json.h"
#include "api/selector/label_selector.h"
#include "controllers/controller.h"
#include "controllers/history/revision.h"

namespace terrarium::controllers::history {

class RevisionHistory {
 public:
  // `owner_resource` and `owner_kind`: e.g. "statefulsets" and "StatefulSet", of apps/v1.
  RevisionHistory(const ControllerContext& context, std::string owner_resource, std::string owner_kind);

  // To register handlers.
  Informer& informer() const { return revisions_; }

  // All revisions that the owner controls, and all orphans of its namespace, unsorted. The result is equal to
  // an earlier one if no such revision has changed in the meantime.
  std::vector<ObjectPtr> Candidates(const api::Object& owner) const;
  // Revisions that the owner controls, and orphans, of those that the selector matches; sorted. Writes
  // nothing.
  std::vector<ObjectPtr> List(const api::Object& owner, const api::LabelSelector& selector) const;
  // Adopts matching orphans and releases what no longer matches (ClaimObjects); returns the owner's
  // revisions, sorted.
  api::Task<api::Result<std::vector<ObjectPtr>>> Claim(ObjectPtr owner, api::LabelSelector selector) const;

  // Creates a revision that has a name. Returns the existing one if that has the same data, and 409
  // AlreadyExists if it has other data: the hash collides.
  api::Task<api::Client::Written> Create(api::Json revision) const;
  struct Created {
    ObjectPtr revision;
    std::int64_t collision_count = 0;
  };
  // Names the revision by its data and creates it; a collision increments the count and tries again.
  api::Task<api::Result<Created>> CreateByData(api::Json revision, std::string owner,
                                               std::int64_t collision_count) const;

  // Sets the revision's number; returns it as written. Retries conflicts with the live revision.
  api::Task<api::Client::Written> Renumber(ObjectPtr revision, std::int64_t number) const;
  // A revision that is gone already counts as deleted.
  api::Task<api::Result<void>> Delete(ObjectPtr revision) const;

 private:
  ControllerContext context_;
  std::string owner_resource_;
  std::string owner_kind_;
  Informer& revisions_;
};

}  // namespace terrarium::controllers::history

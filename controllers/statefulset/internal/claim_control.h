#pragma once

// Creates the claims of a StatefulSet's pods, and gives them the owners that the retention policy asks for.
// Claims are read from the apiserver, not from an informer: most sets have none, and a view of claims could
// be older than that of their pods.

#include <memory>
#include <string>

#include "api/base/status.h"
#include "api/base/task.h"
#include "api/json.h"
#include "api/object.h"
#include "controllers/controller.h"
#include "controllers/statefulset/internal/claim_ownership.h"
#include "controllers/statefulset/internal/reporter.h"

namespace terrarium::controllers::statefulset {

// The claims of one pod, which may not exist yet.
struct PodClaims {
  std::shared_ptr<const api::Json> document;  // of the set
  Decision decision;
  int ordinal = 0;
  ClaimParties parties;
};

class ClaimControl {
 public:
  ClaimControl(const ControllerContext& context, const Reporter& reporter)
      : context_(context), reporter_(reporter) {}

  enum class Usability { kUsable, kOfEarlierPod };
  // A claim that will be deleted with an earlier pod of that name keeps the pod from being created.
  api::Result<Usability> Check(const PodClaims& claims) const;

  // Creates what is missing. Fails also while an existing claim is being deleted. All claims are tried; the
  // Status has the messages of all failures.
  api::Task<api::Result<void>> CreateMissing(PodClaims claims) const;

  enum class Ownership { kAsWanted, kDiffers };
  // Claims that do not exist have no wrong owners.
  api::Result<Ownership> CheckOwners(const PodClaims& claims) const;
  api::Task<api::Result<void>> SetOwners(PodClaims claims) const;

 private:
  // nullptr: it does not exist.
  api::Result<api::ObjectPtr> Find(const PodClaims& claims, const std::string& name) const;

  ControllerContext context_;
  const Reporter& reporter_;
};

}  // namespace terrarium::controllers::statefulset

#include "controllers/statefulset/internal/claim_control.h"

#include <optional>
#include <utility>
#include <vector>

#include "api/base/errors.h"
#include "api/json_access.h"
#include "controllers/statefulset/internal/pod_template.h"

namespace terrarium::controllers::statefulset {
namespace {

using api::Json;
using api::ObjectPtr;
using api::Task;

constexpr std::string_view kResource = "persistentvolumeclaims";

std::vector<std::string> NamesOf(const PodClaims& claims) {
  return ClaimNames(*claims.document, claims.parties.set_name, claims.ordinal);
}

const Json& OwnersOf(const Json& claim) { return api::ListAt(claim, "metadata", "ownerReferences"); }

api::Status Prefixed(std::string prefix, api::Status status) {
  status.message = std::move(prefix) + status.message;
  return status;
}

// The messages of several failures, as Kubernetes joins them.
class Failures {
 public:
  void Add(api::Status status) {
    texts_.push_back(status.message);
    if (!first_) first_ = std::move(status);
  }
  api::Result<void> Result() const {
    if (!first_) return {};
    api::Status all = *first_;
    if (texts_.size() > 1) {
      all.message = "[";
      for (const std::string& text : texts_) all.message += (all.message.size() > 1 ? ", " : "") + text;
      all.message += "]";
    }
    return all;
  }

 private:
  std::optional<api::Status> first_;
  std::vector<std::string> texts_;
};

}  // namespace

api::Result<ObjectPtr> ClaimControl::Find(const PodClaims& claims, const std::string& name) const {
  api::Result<ObjectPtr> found = context_.client.Get(kResource, {claims.decision.set->header().ns, name});
  if (!found && found.status().Is(api::reason::kNotFound)) return ObjectPtr();
  return found;
}

api::Result<ClaimControl::Usability> ClaimControl::Check(const PodClaims& claims) const {
  if (!claims.parties.policy.deletes_when_scaled) return Usability::kUsable;
  for (const std::string& name : NamesOf(claims)) {
    api::Result<ObjectPtr> claim = Find(claims, name);
    if (!claim) return claim.status();
    if (*claim == nullptr) continue;
    std::shared_ptr<const Json> document = (*claim)->Document();
    if (IsOfEarlierPod(OwnersOf(*document), claims.parties)) return Usability::kOfEarlierPod;
  }
  return Usability::kUsable;
}

Task<api::Result<void>> ClaimControl::CreateMissing(PodClaims claims) const {
  const api::Object& set = *claims.decision.set;
  const std::string& pod = claims.parties.pod_name;
  Failures failures;
  for (Json& wanted : NewClaims(*claims.document, set.name(), claims.ordinal)) {
    const std::string name(api::StringAt(wanted, "metadata", "name"));
    api::Result<ObjectPtr> claim = Find(claims, name);
    if (!claim) {
      reporter_.ClaimEvent(set, "Create", name, pod, &claim.status());
      failures.Add(Prefixed("failed to retrieve PVC " + name + ": ", claim.status()));
      continue;
    }
    if (*claim != nullptr) {
      if ((*claim)->header().deleting)
        failures.Add(api::MakeStatus(409, api::reason::kConflict, "pvc " + name + " is being deleted"));
      continue;
    }
    api::Awaitable<api::Client::Written> creating =
        context_.client.Create(kResource, set.header().ns, std::move(wanted));
    api::Client::Written created = co_await std::move(creating);
    if (created) {
      reporter_.ClaimEvent(set, "Create", name, pod, nullptr);
      reporter_.Explain(claims.decision, "create", kResource, name);
      continue;
    }
    if (!created.status().Is(api::reason::kAlreadyExists))
      reporter_.ClaimEvent(set, "Create", name, pod, &created.status());
    failures.Add(Prefixed("failed to create PVC " + name + ": ", created.status()));
  }
  co_return failures.Result();
}

api::Result<ClaimControl::Ownership> ClaimControl::CheckOwners(const PodClaims& claims) const {
  for (const std::string& name : NamesOf(claims)) {
    api::Result<ObjectPtr> claim = Find(claims, name);
    if (!claim) return claim.status();
    if (*claim == nullptr) continue;
    std::shared_ptr<const Json> document = (*claim)->Document();
    if (!OwnersMatch(OwnersOf(*document), claims.parties)) return Ownership::kDiffers;
  }
  return Ownership::kAsWanted;
}

Task<api::Result<void>> ClaimControl::SetOwners(PodClaims claims) const {
  for (const std::string& name : NamesOf(claims)) {
    api::Result<ObjectPtr> claim = Find(claims, name);
    if (!claim)
      co_return Prefixed("Could not retrieve claim " + name + " not found for " + claims.parties.pod_name +
                             " when checking PVC deletion policy: ",
                         claim.status());
    if (*claim == nullptr) continue;
    Json document = (*claim)->Parse();
    const Json owners = OwnersOf(document);
    if (HasForeignController(owners, claims.parties))
      reporter_.Warn(*claims.decision.set, "ConflictingController",
                     "PersistentVolumeClaim " + name +
                         " has a conflicting OwnerReference that acts as a manging controller, the retention "
                         "policy is ignored for this claim");
    if (OwnersMatch(owners, claims.parties)) continue;
    Json wanted = WantedOwners(owners, claims.parties);
    if (wanted.empty())
      document["metadata"].erase("ownerReferences");
    else
      document["metadata"]["ownerReferences"] = std::move(wanted);
    api::Awaitable<api::Client::Written> updating = context_.client.Update(kResource, std::move(document));
    api::Client::Written updated = co_await std::move(updating);
    if (!updated)
      co_return Prefixed("could not update claim " + name + " for delete policy ownerRefs: ",
                         updated.status());
  }
  co_return api::Result<void>();
}

}  // namespace terrarium::controllers::statefulset

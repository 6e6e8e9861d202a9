#pragma once

// EndpointSlices as stored, and as a controller wants them. Pure.

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "api/base/clock.h"
#include "api/json.h"
#include "api/object.h"
#include "api/owner_reference.h"
#include "controllers/endpoints/internal/endpoint.h"
#include "controllers/endpoints/internal/endpoint_port.h"
#include "controllers/endpoints/internal/service_view.h"

namespace terrarium::controllers::endpoints {

inline constexpr std::size_t kEndpointsPerSlice = 100;

struct Slice {
  api::ObjectPtr object;
  std::string name;
  std::string uid;
  std::int64_t generation = 0;
  bool deleting = false;
  std::string address_type;
  Ports ports;  // sorted
  std::vector<Endpoint> endpoints;
  Labels labels;
  std::vector<api::OwnerReference> owners;

  bool IsOwnedBy(std::string_view owner_uid, std::string_view kind) const;
};
using SlicePtr = std::shared_ptr<const Slice>;
using Slices = std::vector<SlicePtr>;  // by name

SlicePtr ReadSlice(const api::ObjectPtr& object);

// A slice to be created or updated.
struct SliceDraft {
  SlicePtr stored;      // the slice to be updated; nullptr: to be created
  bool remade = false;  // `stored` was to be deleted, and takes this content instead
  std::string address_type;
  Ports ports;
  std::vector<Endpoint> endpoints;
  Labels labels;
};
SliceDraft DraftOf(const SlicePtr& stored);

struct SlicePlan {
  std::vector<SliceDraft> create;
  std::vector<SliceDraft> update;
  Slices remove;
  // Endpoints, for metrics and why records.
  int added = 0;
  int updated = 0;
  int removed = 0;

  void Append(SlicePlan more);
};

// Whose slices they are, as their metadata states it.
struct SliceOwner {
  api::ObjectName name;     // of the Service
  std::string resource;     // of the owner: "services" or "endpoints"
  std::string kind;         // "Service" or "Endpoints"
  api::Json reference;      // the ownerReferences entry
  Labels annotations = {};  // of a slice that is created or remade
};

// The document of a draft that is created or remade.
api::Json NewDocument(const SliceDraft& draft, const SliceOwner& owner);
// The stored document with the endpoints and labels of the draft. REQUIRES: it is updated and not remade.
api::Json ChangedDocument(const SliceDraft& draft);

// Creating one slice and deleting another becomes one update: each of `plan.remove` for which `may_replace`
// holds takes the content of a created slice of its address type.
template <typename MayReplace>
void ReplaceRemoved(SlicePlan& plan, MayReplace may_replace) {
  Slices left;
  for (SlicePtr& slice : plan.remove) {
    const bool replaced =
        !plan.create.empty() && plan.create.back().address_type == slice->address_type && may_replace(*slice);
    if (!replaced) {
      left.push_back(std::move(slice));
      continue;
    }
    SliceDraft draft = std::move(plan.create.back());
    plan.create.pop_back();
    draft.stored = std::move(slice);
    draft.remade = true;
    plan.update.push_back(std::move(draft));
  }
  plan.remove = std::move(left);
}

}  // namespace terrarium::controllers::endpoints

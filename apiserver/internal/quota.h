#pragma once

// ResourceQuota admission, as the plugin of that name: what is created takes from the quotas of its namespace what it
// uses, by a write of their status that fails when somebody wrote in between. So of two creations at once only one gets
// the last place, on one apiserver or on many.
//
// DIVERGES: what an update adds (node ports of a Service, a deadline that moves a pod into another scope) is counted by
// the controller afterwards and not refused here. A creation that fails after it took gives back at once, where
// Kubernetes waits for the next recount.

#include <functional>
#include <optional>
#include <string>

#include "api/base/status.h"
#include "api/core_v1/resource_quota.h"
#include "apiserver/internal/call.h"

namespace terrarium::apiserver {

// What one quota says to a creation. Pure.
struct QuotaVerdict {
  enum class Kind {
    kNotCounted,
    kFits,
    kRefused,  // whatever is used: the object does not say what it wants, or nobody has counted yet
    kExceeded,
  };
  Kind kind = Kind::kNotCounted;
  std::string why;         // kRefused, kExceeded
  api::ResourceList taken;  // kFits: what to add to status.used
};
QuotaVerdict JudgeQuota(const Json& quota, const api::QuotaSubject& subject);

// What quotas see of a new object; nullopt when no quota can concern it. While a plane has no quotas, that costs a look
// at one counter.
std::optional<api::QuotaSubject> FindQuotaSubject(const Call& call, const Json& object);

// Whether the quotas would let it in, for a dry run. 403 otherwise.
api::Result<bool> CheckQuotas(const Call& call, const api::QuotaSubject& subject, const std::string& name);

// Takes from the quotas, then submits the creation of `object`. `done` gets the 403 of a quota, or the store's outcome.
void SubmitWithinQuotas(const CallPtr& call, api::QuotaSubject subject, api::ObjectPtr object,
                        std::function<void(api::Result<storage::WriteOutcome>)> done);

}  // namespace terrarium::apiserver

#pragma once

// ResourceQuota admission, like the Kubernetes plugin of that name. A creation first adds its usage to the
// status of the quotas in its namespace. That write fails if another writer changed the quota in between, and
// is then decided again. So only one of two concurrent creations gets the last place, on one apiserver or on
// several.
//
// DIVERGES: the usage that an update adds (node ports of a Service, a deadline that moves a pod into another
// scope) is not refused here; the controller counts it afterwards. A creation that fails after it added its
// usage subtracts it immediately, where Kubernetes waits for the next recount.

#include <functional>
#include <optional>
#include <string>

#include "api/base/status.h"
#include "api/core_v1/resource_quota.h"
#include "apiserver/internal/call.h"

namespace terrarium::apiserver {

// The decision of one quota about a creation.
struct QuotaVerdict {
  enum class Kind {
    kNotCounted,
    kFits,
    // For any usage: the object does not specify a counted resource, or the controller has not computed the
    // usage yet.
    kRefused,
    kExceeded,
  };
  Kind kind = Kind::kNotCounted;
  std::string why;          // kRefused, kExceeded
  api::ResourceList taken;  // kFits: what to add to status.used
};
// A pure function.
QuotaVerdict JudgeQuota(const Json& quota, const api::QuotaSubject& subject);

// The properties of a new object that quotas count; nullopt if no quota can apply to it. In a control plane
// without quotas this costs the read of one counter.
std::optional<api::QuotaSubject> FindQuotaSubject(const Call& call, const Json& object);

// Checks that the quotas allow the creation, and changes nothing. 403 if they do not.
api::Result<void> CheckQuotas(const Call& call, const api::QuotaSubject& subject, const std::string& name);

// Adds the usage of `object` to the quotas, then submits its creation. `done` gets the error of a quota, such
// as 403, or the outcome of the store.
void SubmitWithinQuotas(const CallPtr& call, api::QuotaSubject subject, api::ObjectPtr object,
                        std::function<void(api::Result<storage::WriteOutcome>)> done);

}  // namespace terrarium::apiserver

#pragma once

// The status of a quota from its account. Pure.

#include <optional>

#include "api/json.h"
#include "controllers/resource_quota/internal/usage_ledger.h"

namespace terrarium::controllers::resource_quota {

// The new status of the quota; nullopt when it has it, possibly with quantities in another notation.
//
// used = max(status.used - released, counted). status.used may exceed `counted` by the objects that the
// apiserver has admitted and this controller has not observed. Example: hard 2, used 2; one pod is not
// observed yet and one is just gone. Then counted is 0, released is 1, and 1 is used, not 0.
std::optional<api::Json> NextStatus(const api::Json& quota, const QuotaAccount& account);

}  // namespace terrarium::controllers::resource_quota

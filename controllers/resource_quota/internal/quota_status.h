#pragma once

// The status of a quota from its account. Pure.

#include <optional>

#include "api/json.h"
#include "controllers/resource_quota/internal/usage_ledger.h"

namespace terrarium::controllers::resource_quota {

// The status the quota is to have; nullopt when it has it, whatever way its amounts are written.
//
// What is used of a limit is what status.used says without what was released, but never less than what is
// counted: the difference is what the apiserver has let in and this controller has not seen yet. E.g. with
// hard 2, used 2, of which one pod is still on its way and one has just gone: counted 0, released 1, and 1 is
// used, not 0.
std::optional<api::Json> NextStatus(const api::Json& quota, const QuotaAccount& account);

}  // namespace terrarium::controllers::resource_quota

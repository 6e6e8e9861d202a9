#include "controllers/resource_quota/internal/quota_status.h"

#include <utility>

#include "api/json_access.h"

namespace terrarium::controllers::resource_quota {

std::optional<api::Json> NextStatus(const api::Json& quota, const QuotaAccount& account) {
  const ResourceList old_hard = api::ReadResourceList(api::ObjectAt(quota, "status", "hard"));
  const ResourceList old_used = api::ReadResourceList(api::ObjectAt(quota, "status", "used"));
  ResourceList used;
  for (const auto& [name, limit] : account.hard) {
    auto counted = account.counted.find(name);
    auto old = old_used.find(name);
    if (counted == account.counted.end()) {
      // This controller does not count that name. Keep the figure of the component that does.
      if (old != old_used.end()) used.insert(*old);
      continue;
    }
    api::Quantity& amount = used[name];
    amount = counted->second;
    if (account.recount || old == old_used.end()) continue;
    ResourceList left = {*old};
    api::TakeFrom(left, account.released);
    if (left.begin()->second > amount) amount = left.begin()->second;
  }
  if (old_hard == account.hard && old_used == used) return std::nullopt;
  api::Json status = api::Json::object();
  status["hard"] = api::ObjectAt(account.spec, "hard");
  status["used"] = api::WriteResourceList(used);
  return status;
}

}  // namespace terrarium::controllers::resource_quota

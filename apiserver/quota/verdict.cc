#include <algorithm>
#include <utility>
#include <vector>

#include "api/json_access.h"
#include "apiserver/internal/quota.h"

namespace terrarium::apiserver {
namespace {

using api::ResourceList;

std::string Joined(const std::vector<std::string>& parts, std::string_view separator) {
  std::string out;
  for (const std::string& part : parts) {
    if (!out.empty()) out += separator;
    out += part;
  }
  return out;
}

// "pods=1,requests.cpu=500m"
std::string Text(const ResourceList& amounts, const std::vector<std::string>& names) {
  std::vector<std::string> parts;
  for (const std::string& name : names) {
    auto amount = amounts.find(name);
    if (amount != amounts.end()) parts.push_back(name + "=" + amount->second.ToString());
  }
  return Joined(parts, ",");
}

// "must specify limits.cpu for: a,b; memory for: c", or "".
std::string MissingResourcesText(const api::QuotaSubject& subject, const std::vector<std::string>& counted) {
  std::vector<std::string> parts;
  for (const auto& [name, containers] : subject.missing_resources)
    if (std::find(counted.begin(), counted.end(), name) != counted.end())
      parts.push_back(name + " for: " + Joined(containers, ","));
  return parts.empty() ? "" : "must specify " + Joined(parts, "; ");
}

}  // namespace

QuotaVerdict JudgeQuota(const Json& quota, const api::QuotaSubject& subject) {
  // The status is what counts: a limit that the controller has not seen yet is not kept yet.
  const ResourceList hard = api::ReadResourceList(api::ObjectAt(quota, "status", "hard"));
  const ResourceList used = api::ReadResourceList(api::ObjectAt(quota, "status", "used"));
  const std::vector<std::string> counted = api::CountedNames(hard, subject.resource);
  if (counted.empty() || !api::InQuotaScopes(api::ObjectAt(quota, "spec"), subject)) return {};

  using Kind = QuotaVerdict::Kind;
  const std::string name(api::StringAt(quota, "metadata", "name"));
  if (std::string why = MissingResourcesText(subject, counted); !why.empty())
    return {Kind::kRefused, "failed quota: " + name + ": " + why, {}};
  if (!std::all_of(counted.begin(), counted.end(), [&](const std::string& n) { return used.contains(n); }))
    return {Kind::kRefused, "status unknown for quota: " + name + ", resources: " + Joined(counted, ","), {}};

  ResourceList taken = api::UsageUnder(hard, subject);
  std::erase_if(taken, [](const auto& amount) { return amount.second.Sign() == 0; });
  if (taken.empty()) return {};
  std::vector<std::string> exceeded;
  for (const auto& [resource, amount] : taken) {
    api::Quantity total = used.at(resource);
    total.Add(amount);
    if (total > hard.at(resource)) exceeded.push_back(resource);
  }
  if (!exceeded.empty())
    return {Kind::kExceeded,
            "exceeded quota: " + name + ", requested: " + Text(taken, exceeded) +
                ", used: " + Text(used, exceeded) + ", limited: " + Text(hard, exceeded),
            {}};
  return {Kind::kFits, "", std::move(taken)};
}

}  // namespace terrarium::apiserver

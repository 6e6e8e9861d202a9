#include "controllers/resource_quota/internal/usage_ledger.h"

#include <algorithm>
#include <utility>

#include "api/json_access.h"

namespace terrarium::controllers::resource_quota {
namespace {

// What `more` has above `less`.
ResourceList Above(const ResourceList& more, const ResourceList& less) {
  ResourceList above;
  for (const auto& [name, amount] : more) {
    api::Quantity rest = amount;
    if (auto other = less.find(name); other != less.end()) rest.Sub(other->second);
    if (rest.Sign() > 0) above.emplace(name, rest);
  }
  return above;
}

}  // namespace

std::size_t UsageLedger::AddKind(api::GroupResource kind) {
  auto place = std::find_if(kinds_.begin(), kinds_.end(),
                            [](const api::GroupResource& other) { return other.resource.empty(); });
  if (place == kinds_.end()) place = kinds_.insert(place, api::GroupResource());
  *place = std::move(kind);
  return static_cast<std::size_t>(place - kinds_.begin());
}

const QuotaAccount& UsageLedger::PutQuota(const ObjectName& name, const api::Json& spec) {
  Namespace& ns = namespaces_[name.ns];
  QuotaAccount& quota = ns.quotas[name.name];
  // Limits may change while objects are on their way; only another choice of objects makes what is used
  // another thing.
  quota.recount =
      quota.recount || api::ObjectAt(spec, "scopeSelector") != api::ObjectAt(quota.spec, "scopeSelector");
  quota.spec = spec;
  quota.hard = api::ReadResourceList(api::ObjectAt(spec, "hard"));
  quota.counts.assign(kinds_.size(), false);
  quota.counted.clear();
  for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
    for (std::string& counted : api::CountedNames(quota.hard, kinds_[kind])) {
      quota.counts[kind] = true;
      quota.counted.try_emplace(std::move(counted));
    }
  }
  for (const auto& [id, subject] : ns.objects) api::AddTo(quota.counted, UsageIn(quota, subject));
  return quota;
}

void UsageLedger::RemoveQuota(const ObjectName& name) {
  auto ns = namespaces_.find(name.ns);
  if (ns == namespaces_.end()) return;
  ns->second.quotas.erase(name.name);
  if (ns->second.quotas.empty()) namespaces_.erase(ns);
}

QuotaAccount* UsageLedger::Find(const ObjectName& name) {
  auto ns = namespaces_.find(name.ns);
  if (ns == namespaces_.end()) return nullptr;
  auto quota = ns->second.quotas.find(name.name);
  return quota == ns->second.quotas.end() ? nullptr : &quota->second;
}

std::vector<ObjectName> UsageLedger::Quotas() const {
  std::vector<ObjectName> names;
  for (const auto& [ns, in] : namespaces_)
    for (const auto& [name, quota] : in.quotas) names.push_back({ns, name});
  return names;
}

bool UsageLedger::Counts(const std::string& ns, std::size_t kind) const {
  auto place = namespaces_.find(ns);
  if (place == namespaces_.end()) return false;
  const auto& quotas = place->second.quotas;
  return std::any_of(quotas.begin(), quotas.end(),
                     [&](const auto& entry) { return entry.second.counts[kind]; });
}

ResourceList UsageLedger::UsageIn(const QuotaAccount& quota, const api::QuotaSubject& subject) {
  if (!api::InQuotaScopes(quota.spec, subject)) return {};
  return api::UsageUnder(quota.hard, subject);
}

std::vector<ObjectName> UsageLedger::Change(const std::string& ns, Namespace& in,
                                            const api::QuotaSubject* old, const api::QuotaSubject* now) {
  std::vector<ObjectName> changed;
  for (auto& [name, quota] : in.quotas) {
    const ResourceList before = old == nullptr ? ResourceList() : UsageIn(quota, *old);
    const ResourceList after = now == nullptr ? ResourceList() : UsageIn(quota, *now);
    if (before == after) continue;
    api::TakeFrom(quota.counted, before);
    api::AddTo(quota.counted, after);
    api::AddTo(quota.released, Above(before, after));
    changed.push_back({ns, name});
  }
  return changed;
}

std::vector<ObjectName> UsageLedger::Put(std::size_t kind, const ObjectName& object,
                                         api::QuotaSubject subject) {
  Namespace& ns = namespaces_.find(object.ns)->second;
  subject.missing_resources.clear();  // of no use any more once an object has been let in
  auto [place, fresh] = ns.objects.try_emplace(ObjectId(kind, object.name));
  std::vector<ObjectName> changed = Change(object.ns, ns, fresh ? nullptr : &place->second, &subject);
  place->second = std::move(subject);
  return changed;
}

std::vector<ObjectName> UsageLedger::Remove(std::size_t kind, const ObjectName& object) {
  auto ns = namespaces_.find(object.ns);
  if (ns == namespaces_.end()) return {};
  auto place = ns->second.objects.find(ObjectId(kind, object.name));
  if (place == ns->second.objects.end()) return {};
  std::vector<ObjectName> changed = Change(object.ns, ns->second, &place->second, nullptr);
  ns->second.objects.erase(place);
  return changed;
}

}  // namespace terrarium::controllers::resource_quota

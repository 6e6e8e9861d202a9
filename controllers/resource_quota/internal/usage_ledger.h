#pragma once

// What the objects of namespaces that have quotas use, counted as they come and go: an event costs as much as its
// namespace has quotas. Pure.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "api/core_v1/resource_quota.h"
#include "api/json.h"
#include "api/object_name.h"

namespace terrarium::controllers::resource_quota {

using api::ObjectName;
using api::ResourceList;

// One quota's account. The apiserver adds to status.used what it lets in, before the object is there; so status.used
// runs ahead of `counted`, and what has gone is subtracted from it rather than replaced by a count that may not have
// seen the newest objects.
struct QuotaAccount {
  api::Json spec;
  ResourceList hard;         // spec.hard, read
  std::vector<bool> counts;  // by kind: some limit counts its objects
  ResourceList counted;      // of what there is, under every name in `hard` that counts anything here
  ResourceList released;     // went off `counted` since it was last given back
  // status.used is to become `counted` whatever it says: nobody knows what happened before the quota was first seen.
  bool recount = true;
};

class UsageLedger {
 public:
  // Resources that quotas can count; `kind` below is an index into them.
  explicit UsageLedger(std::vector<api::GroupResource> kinds) : kinds_(std::move(kinds)) {}

  const api::GroupResource& Kind(std::size_t kind) const { return kinds_[kind]; }

  // A quota that is new, or has another spec than before. It counts the objects that are known already; those of the
  // kinds it counts are to be put in then.
  const QuotaAccount& PutQuota(const ObjectName& quota, const api::Json& spec);
  void RemoveQuota(const ObjectName& quota);
  QuotaAccount* Find(const ObjectName& quota);
  std::vector<ObjectName> Quotas() const;  // by namespace, then name

  // Whether some quota of the namespace counts the kind: nobody else need be put in.
  bool Counts(const std::string& ns, std::size_t kind) const;
  // The object as it is now; gives the quotas whose count changed. REQUIRES: Counts(its namespace, kind).
  std::vector<ObjectName> Put(std::size_t kind, const ObjectName& object, api::QuotaSubject subject);
  std::vector<ObjectName> Remove(std::size_t kind, const ObjectName& object);

 private:
  using ObjectId = std::pair<std::size_t, std::string>;  // kind and name
  struct Namespace {
    std::map<std::string, QuotaAccount> quotas;
    std::map<ObjectId, api::QuotaSubject> objects;
  };
  static ResourceList UsageIn(const QuotaAccount& quota, const api::QuotaSubject& subject);
  static std::vector<ObjectName> Change(const std::string& ns, Namespace& in, const api::QuotaSubject* old,
                                        const api::QuotaSubject* now);

  std::vector<api::GroupResource> kinds_;
  std::map<std::string, Namespace> namespaces_;
};

}  // namespace terrarium::controllers::resource_quota

#pragma once

// The usage of the objects in namespaces with quotas, updated on every event. The cost of an event depends on
// the number of quotas in its namespace. Pure.

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

// One quota's account. The apiserver adds an object to status.used at admission, before the object exists, so
// status.used runs ahead of `counted`. Released usage is therefore subtracted from status.used; replacing it
// by `counted` could lose the newest objects.
struct QuotaAccount {
  api::Json spec;
  ResourceList hard;         // spec.hard, parsed
  std::vector<bool> counts;  // by kind: whether a limit counts its objects
  ResourceList counted;      // usage of the known objects, for every name in `hard` that this ledger counts
  ResourceList released;     // removed from `counted` and not yet subtracted from status.used
  // Replace status.used by `counted`, whatever it contains: the changes before the quota was first observed
  // are unknown.
  bool recount = true;
};

class UsageLedger {
 public:
  // `kinds`: the resources that quotas can count; `kind` below is an index into them.
  explicit UsageLedger(std::vector<api::GroupResource> kinds) : kinds_(std::move(kinds)) {}

  const api::GroupResource& Kind(std::size_t kind) const { return kinds_[kind]; }
  // Adds a kind and returns its index. Quotas count it after PutQuota() has been called for them again.
  std::size_t AddKind(api::GroupResource kind);
  // Frees the index for a later AddKind(). REQUIRES: its objects have been removed.
  void RemoveKind(std::size_t kind) { kinds_[kind] = {}; }

  // Adds a quota, or replaces its spec. The account covers the objects in the ledger; the caller then puts in
  // the objects of all kinds that the quota counts.
  const QuotaAccount& PutQuota(const ObjectName& quota, const api::Json& spec);
  void RemoveQuota(const ObjectName& quota);
  QuotaAccount* Find(const ObjectName& quota);
  std::vector<ObjectName> Quotas() const;  // by namespace, then name

  // Whether a quota of the namespace counts the kind; objects of other kinds need not be put in.
  bool Counts(const std::string& ns, std::size_t kind) const;
  // Records the object's current state, and returns the quotas whose count changed. REQUIRES: Counts(its
  // namespace, kind).
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

#include "controllers/resource_quota/resource_quota_controller.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "api/base/repeating_timer.h"
#include "api/json_access.h"
#include "controllers/resource_quota/internal/quota_status.h"
#include "controllers/resource_quota/internal/resource_quota_controller.h"

namespace terrarium::controllers::resource_quota {
namespace {

using api::Json;

constexpr api::Duration kResyncPeriod = std::chrono::minutes(5);

bool CanBeCounted(const ServedResource& resource) {
  return resource.namespaced && !api::IsFreeOfQuota({resource.group, resource.resource});
}

// An object of any other kind counts as one, whatever it contains.
bool UsageChanges(const api::GroupResource& kind) {
  return kind.group.empty() && (kind.resource == "pods" || kind.resource == "services" ||
                                kind.resource == "persistentvolumeclaims");
}

}  // namespace

ResourceQuotaController::ResourceQuotaController(const ControllerContext& context, ServedResources& resources)
    : context_(context),
      resources_(resources),
      quotas_(context.informers.For("resourcequotas")),
      ledger_({}),
      loop_(context.env, context.metrics, LoopOptions{.name = "resourcequota_primary", .workers = 5},
            [this](ObjectName name) { return Sync(std::move(name)); }) {
  for (const ServedResource& resource : resources.all()) {
    if (!CanBeCounted(resource)) continue;
    ledger_.AddKind({resource.group, resource.resource});
    kinds_.push_back(&context.informers.For(resource.Name()));
  }
}

ResourceQuotaController::~ResourceQuotaController() {
  if (resync_ != 0) context_.env.executor.Cancel(resync_);
}

void ResourceQuotaController::Watch() {
  std::weak_ptr<ResourceQuotaController> weak = weak_from_this();
  EventHandler quotas;
  quotas.added = [weak](const ObjectPtr& quota) {
    if (auto self = weak.lock()) self->QuotaSeen(*quota);
  };
  quotas.updated = [weak](const ObjectPtr&, const ObjectPtr& quota) {
    if (auto self = weak.lock()) self->QuotaSeen(*quota);
  };
  quotas.deleted = [weak](const ObjectPtr& quota) {
    auto self = weak.lock();
    if (self == nullptr) return;
    self->ledger_.RemoveQuota(quota->name());
    self->last_resync_.erase(quota->name());
  };
  quotas_.AddHandler(std::move(quotas));
  for (std::size_t kind = 0; kind < kinds_.size(); ++kind) WatchKind(kind);
  resources_.AddHandler({.added =
                             [weak](const ServedResource& resource) {
                               if (auto self = weak.lock()) self->KindAdded(resource);
                             },
                         .removed =
                             [weak](const ServedResource& resource) {
                               if (auto self = weak.lock()) self->KindRemoved(resource);
                             }});
}

void ResourceQuotaController::KindAdded(const ServedResource& resource) {
  if (!CanBeCounted(resource)) return;
  const std::size_t kind = ledger_.AddKind({resource.group, resource.resource});
  kinds_.resize(std::max(kinds_.size(), kind + 1));
  kinds_[kind] = &context_.informers.For(resource.Name());
  ReadQuotasAgain();
  WatchKind(kind);
}

void ResourceQuotaController::KindRemoved(const ServedResource& resource) {
  for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
    const api::GroupResource& counted = ledger_.Kind(kind);
    if (counted.group != resource.group || counted.resource != resource.resource) continue;
    kinds_[kind] = nullptr;
    ledger_.RemoveKind(kind);
  }
  ReadQuotasAgain();
}

void ResourceQuotaController::ReadQuotasAgain() {
  for (const ObjectName& name : ledger_.Quotas()) {
    const Json spec = ledger_.Find(name)->spec;
    ledger_.PutQuota(name, spec);
    loop_.queue().Add(name);
  }
}

void ResourceQuotaController::WatchKind(std::size_t kind) {
  std::weak_ptr<ResourceQuotaController> weak = weak_from_this();
  EventHandler objects;
  objects.added = [weak, kind](const ObjectPtr& object) {
    if (auto self = weak.lock()) self->ObjectSeen(kind, *object);
  };
  if (UsageChanges(ledger_.Kind(kind))) {
    objects.updated = [weak, kind](const ObjectPtr&, const ObjectPtr& object) {
      if (auto self = weak.lock()) self->ObjectSeen(kind, *object);
    };
  }
  objects.deleted = [weak, kind](const ObjectPtr& object) {
    if (auto self = weak.lock()) self->ObjectGone(kind, *object);
  };
  kinds_[kind]->AddHandler(std::move(objects));
}

void ResourceQuotaController::Start() {
  loop_.Start();
  ScheduleResync();
}

void ResourceQuotaController::QuotaSeen(const api::Object& quota) {
  const ObjectName name = quota.name();
  std::shared_ptr<const Json> document = quota.Document();
  const Json& spec = api::ObjectAt(*document, "spec");
  QuotaAccount* account = ledger_.Find(name);
  if (account == nullptr || account->spec != spec) {
    const std::vector<bool> counts = ledger_.PutQuota(name, spec).counts;
    for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
      if (!counts[kind]) continue;
      for (const ObjectPtr& object : kinds_[kind]->List(name.ns)) ObjectSeen(kind, *object);
    }
  }
  if (std::exchange(resync_repeats_, false)) ScheduleResync();
  loop_.queue().Add(name);
}

void ResourceQuotaController::ObjectSeen(std::size_t kind, const api::Object& object) {
  if (!ledger_.Counts(object.header().ns, kind)) return;
  std::shared_ptr<const Json> document = object.Document();
  Enqueue(ledger_.Put(kind, object.name(),
                      api::QuotaSubjectOf(ledger_.Kind(kind), *document, context_.env.clock.Now())));
}

void ResourceQuotaController::ObjectGone(std::size_t kind, const api::Object& object) {
  Enqueue(ledger_.Remove(kind, object.name()));
}

void ResourceQuotaController::Enqueue(const std::vector<ObjectName>& quotas) {
  for (const ObjectName& name : quotas) loop_.queue().Add(name);
}

void ResourceQuotaController::ScheduleResync() {
  api::Executor& executor = context_.env.executor;
  if (resync_ != 0) executor.Cancel(resync_);
  auto resync = [weak = weak_from_this()] {
    auto self = weak.lock();
    if (self == nullptr) return;
    self->resync_ = 0;
    self->Resync();
    self->ScheduleResync();
  };
  resync_repeats_ = ledger_.Quotas().empty();
  resync_ = resync_repeats_ ? api::PostRepeating(executor, kResyncPeriod, kResyncPeriod, std::move(resync))
                            : executor.PostInBackground(kResyncPeriod, std::move(resync));
}

// Finds changes that no event reports: pods past their deletion deadline, and usage that the apiserver
// charged for objects that were never created.
void ResourceQuotaController::Resync() {
  const std::vector<ObjectName> names = ledger_.Quotas();
  std::set<std::string> namespaces;
  for (const ObjectName& name : names) namespaces.insert(name.ns);
  for (const std::string& ns : namespaces) RecountTerminatingPods(ns);
  for (const ObjectName& name : names) {
    ObjectPtr quota = quotas_.Get(name);
    if (quota == nullptr) continue;
    // The quota has not changed since the last resync, so no admission can be in progress: `counted` is
    // complete.
    std::int64_t& before = last_resync_[name];
    if (before == quota->revision()) {
      ledger_.Find(name)->recount = true;
      loop_.queue().Add(name);
    }
    before = quota->revision();
  }
}

void ResourceQuotaController::RecountTerminatingPods(const std::string& ns) {
  for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
    if (kinds_[kind] == nullptr || kinds_[kind]->resource() != "pods" || !ledger_.Counts(ns, kind)) continue;
    for (const ObjectPtr& pod : kinds_[kind]->List(ns))
      if (pod->header().deleting) ObjectSeen(kind, *pod);
  }
}

api::Task<ReconcileResult> ResourceQuotaController::Sync(ObjectName name) {
  // Reads the live quota: the apiserver updates quotas all the time, and would reject a write of a stale one.
  api::Result<ObjectPtr> current = context_.client.Get("resourcequotas", name);
  QuotaAccount* account = ledger_.Find(name);
  if (!current || account == nullptr) co_return Reconciled::Done();
  Json document = (*current)->Parse();
  // If the spec differs from the account's, its event enqueues the quota again.
  if (api::ObjectAt(document, "spec") != account->spec) co_return Reconciled::Done();
  std::optional<Json> status = NextStatus(document, *account);
  const ResourceList released = std::exchange(account->released, {});
  const bool recount = std::exchange(account->recount, false);
  if (!status) co_return Reconciled::Done();

  document["status"] = std::move(*status);
  api::Client::Written written = co_await context_.client.UpdateStatus("resourcequotas", std::move(document));
  if (written || written.status().Is(api::reason::kNotFound)) co_return Reconciled::Done();
  if (QuotaAccount* again = ledger_.Find(name); again != nullptr) {
    api::AddTo(again->released, released);
    again->recount = again->recount || recount;
  }
  co_return written.status();
}

}  // namespace terrarium::controllers::resource_quota

namespace terrarium::controllers {

std::unique_ptr<Controller> MakeResourceQuotaController(const ControllerContext& context,
                                                        ServedResources& resources) {
  return std::make_unique<SharedController<resource_quota::ResourceQuotaController>>(context, resources);
}

}  // namespace terrarium::controllers

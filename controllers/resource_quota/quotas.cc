#include "controllers/resource_quota/internal/quotas.h"

#include <chrono>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "api/json_access.h"
#include "controllers/resource_quota/internal/quota_status.h"

namespace terrarium::controllers::resource_quota {
namespace {

using api::Json;

constexpr api::Duration kResyncPeriod = std::chrono::minutes(5);

ObjectName NameOf(const api::Object& object) { return {object.header().ns, object.header().name}; }

bool CanBeCounted(const ServedResource& resource) {
  return resource.namespaced && !api::IsFreeOfQuota({resource.group, resource.resource});
}

std::vector<api::GroupResource> CountedKinds(const std::vector<ServedResource>& resources) {
  std::vector<api::GroupResource> kinds;
  for (const ServedResource& resource : resources)
    if (CanBeCounted(resource)) kinds.push_back({resource.group, resource.resource});
  return kinds;
}

// Of all other kinds there is either one or none, whatever is in it.
bool UsageChanges(const api::GroupResource& kind) {
  return kind.group.empty() && (kind.resource == "pods" || kind.resource == "services");
}

}  // namespace

Quotas::Quotas(const ControllerContext& context, std::vector<ServedResource> resources)
    : context_(context),
      quotas_(context.informers.For("resourcequotas")),
      ledger_(CountedKinds(resources)),
      loop_(context.env, context.metrics, LoopOptions{.name = "resourcequota_primary", .workers = 5},
            [this](ObjectName name) { return Sync(std::move(name)); }) {
  for (const ServedResource& resource : resources)
    if (CanBeCounted(resource)) kinds_.push_back(&context.informers.For(resource.resource));
}

Quotas::~Quotas() {
  if (resync_ != 0) context_.env.executor.Cancel(resync_);
}

void Quotas::Watch() {
  std::weak_ptr<Quotas> weak = weak_from_this();
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
    self->ledger_.RemoveQuota(NameOf(*quota));
    self->last_resync_.erase(NameOf(*quota));
  };
  quotas_.AddHandler(std::move(quotas));
  for (std::size_t kind = 0; kind < kinds_.size(); ++kind) WatchKind(kind);
}

void Quotas::WatchKind(std::size_t kind) {
  std::weak_ptr<Quotas> weak = weak_from_this();
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

void Quotas::Start() {
  loop_.Start();
  ScheduleResync();
}

void Quotas::QuotaSeen(const api::Object& quota) {
  const ObjectName name = NameOf(quota);
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
  loop_.queue().Add(name);
}

void Quotas::ObjectSeen(std::size_t kind, const api::Object& object) {
  if (!ledger_.Counts(object.header().ns, kind)) return;
  std::shared_ptr<const Json> document = object.Document();
  Enqueue(ledger_.Put(kind, NameOf(object),
                      api::QuotaSubjectOf(ledger_.Kind(kind), *document, context_.env.clock.Now())));
}

void Quotas::ObjectGone(std::size_t kind, const api::Object& object) { Enqueue(ledger_.Remove(kind, NameOf(object))); }

void Quotas::Enqueue(const std::vector<ObjectName>& quotas) {
  for (const ObjectName& name : quotas) loop_.queue().Add(name);
}

void Quotas::ScheduleResync() {
  resync_ = context_.env.executor.PostInBackground(kResyncPeriod, [weak = weak_from_this()] {
    auto self = weak.lock();
    if (self == nullptr) return;
    self->Resync();
    self->ScheduleResync();
  });
}

// Finds what no event tells: pods that should have gone by now, and takings of the apiserver that came to nothing.
void Quotas::Resync() {
  const std::vector<ObjectName> names = ledger_.Quotas();
  std::set<std::string> namespaces;
  for (const ObjectName& name : names) namespaces.insert(name.ns);
  for (const std::string& ns : namespaces) LookAtTerminatingPods(ns);
  for (const ObjectName& name : names) {
    ObjectPtr quota = quotas_.Get(name);
    if (quota == nullptr) continue;
    // Nothing has been taken for so long that nothing can be on its way any more: the count is all there is.
    std::int64_t& before = last_resync_[name];
    if (before == quota->revision()) {
      ledger_.Find(name)->recount = true;
      loop_.queue().Add(name);
    }
    before = quota->revision();
  }
}

void Quotas::LookAtTerminatingPods(const std::string& ns) {
  for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
    if (kinds_[kind]->resource() != "pods" || !ledger_.Counts(ns, kind)) continue;
    for (const ObjectPtr& pod : kinds_[kind]->List(ns))
      if (pod->header().deleting) ObjectSeen(kind, *pod);
  }
}

api::Task<ReconcileResult> Quotas::Sync(ObjectName name) {
  // The newest state: the apiserver writes to quotas all the time, and a stale one would only be refused.
  api::Result<ObjectPtr> current = context_.client.Get("resourcequotas", name);
  QuotaAccount* account = ledger_.Find(name);
  if (!current || account == nullptr) co_return Reconciled::Done();
  Json document = (*current)->Parse();
  // Another spec than the account's comes again with its event.
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

#include <algorithm>
#include <memory>
#include <utility>
#include <vector>

#include "api/base/errors.h"
#include "api/json_access.h"
#include "apiserver/internal/guard.h"
#include "apiserver/internal/quota.h"
#include "apiserver/internal/write_path.h"

namespace terrarium::apiserver {
namespace {

using api::ResourceList;
using api::Result;
using Kind = QuotaVerdict::Kind;

const ResourceInfo& Quotas() {
  static const ResourceInfo& resource = *ResourceTable::BuiltIn()->FindStorage("resourcequotas");
  return resource;
}

std::vector<api::ObjectPtr> QuotasOf(const Call& call) {
  auto listing = call.server.store.List({.resource = std::string(Quotas().storage), .ns = call.route.ns});
  return listing ? std::move(listing->items) : std::vector<api::ObjectPtr>{};
}

api::Status Refused(const Call& call, const std::string& name, const std::string& why) {
  return api::Forbidden(call.resource().Resource(), name, why);
}

Json WithUsed(const Json& quota, const ResourceList& used) {
  Json next = quota;
  next["status"]["used"] = api::WriteResourceList(used);
  return next;
}

ResourceList UsedOf(const Json& quota) {
  return api::ReadResourceList(api::ObjectAt(quota, "status", "used"));
}

// One creation: takes from one quota after the other, submits, and releases the usage if the create fails.
struct Admission : std::enable_shared_from_this<Admission> {
  CallPtr call;
  api::QuotaSubject subject;
  api::ObjectPtr object;
  std::function<void(Result<storage::WriteOutcome>)> done;
  std::vector<std::string> waiting;                         // quotas still to be asked, last first
  std::vector<std::pair<std::string, ResourceList>> taken;  // by quota

  ChangeTarget Target(const std::string& quota) const {
    return {Quotas(), {std::string(Quotas().storage), call->route.ns, quota}};
  }
  void Take();
  void Submit();
  void GiveBack(Result<storage::WriteOutcome> outcome);
};

void Admission::Take() {
  if (waiting.empty()) return Submit();
  const std::string quota = std::move(waiting.back());
  waiting.pop_back();
  auto took = std::make_shared<ResourceList>();
  ChangeObject(
      call, Target(quota),
      [self = shared_from_this(), took](const api::ObjectPtr&, const Json& document) -> Result<Change> {
        QuotaVerdict verdict = JudgeQuota(document, self->subject);
        if (verdict.kind == Kind::kRefused || verdict.kind == Kind::kExceeded)
          return Refused(*self->call, self->object->header().name, verdict.why);
        *took = std::move(verdict.taken);
        if (took->empty()) return Change{};
        ResourceList used = UsedOf(document);
        api::AddTo(used, *took);
        return Change{Change::Action::kWrite, WithUsed(document, used)};
      },
      [self = shared_from_this(), took, quota](Result<Changed> changed) {
        // A quota that has gone meanwhile limits nothing.
        if (!changed && !changed.status().Is(api::reason::kNotFound)) return self->GiveBack(changed.status());
        if (changed && !took->empty()) self->taken.emplace_back(quota, std::move(*took));
        self->Take();
      });
}

void Admission::Submit() {
  storage::Write write{storage::Write::Op::kCreate, call->KeyOf(object->header().name), 0, object};
  call->server.store.Submit(std::move(write), [self = shared_from_this()](storage::WriteOutcome outcome) {
    Guard(self->call, [&] {
      if (outcome.code == storage::WriteOutcome::Code::kOk) return self->done(std::move(outcome));
      self->GiveBack(std::move(outcome));
    });
  });
}

void Admission::GiveBack(Result<storage::WriteOutcome> outcome) {
  if (taken.empty()) return done(std::move(outcome));
  auto [quota, amounts] = std::move(taken.back());
  taken.pop_back();
  ChangeObject(
      call, Target(quota),
      [amounts = std::move(amounts)](const api::ObjectPtr&, const Json& document) -> Result<Change> {
        ResourceList used = UsedOf(document);
        api::TakeFrom(used, amounts);
        return Change{Change::Action::kWrite, WithUsed(document, used)};
      },
      [self = shared_from_this(), outcome = std::move(outcome)](Result<Changed>) mutable {
        // If a quota cannot be written, the controller recounts it; the response is the creation's.
        self->GiveBack(std::move(outcome));
      });
}

}  // namespace

std::optional<api::QuotaSubject> FindQuotaSubject(const Call& call, const Json& object) {
  if (call.server.store.Count(Quotas().storage) == 0 || !call.resource().namespaced) return std::nullopt;
  const api::GroupResource resource = call.resource().Resource();
  if (api::IsFreeOfQuota(resource) || QuotasOf(call).empty()) return std::nullopt;
  return api::QuotaSubjectOf(resource, object, call.server.env.clock.Now());
}

Result<void> CheckQuotas(const Call& call, const api::QuotaSubject& subject, const std::string& name) {
  std::string exceeded;
  for (const api::ObjectPtr& quota : QuotasOf(call)) {
    QuotaVerdict verdict = JudgeQuota(*quota->Document(), subject);
    if (verdict.kind == Kind::kRefused) return Refused(call, name, verdict.why);
    if (verdict.kind == Kind::kExceeded && exceeded.empty()) exceeded = std::move(verdict.why);
  }
  if (!exceeded.empty()) return Refused(call, name, exceeded);
  return {};
}

void SubmitWithinQuotas(const CallPtr& call, api::QuotaSubject subject, api::ObjectPtr object,
                        std::function<void(Result<storage::WriteOutcome>)> done) {
  // All quotas are asked before the first is written, so that most refusals change nothing at all.
  const std::string& name = object->header().name;
  if (auto fine = CheckQuotas(*call, subject, name); !fine) return done(fine.status());
  auto admission = std::make_shared<Admission>();
  admission->call = call;
  admission->subject = std::move(subject);
  admission->done = std::move(done);
  // The store will refuse a name that is taken, so nothing is charged for it.
  if (call->server.store.Get(call->KeyOf(name)) == nullptr) {
    for (const api::ObjectPtr& quota : QuotasOf(*call)) admission->waiting.push_back(quota->header().name);
    std::reverse(admission->waiting.begin(), admission->waiting.end());
  }
  admission->object = std::move(object);
  admission->Take();
}

}  // namespace terrarium::apiserver

#include <utility>

#include "api/base/errors.h"
#include "api/json_access.h"
#include "apiserver/internal/body.h"
#include "apiserver/internal/deletion.h"
#include "apiserver/internal/options.h"
#include "apiserver/internal/respond.h"
#include "apiserver/internal/verbs.h"

namespace terrarium::apiserver {
namespace {

using api::Result;

// The conflict errors of a delete name the kind, not the resource.
api::GroupResource KindAsResource(const ResourceInfo& resource) {
  return {std::string(resource.group), std::string(resource.kind)};
}

bool IsProtectedNamespace(const Call& call) {
  if (call.resource().storage != "namespaces") return false;
  return call.route.name == "default" || call.route.name == "kube-system" || call.route.name == "kube-public";
}

// The second step of kMarkThenRemove: removes the object, unless another object has its name by now.
void RemoveMarked(const CallPtr& call, const ChangeTarget& target, const api::ObjectPtr& marked,
                  ChangeDone done) {
  if (target.dry_run) return done(Changed{marked, true});
  ChangeObject(
      call, target,
      [uid = marked->header().uid](const api::ObjectPtr& current, const Json&) -> Result<Change> {
        if (current->header().uid != uid) return Change{};
        return Change{Change::Action::kDelete, Json()};
      },
      [marked, done = std::move(done)](Result<Changed> removed) {
        // The object is gone already, or another object has its name: either way the marked object is
        // deleted.
        if (!removed || !removed->deleted) return done(Changed{marked, true});
        done(std::move(removed));
      });
}

void RespondDeleted(const CallPtr& call, const DeleteOptions& options, const Changed& changed) {
  if (!changed.deleted) return RespondObject(call, options.refuses_to_orphan ? 202 : 200, changed.object);
  if (call->strategy().ReturnsDeletedObject()) return RespondObject(call, 200, changed.object);
  Json details = {{"name", changed.object->header().name},
                  {"kind", call->resource().plural},
                  {"uid", changed.object->header().uid}};
  if (!call->resource().group.empty()) details["group"] = call->resource().group;
  RespondSuccess(call, 200, details);
}

}  // namespace

Result<void> CheckPreconditions(const ResourceInfo& resource, const DeleteOptions& options,
                                const api::Object& current) {
  const std::string& name = current.header().name;
  if (options.uid && *options.uid != current.header().uid)
    return api::Conflict(KindAsResource(resource), name,
                         "the UID in the precondition (" + *options.uid +
                             ") does not match the UID in record (" + current.header().uid +
                             "). The object might have been deleted and then recreated");
  std::string revision = std::to_string(current.revision());
  if (options.resource_version && *options.resource_version != revision)
    return api::Conflict(KindAsResource(resource), name,
                         "the ResourceVersion in the precondition (" + *options.resource_version +
                             ") does not match the ResourceVersion in record (" + revision +
                             "). The object might have been modified");
  return {};
}

void DeleteObject(const CallPtr& call, const ResourceInfo& resource, const storage::ObjectKey& key,
                  const DeleteOptions& options, ChangeDone done) {
  auto remove_after = std::make_shared<bool>(false);
  ChangeTarget target{.resource = resource,
                      .key = key,
                      .dry_run = options.dry_run,
                      .read = resource.strategy->ReadForDeletion()};
  ChangeObject(
      call, target,
      [call, &resource, options, remove_after](const api::ObjectPtr& current,
                                               const Json& document) -> Result<Change> {
        if (auto fine = CheckPreconditions(resource, options, *current); !fine) return fine.status();
        DeletionPlan plan = PlanDeletion(resource, document, options, call->server.env.clock.Now());
        *remove_after = plan.action == DeletionPlan::Action::kMarkThenRemove;
        switch (plan.action) {
          case DeletionPlan::Action::kNothing: return Change{};
          case DeletionPlan::Action::kRemove: return Change{Change::Action::kDelete, Json()};
          default: return Change{Change::Action::kWrite, std::move(plan.document)};
        }
      },
      [call, target, remove_after, done = std::move(done)](Result<Changed> changed) {
        if (!changed || !*remove_after) return done(std::move(changed));
        RemoveMarked(call, target, changed->object, done);
      });
}

void ServeDelete(const CallPtr& call) {
  auto body = DecodeDeleteOptions(*call);
  if (!body) return RespondError(call, body.status());
  auto options = ParseDeleteOptions(call->request, *body);
  if (!options) return RespondError(call, options.status());
  if (IsProtectedNamespace(*call))
    return RespondError(
        call, api::Forbidden({"", "namespaces"}, call->route.name, "this namespace may not be deleted"));
  if (!options->propagation && !call->strategy().OrphanByDefaultWarning().empty())
    call->warnings.emplace_back(call->strategy().OrphanByDefaultWarning());
  DeleteObject(call, call->resource(), call->Key(), *options,
               [call, options = *options](Result<Changed> changed) {
                 if (!changed) return RespondError(call, changed.status());
                 RespondDeleted(call, options, *changed);
               });
}

}  // namespace terrarium::apiserver

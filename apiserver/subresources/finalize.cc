#include <utility>

#include "api/base/errors.h"
#include "api/json_access.h"
#include "apiserver/internal/body.h"
#include "apiserver/internal/field_owners.h"
#include "apiserver/internal/options.h"
#include "apiserver/internal/respond.h"
#include "apiserver/internal/update.h"
#include "apiserver/internal/verbs.h"
#include "apiserver/strategy/namespace.h"

namespace terrarium::apiserver {

// Replaces only a Namespace's spec.finalizers. A Namespace that is being deleted is removed with its last
// finalizer.
void ServeNamespaceFinalize(const CallPtr& call) {
  auto options = ParseWriteOptions(call->request, "UpdateOptions");
  if (!options) return RespondError(call, options.status());
  auto body = DecodeBody(*call, BodyKindOf(call->resource()), options->field_validation);
  if (!body) return RespondError(call, body.status());
  if (auto fine = CheckNames(*call, *body); !fine) return RespondError(call, fine.status());
  ApplyAllDefaults(call->resource(), *body);
  ChangeObject(
      call, OwnTarget(*call, options->dry_run),
      [call, manager = options->field_manager, body = std::move(*body)](
          const api::ObjectPtr& current, const Json& old) -> api::Result<Change> {
        if (auto fine = CheckVersion(*call, body, *current); !fine) return fine.status();
        Json object = old;
        if (const Json* finalizers = api::Find(body, "spec", "finalizers"))
          object["spec"]["finalizers"] = *finalizers;
        else
          object["spec"].erase("finalizers");
        if (FieldErrors errors = ValidateNamespaceFinalize(object, old); !errors.empty())
          return api::Invalid(call->resource().Kind(), call->route.name, errors);
        bool gone = IsReadyToGo(call->resource(), object);
        return Change{gone ? Change::Action::kDelete : Change::Action::kWrite, std::move(object),
                      OwnersOfUpdate(*call, manager, *current, old)(body, nullptr)};
      },
      [call](api::Result<Changed> changed) {
        if (!changed) return RespondError(call, changed.status());
        RespondObject(call, 200, changed->object);
      });
}

}  // namespace terrarium::apiserver

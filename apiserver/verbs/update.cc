#include "apiserver/internal/update.h"

#include <cstddef>
#include <string>
#include <utility>

#include "api/base/errors.h"
#include "api/json_access.h"
#include "apiserver/internal/body.h"
#include "apiserver/internal/creation.h"
#include "apiserver/internal/etcd_words.h"
#include "apiserver/internal/field_owners.h"
#include "apiserver/internal/options.h"
#include "apiserver/internal/respond.h"
#include "apiserver/internal/verbs.h"
#include "apiserver/internal/write_path.h"

namespace terrarium::apiserver {

using api::Json;
using api::Result;

namespace {

Result<void> CheckUid(const Call& call, const Json& object, const api::Object& current) {
  std::string uid(api::StringAt(object, "metadata", "uid"));
  if (uid.empty() || uid == current.header().uid) return {};
  std::string key = EtcdKey(call.resource(), call.route.ns, call.route.name);
  return api::Conflict(
      call.resource().Resource(), call.route.name,
      "StorageError: invalid object, Code: 4, Key: " + key +
          ", ResourceVersion: 0, AdditionalErrorMsg: Precondition failed: UID in precondition: " + uid +
          ", UID in object meta: " + current.header().uid);
}

// Serves a PUT of an object that does not exist, for the kinds that allow it.
// `warnings_before`: how many the call had before its body was read.
void CreateInstead(const CallPtr& call, Json object, const WriteOptions& options,
                   std::size_t warnings_before) {
  if (auto admitted = AdmitToNamespace(*call, call->route.name); !admitted)
    return RespondError(call, admitted.status());
  auto prepared = PrepareNew(*call, std::move(object), OwnersOfNew(*call, options.field_manager));
  if (!prepared) return RespondError(call, prepared.status());
  StoreNew(call, std::move(*prepared), {.dry_run = options.dry_run},
           [call, warnings_before](const api::Object&) {
             call->warnings.resize(warnings_before);
             ServeUpdate(call);  // another client has created it by now: update it
           });
}

}  // namespace

void ServeUpdate(const CallPtr& call) {
  const std::size_t warnings_before = call->warnings.size();
  auto options = ParseWriteOptions(call->request, "UpdateOptions");
  if (!options) return RespondError(call, options.status());
  auto object = DecodeBody(*call, BodyKindOf(call->resource()), options->field_validation);
  if (!object) return RespondError(call, object.status());
  if (auto fine = CheckNames(*call, *object); !fine) return RespondError(call, fine.status());
  ApplyAllDefaults(call->resource(), *object);
  if (call->resource().namespaced) (*object)["metadata"]["namespace"] = call->route.ns;

  bool create_allowed = call->route.subresource == nullptr && call->strategy().AllowCreateOnUpdate();
  if (create_allowed && call->server.store.Get(call->Key()) == nullptr)
    return CreateInstead(call, std::move(*object), *options, warnings_before);
  ChangeObject(
      call, OwnTarget(*call, options->dry_run),
      [call, manager = options->field_manager, object = std::move(*object)](
          const api::ObjectPtr& current, const Json& old) -> Result<Change> {
        if (auto fine = CheckUid(*call, object, *current); !fine) return fine.status();
        if (auto fine = CheckVersion(*call, object, *current); !fine) return fine.status();
        return Replace(*call, object, old, OwnersOfUpdate(*call, manager, *current, old));
      },
      [call](Result<Changed> changed) {
        if (!changed) return RespondError(call, changed.status());
        RespondObject(call, 200, changed->object);
      });
}

}  // namespace terrarium::apiserver

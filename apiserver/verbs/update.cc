#include "apiserver/internal/update.h"

#include <optional>
#include <string>
#include <utility>

#include "api/base/errors.h"
#include "api/json_access.h"
#include "apiserver/internal/body.h"
#include "apiserver/internal/etcd_words.h"
#include "apiserver/internal/guard.h"
#include "apiserver/internal/options.h"
#include "apiserver/internal/quota.h"
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
void CreateInstead(const CallPtr& call, Json object, bool dry_run, std::size_t warnings_before) {
  if (auto admitted = AdmitToNamespace(*call, call->route.name); !admitted)
    return RespondError(call, admitted.status());
  auto document = PrepareNew(*call, std::move(object));
  if (!document) return RespondError(call, document.status());
  std::optional<api::QuotaSubject> quota_subject = FindQuotaSubject(*call, *document);
  api::ObjectPtr stored = MakeObject(call->resource(), std::move(*document));
  if (dry_run) {
    if (quota_subject)
      if (auto fits = CheckQuotas(*call, *quota_subject, call->route.name); !fits)
        return RespondError(call, fits.status());
    return RespondObject(call, 201, stored);
  }
  const std::size_t limit = call->server.options.object_bytes_max;
  if (auto fits = CheckEtcdLimits(call->resource(), *stored, EtcdWrite::kCreate, limit); !fits)
    return RespondError(call, fits.status());
  auto finish = [call, warnings_before](storage::WriteOutcome outcome) {
    if (outcome.code == storage::WriteOutcome::Code::kOk) {
      RecordGateNotes(*call, *outcome.object);
      return RespondObject(call, 201, outcome.object);
    }
    if (outcome.code == storage::WriteOutcome::Code::kExists) {
      call->warnings.resize(warnings_before);
      return ServeUpdate(call);  // another client has created it by now: update it
    }
    RespondError(call, api::InternalError(outcome.error));
  };
  if (!quota_subject)
    return call->server.store.Submit(
        {storage::Write::Op::kCreate, call->Key(), 0, stored},
        [call, finish](storage::WriteOutcome outcome) { Guard(call, [&] { finish(std::move(outcome)); }); });
  SubmitWithinQuotas(call, std::move(*quota_subject), stored,
                     [call, finish](Result<storage::WriteOutcome> outcome) {
                       if (!outcome) return RespondError(call, outcome.status());
                       finish(std::move(*outcome));
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
    return CreateInstead(call, std::move(*object), options->dry_run, warnings_before);
  ChangeObject(
      call, OwnTarget(*call, options->dry_run),
      [call, object = std::move(*object)](const api::ObjectPtr& current, const Json& old) -> Result<Change> {
        if (auto fine = CheckUid(*call, object, *current); !fine) return fine.status();
        if (auto fine = CheckVersion(*call, object, *current); !fine) return fine.status();
        return Replace(*call, object, old);
      },
      [call](Result<Changed> changed) {
        if (!changed) return RespondError(call, changed.status());
        RespondObject(call, 200, changed->object);
      });
}

}  // namespace terrarium::apiserver

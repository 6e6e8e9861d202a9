#include "apiserver/internal/creation.h"

#include <optional>
#include <utility>

#include "api/base/errors.h"
#include "apiserver/internal/guard.h"
#include "apiserver/internal/quota.h"
#include "apiserver/internal/respond.h"

namespace terrarium::apiserver {
namespace {

// A dry run's object has no revision, since it was never written.
void RespondNotStored(const CallPtr& call, const api::ObjectPtr& object) {
  Json document = PresentedDocument(call->resource(), *object);
  document["metadata"].erase("resourceVersion");
  RespondDocument(call, 201, document, call->resource().Schema());
}

}  // namespace

void StoreNew(const CallPtr& call, Prepared prepared, const CreationOptions& options,
              std::function<void(const api::Object& existing)> exists) {
  std::optional<api::QuotaSubject> quota_subject = FindQuotaSubject(*call, prepared.document);
  api::ObjectPtr object = MakeObject(call->resource(), std::move(prepared));
  storage::ObjectKey key = call->KeyOf(object->header().name);
  if (options.dry_run) {
    if (quota_subject)
      if (auto fits = CheckQuotas(*call, *quota_subject, key.name); !fits)
        return RespondError(call, fits.status());
    if (api::ObjectPtr existing = call->server.store.Get(key)) return exists(*existing);
    return RespondNotStored(call, object);
  }
  auto fitting =
      FitIntoEtcd(*call, call->resource(), std::move(object), EtcdWrite::kCreate, options.owners_required);
  if (!fitting) return RespondError(call, fitting.status());
  auto finish = [call, exists = std::move(exists)](storage::WriteOutcome outcome) {
    using Code = storage::WriteOutcome::Code;
    switch (outcome.code) {
      case Code::kOk:
        RecordGateNotes(*call, *outcome.object);
        return RespondObject(call, 201, outcome.object);
      case Code::kExists: return exists(*outcome.object);
      default: return RespondError(call, api::InternalError(outcome.error));
    }
  };
  if (quota_subject)
    return SubmitWithinQuotas(call, std::move(*quota_subject), *fitting,
                              [call, finish = std::move(finish)](api::Result<storage::WriteOutcome> outcome) {
                                if (!outcome) return RespondError(call, outcome.status());
                                finish(std::move(*outcome));
                              });
  call->server.store.Submit({storage::Write::Op::kCreate, std::move(key), 0, std::move(*fitting)},
                            [call, finish = std::move(finish)](storage::WriteOutcome outcome) {
                              Guard(call, [&] { finish(std::move(outcome)); });
                            });
}

}  // namespace terrarium::apiserver

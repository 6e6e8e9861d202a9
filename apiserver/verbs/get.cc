#include "api/base/errors.h"
#include "apiserver/internal/options.h"
#include "apiserver/internal/respond.h"
#include "apiserver/internal/verbs.h"

namespace terrarium::apiserver {

// Any resourceVersion is served from the newest state: it is never older than what was asked for, except for
// a version of the future, which Kubernetes answers with a time-out.
void ServeGet(const CallPtr& call) {
  if (auto plain = RefuseExport(call->request); !plain) return RespondError(call, plain.status());
  // A malformed one is reported as that of a watch is, as the server's own failure.
  auto asked = ParseResourceVersion(call->request, /*watch=*/true);
  if (!asked) return RespondError(call, asked.status());
  std::int64_t current = call->server.store.CurrentRevision();
  if (asked->value_or(0) > current) return RespondError(call, api::TooLargeResourceVersion(**asked, current));
  api::ObjectPtr object = call->server.store.Get(call->Key());
  if (object == nullptr)
    return RespondError(call, api::NotFound(call->resource().Resource(), call->route.name));
  RespondObject(call, 200, object);
}

}  // namespace terrarium::apiserver

#include "api/base/errors.h"
#include "apiserver/internal/respond.h"
#include "apiserver/internal/verbs.h"

namespace terrarium::apiserver {

// Any resourceVersion is served from the newest state: it is never older than what was asked for, except for a version
// of the future, which Kubernetes answers with a time-out.
void ServeGet(const CallPtr& call) {
  if (const std::string* version = call->request.Query("resourceVersion"); version != nullptr && !version->empty()) {
    std::int64_t asked = 0;
    for (char c : *version) {
      if (c < '0' || c > '9' || asked > (INT64_MAX - 9) / 10)
        return RespondError(call, api::BadRequest("invalid resource version: resourceVersion: Invalid value: " +
                                                  api::Quote(*version) + ": strconv.ParseUint: parsing " +
                                                  api::Quote(*version) + ": invalid syntax"));
      asked = asked * 10 + (c - '0');
    }
    std::int64_t current = call->server.store.CurrentRevision();
    if (asked > current) return RespondError(call, api::TooLargeResourceVersion(asked, current));
  }
  api::ObjectPtr object = call->server.store.Get(call->Key());
  if (object == nullptr) return RespondError(call, api::NotFound(call->resource().Resource(), call->route.name));
  RespondObject(call, 200, object);
}

}  // namespace terrarium::apiserver

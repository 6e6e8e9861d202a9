#include "api/base/status.h"

#include <algorithm>

namespace terrarium::api {

bool Status::HasCause(std::string_view cause_reason) const {
  if (!details) return false;
  return std::any_of(details->causes.begin(), details->causes.end(),
                     [=](const StatusCause& cause) { return cause.reason == cause_reason; });
}

Json Status::ToJson() const {
  Json out = {{"kind", "Status"}, {"apiVersion", "v1"}, {"metadata", Json::object()}, {"status", "Failure"}};
  if (!continue_token.empty()) out["metadata"]["continue"] = continue_token;
  if (!message.empty()) out["message"] = message;
  if (!reason.empty()) out["reason"] = reason;
  if (details) {
    Json d = Json::object();
    if (!details->name.empty()) d["name"] = details->name;
    if (!details->group.empty()) d["group"] = details->group;
    if (!details->kind.empty()) d["kind"] = details->kind;
    if (!details->uid.empty()) d["uid"] = details->uid;
    for (const StatusCause& cause : details->causes) {
      Json c = Json::object();
      if (!cause.reason.empty()) c["reason"] = cause.reason;
      if (!cause.message.empty()) c["message"] = cause.message;
      if (!cause.field.empty()) c["field"] = cause.field;
      d["causes"].push_back(std::move(c));
    }
    if (details->retry_after_seconds > 0) d["retryAfterSeconds"] = details->retry_after_seconds;
    out["details"] = std::move(d);
  }
  out["code"] = code;
  return out;
}

}  // namespace terrarium::api

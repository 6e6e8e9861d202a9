#include "apiserver/internal/respond.h"

#include <utility>

#include <spdlog/spdlog.h>

#include "api/base/errors.h"
#include "apiserver/internal/guard.h"
#include "apiserver/panic.h"
#include "apiserver/warning_list.h"

namespace terrarium::apiserver {
namespace {

const api::Message& StatusSchema() {
  static const api::Message& schema = api::Schema::Get().Must("io.k8s.apimachinery.pkg.apis.meta.v1.Status");
  return schema;
}

// A Status is never a table or bare metadata, whatever the request asked for.
Negotiated AsItself(Negotiated output) {
  output.shape = Shape::kObject;
  return output;
}

void Send(const CallPtr& call, int code, std::string content_type, std::string body) {
  Response response;
  response.code = code;
  response.content_type = std::move(content_type);
  response.body = std::move(body);
  Answer(call, std::move(response));
}

// A stream may last for an hour, and the query and the header fields of its request may take a megabyte. The
// query determines the encoding of Events, and logged errors name the user.
void DropUnneededByStream(Call& call) {
  Request kept;
  const std::string* include = call.request.Query("includeObject");
  if (include != nullptr && call.output.shape == Shape::kTable)
    kept.query.emplace_back("includeObject", *include);
  kept.user = std::move(call.request.user);
  call.request = std::move(kept);
}

}  // namespace

void Answer(const CallPtr& call, Response response) {
  if (response.stream) DropUnneededByStream(*call);
  WarningList warnings;
  for (std::string& warning : call->warnings) warnings.Add(std::move(warning));
  response.warnings = warnings.Take();
  // Moved out first: a watch keeps its call, and must not keep the connection's own callback with it.
  Responder respond = std::exchange(call->respond, nullptr);
  respond(std::move(response));
}

void RespondObject(const CallPtr& call, int code, const api::ObjectPtr& object) {
  if (call->written) return std::exchange(call->written, nullptr)(object);
  Send(call, code, call->output.ContentType(), EncodeObject(*call, object));
}

void RespondList(const CallPtr& call, std::span<const api::ObjectPtr> items, const ListMeta& meta) {
  Send(call, 200, call->output.ContentType(), EncodeList(*call, items, meta));
}

void RespondDocument(const CallPtr& call, int code, const Json& document, const api::Message& schema) {
  if (call->written) return std::exchange(call->written, nullptr)(api::ObjectPtr());
  Send(call, code, call->output.ContentType(), EncodeUnstored(*call, document, schema));
}

void RespondDocuments(const CallPtr& call, std::vector<Json> items) {
  Send(call, 200, call->output.ContentType(), EncodeUnstoredList(*call, std::move(items)));
}

void RespondError(const CallPtr& call, const api::Status& status) {
  if (call->written) return std::exchange(call->written, nullptr)(status);
  Answer(call, ErrorResponse(call->output, status));
}

void RespondPanic(const CallPtr& call, const char* reason) {
  call->server.env.log.error("exception while serving {} {} for {}: {}", VerbName(call->route.verb),
                             call->resource().plural, call->request.user.name, reason);
  if (call->written || call->respond) RespondError(call, api::InternalError(kPanicMessage));
}

void RespondSuccess(const CallPtr& call, int code, const Json& details) {
  Json document = {
      {"kind", "Status"}, {"apiVersion", "v1"}, {"metadata", Json::object()}, {"status", "Success"}};
  // A response with details, as for a delete, has no code.
  if (details.is_null())
    document["code"] = code;
  else
    document["details"] = details;
  if (call->written) return std::exchange(call->written, nullptr)(api::ObjectPtr());
  Negotiated output = AsItself(call->output);
  Send(call, code, output.ContentType(), EncodeDocument(output, document, StatusSchema()));
}

Response ErrorResponse(const Negotiated& negotiated, const api::Status& status) {
  Negotiated output = AsItself(negotiated);
  Response response;
  response.code = status.code;
  response.content_type = output.ContentType();
  response.body = EncodeDocument(output, status.ToJson(), StatusSchema());
  if (status.details && status.details->retry_after_seconds > 0)
    response.headers.emplace_back("Retry-After", std::to_string(status.details->retry_after_seconds));
  return response;
}

}  // namespace terrarium::apiserver

#include "api/base/errors.h"

#include <set>
#include <utility>

namespace terrarium::api {
namespace {

Status MakeNamed(int code, const char* why, std::string message, const GroupResource& resource,
                 std::string_view name) {
  Status s = MakeStatus(code, why, std::move(message));
  s.details = StatusDetails{
      .name = std::string(name), .group = resource.group, .kind = resource.resource, .uid = {}, .causes = {}};
  return s;
}

// The text of an error list: one error stands alone, several are bracketed, repeats appear once.
std::string Aggregate(const FieldErrors& errors) {
  std::set<std::string> distinct;
  std::string out;
  for (const FieldError& e : errors) {
    auto [text, is_new] = distinct.insert(e.field.empty() ? e.message : e.field + ": " + e.message);
    if (is_new) out.append(out.empty() ? "" : ", ").append(*text);
  }
  return distinct.size() == 1 ? out : "[" + out + "]";
}

}  // namespace

Status MakeStatus(int code, std::string_view reason, std::string message) {
  Status s;
  s.code = code;
  s.reason = reason;
  s.message = std::move(message);
  return s;
}

Status NotFound(const GroupResource& resource, std::string_view name) {
  return MakeNamed(404, reason::kNotFound, resource.String() + " \"" + std::string(name) + "\" not found",
                   resource, name);
}

Status AlreadyExists(const GroupResource& resource, std::string_view name) {
  return MakeNamed(409, reason::kAlreadyExists,
                   resource.String() + " \"" + std::string(name) + "\" already exists", resource, name);
}

Status Conflict(const GroupResource& resource, std::string_view name, std::string_view why) {
  return MakeNamed(409, reason::kConflict,
                   "Operation cannot be fulfilled on " + resource.String() + " \"" + std::string(name) +
                       "\": " + std::string(why),
                   resource, name);
}

Status ModifiedConflict(const GroupResource& resource, std::string_view name) {
  return Conflict(
      resource, name,
      "the object has been modified; please apply your changes to the latest version and try again");
}

Status Invalid(const GroupKind& kind, std::string_view name, const FieldErrors& errors) {
  Status s = MakeStatus(422, reason::kInvalid,
                        kind.String() + " \"" + std::string(name) + "\" is invalid: " + Aggregate(errors));
  s.details = StatusDetails{
      .name = std::string(name), .group = kind.group, .kind = kind.kind, .uid = {}, .causes = {}};
  for (const FieldError& e : errors)
    s.details->causes.push_back({std::string(CauseReason(e.type)), e.message, e.field});
  return s;
}

Status BadRequest(std::string_view message) {
  return MakeStatus(400, reason::kBadRequest, std::string(message));
}

Status InternalError(std::string_view message) {
  Status s = MakeStatus(500, reason::kInternalError, "Internal error occurred: " + std::string(message));
  s.details.emplace().causes.push_back({"", std::string(message), ""});
  return s;
}

Status GenericServerError(std::string_view message) { return MakeStatus(500, "", std::string(message)); }

Status Forbidden(const GroupResource& resource, std::string_view name, std::string_view why) {
  std::string what = resource.String() + " \"" + std::string(name) + "\" is forbidden: ";
  return MakeNamed(403, reason::kForbidden, what + std::string(why), resource, name);
}

Status Unauthorized() { return MakeStatus(401, reason::kUnauthorized, "Unauthorized"); }

Status MethodNotAllowed() {
  Status s = MakeStatus(405, reason::kMethodNotAllowed,
                        "the server does not allow this method on the requested resource");
  s.details.emplace();
  return s;
}

Status UnknownResource() {
  Status s = MakeStatus(404, reason::kNotFound, "the server could not find the requested resource");
  s.details.emplace();
  return s;
}

Status UnsupportedMediaType(std::string_view accepted) {
  return MakeStatus(415, reason::kUnsupportedMediaType,
                    "the body of the request was in an unknown format - accepted media types include: " +
                        std::string(accepted));
}

Status UnsupportedPatchType() {
  Status s = MakeStatus(415, reason::kUnsupportedMediaType, "415: Unsupported Media Type");
  s.details.emplace();
  return s;
}

Status RequestTooLarge(std::string_view message) {
  return MakeStatus(413, reason::kRequestEntityTooLarge, "Request entity too large: " + std::string(message));
}

Status TooManyRequests(std::string_view message, int retry_after_seconds) {
  Status s = MakeStatus(429, reason::kTooManyRequests, std::string(message));
  s.details.emplace().retry_after_seconds = retry_after_seconds;
  return s;
}

Status Expired(std::string_view message) { return MakeStatus(410, reason::kExpired, std::string(message)); }

Status TooOldResourceVersion(std::int64_t asked, std::int64_t oldest) {
  return Expired("too old resource version: " + std::to_string(asked) + " (" + std::to_string(oldest) + ")");
}

Status TooLargeResourceVersion(std::int64_t asked, std::int64_t current) {
  Status s = MakeStatus(504, reason::kTimeout,
                        "Timeout: Too large resource version: " + std::to_string(asked) +
                            ", current: " + std::to_string(current));
  s.details.emplace().causes.push_back({"ResourceVersionTooLarge", "Too large resource version", ""});
  s.details->retry_after_seconds = 1;
  return s;
}

Status TimedOut(std::string_view message) { return MakeStatus(504, reason::kTimeout, std::string(message)); }

Status ServiceUnavailable(std::string_view message) {
  return MakeStatus(503, reason::kServiceUnavailable, std::string(message));
}

}  // namespace terrarium::api

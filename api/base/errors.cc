#include "api/base/errors.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace terrarium::api {
namespace {

Status Make(int code, const char* why, std::string message) {
  Status s;
  s.code = code;
  s.reason = why;
  s.message = std::move(message);
  return s;
}

Status MakeNamed(int code, const char* why, std::string message, const GroupResource& resource,
                 std::string_view name) {
  Status s = Make(code, why, std::move(message));
  s.details = StatusDetails{.name = std::string(name), .group = resource.group, .kind = resource.resource,
                            .uid = {}, .causes = {}};
  return s;
}

// The text of an error list: one error stands alone, several are bracketed, repeats are said once.
std::string Aggregate(const FieldErrors& errors) {
  std::vector<std::string> texts;
  for (const FieldError& e : errors) {
    std::string text = e.field.empty() ? e.message : e.field + ": " + e.message;
    if (std::find(texts.begin(), texts.end(), text) == texts.end()) texts.push_back(std::move(text));
  }
  if (texts.size() == 1) return texts.front();
  std::string out = "[";
  for (std::size_t i = 0; i < texts.size(); ++i) out.append(i == 0 ? "" : ", ").append(texts[i]);
  return out + "]";
}

}  // namespace

Status NotFound(const GroupResource& resource, std::string_view name) {
  return MakeNamed(404, reason::kNotFound, resource.String() + " \"" + std::string(name) + "\" not found", resource,
                   name);
}

Status AlreadyExists(const GroupResource& resource, std::string_view name) {
  return MakeNamed(409, reason::kAlreadyExists, resource.String() + " \"" + std::string(name) + "\" already exists",
                   resource, name);
}

Status Conflict(const GroupResource& resource, std::string_view name, std::string_view why) {
  return MakeNamed(409, reason::kConflict,
                   "Operation cannot be fulfilled on " + resource.String() + " \"" + std::string(name) +
                       "\": " + std::string(why),
                   resource, name);
}

Status ModifiedConflict(const GroupResource& resource, std::string_view name) {
  return Conflict(resource, name,
                  "the object has been modified; please apply your changes to the latest version and try again");
}

Status Invalid(const GroupKind& kind, std::string_view name, const FieldErrors& errors) {
  Status s = Make(422, reason::kInvalid,
                  kind.String() + " \"" + std::string(name) + "\" is invalid: " + Aggregate(errors));
  s.details = StatusDetails{.name = std::string(name), .group = kind.group, .kind = kind.kind, .uid = {}, .causes = {}};
  for (const FieldError& e : errors)
    s.details->causes.push_back({std::string(CauseReason(e.type)), e.message, e.field});
  return s;
}

Status BadRequest(std::string_view message) { return Make(400, reason::kBadRequest, std::string(message)); }

Status InternalError(std::string_view message) {
  Status s = Make(500, reason::kInternalError, "Internal error occurred: " + std::string(message));
  s.details.emplace().causes.push_back({"", std::string(message), ""});
  return s;
}

Status GenericServerError(std::string_view message) { return Make(500, "", std::string(message)); }

Status Forbidden(const GroupResource& resource, std::string_view name, std::string_view why) {
  std::string what = resource.String() + " \"" + std::string(name) + "\" is forbidden: ";
  return MakeNamed(403, reason::kForbidden, what + std::string(why), resource, name);
}

Status Unauthorized() { return Make(401, reason::kUnauthorized, "Unauthorized"); }

Status MethodNotAllowed() {
  Status s = Make(405, reason::kMethodNotAllowed, "the server does not allow this method on the requested resource");
  s.details.emplace();
  return s;
}

Status UnknownResource() {
  Status s = Make(404, reason::kNotFound, "the server could not find the requested resource");
  s.details.emplace();
  return s;
}

Status UnsupportedMediaType(std::string_view accepted) {
  return Make(415, reason::kUnsupportedMediaType,
              "the body of the request was in an unknown format - accepted media types include: " +
                  std::string(accepted));
}

Status UnsupportedPatchType() { return Make(415, reason::kUnsupportedMediaType, "415: Unsupported Media Type"); }

Status RequestTooLarge(std::string_view message) {
  return Make(413, reason::kRequestEntityTooLarge, "Request entity too large: " + std::string(message));
}

Status TooManyRequests(std::string_view message, int retry_after_seconds) {
  Status s = Make(429, reason::kTooManyRequests, std::string(message));
  s.details.emplace().retry_after_seconds = retry_after_seconds;
  return s;
}

Status Expired(std::string_view message) { return Make(410, reason::kExpired, std::string(message)); }

Status TooOldResourceVersion(std::int64_t asked, std::int64_t oldest) {
  return Expired("too old resource version: " + std::to_string(asked) + " (" + std::to_string(oldest) + ")");
}

Status TooLargeResourceVersion(std::int64_t asked, std::int64_t current) {
  Status s = Make(504, reason::kTimeout,
                  "Timeout: Too large resource version: " + std::to_string(asked) + ", current: " + std::to_string(current));
  s.details.emplace().causes.push_back({"ResourceVersionTooLarge", "Too large resource version", ""});
  s.details->retry_after_seconds = 1;
  return s;
}

Status TimedOut(std::string_view message) { return Make(504, reason::kTimeout, std::string(message)); }

Status ServiceUnavailable(std::string_view message) {
  return Make(503, reason::kServiceUnavailable, std::string(message));
}

}  // namespace terrarium::api

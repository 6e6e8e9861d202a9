#pragma once

// Constructors of Statuses with Kubernetes' messages, one per situation.

#include <cstdint>
#include <string>
#include <string_view>

#include "api/base/field_error.h"
#include "api/base/status.h"

namespace terrarium::api {

struct GroupResource {
  std::string group;     // "" for core
  std::string resource;  // plural
  std::string String() const { return group.empty() ? resource : resource + "." + group; }
};

struct GroupKind {
  std::string group;
  std::string kind;
  std::string String() const { return group.empty() ? kind : kind + "." + group; }
};

// A Status without details, for a situation that none of the functions below describes.
Status MakeStatus(int code, std::string_view reason, std::string message);

Status NotFound(const GroupResource& resource, std::string_view name);
Status AlreadyExists(const GroupResource& resource, std::string_view name);
// `resource` is printed as given: Kubernetes names the resource on updates and the kind on deletes.
Status Conflict(const GroupResource& resource, std::string_view name, std::string_view why);
Status ModifiedConflict(const GroupResource& resource, std::string_view name);
Status Invalid(const GroupKind& kind, std::string_view name, const FieldErrors& errors);
Status BadRequest(std::string_view message);
Status InternalError(std::string_view message);       // "Internal error occurred: <message>"
Status GenericServerError(std::string_view message);  // 500 with the bare message and no reason
Status Forbidden(const GroupResource& resource, std::string_view name, std::string_view why);
Status Unauthorized();
Status MethodNotAllowed();  // "the server does not allow this method on the requested resource"
Status UnknownResource();   // "the server could not find the requested resource"
Status UnsupportedMediaType(std::string_view accepted);  // comma separated media types
Status UnsupportedPatchType();                           // a PATCH whose media type is not a patch
Status RequestTooLarge(std::string_view message);
Status TooManyRequests(std::string_view message, int retry_after_seconds);
Status Expired(std::string_view message);
Status TooOldResourceVersion(std::int64_t asked, std::int64_t oldest);
Status TooLargeResourceVersion(std::int64_t asked, std::int64_t current);
Status TimedOut(std::string_view message);
Status ServiceUnavailable(std::string_view message);

}  // namespace terrarium::api

#pragma once

// A failed request as data: the metav1.Status that goes over the wire. Every layer returns it; no layer
// throws it.

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "api/base/check.h"
#include "api/json.h"

namespace terrarium::api {

struct StatusCause {
  std::string reason;
  std::string message;
  std::string field;
};

struct StatusDetails {
  std::string name;
  std::string group;
  std::string kind;
  std::string uid;
  std::vector<StatusCause> causes;
  int retry_after_seconds = 0;
};

// Reasons that clients switch on (metav1.StatusReason).
namespace reason {
inline constexpr const char* kUnauthorized = "Unauthorized";
inline constexpr const char* kForbidden = "Forbidden";
inline constexpr const char* kNotFound = "NotFound";
inline constexpr const char* kAlreadyExists = "AlreadyExists";
inline constexpr const char* kConflict = "Conflict";
inline constexpr const char* kGone = "Gone";
inline constexpr const char* kInvalid = "Invalid";
inline constexpr const char* kServerTimeout = "ServerTimeout";
inline constexpr const char* kTimeout = "Timeout";
inline constexpr const char* kTooManyRequests = "TooManyRequests";
inline constexpr const char* kBadRequest = "BadRequest";
inline constexpr const char* kMethodNotAllowed = "MethodNotAllowed";
inline constexpr const char* kNotAcceptable = "NotAcceptable";
inline constexpr const char* kRequestEntityTooLarge = "RequestEntityTooLarge";
inline constexpr const char* kUnsupportedMediaType = "UnsupportedMediaType";
inline constexpr const char* kInternalError = "InternalError";
inline constexpr const char* kExpired = "Expired";
inline constexpr const char* kServiceUnavailable = "ServiceUnavailable";
}  // namespace reason

struct [[nodiscard]] Status {
  int code = 500;
  std::string reason;  // empty for the few responses that Kubernetes gives without one
  std::string message;
  std::optional<StatusDetails> details;
  std::string continue_token;  // metadata.continue: an expired list can be continued from here

  bool Is(const char* r) const { return reason == r; }
  // Whether one of the causes has that reason.
  bool HasCause(std::string_view cause_reason) const;
  // The wire form: {"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",...}.
  Json ToJson() const;
};

// A T, or the Status of the failure. A call without a value to return has Result<void>; one that reports
// whether it changed anything has Result<Change>.
template <typename T>
class [[nodiscard]] Result {
 public:
  Result(T value) : v_(std::in_place_index<0>, std::move(value)) {}         // NOLINT: implicit on purpose
  Result(Status status) : v_(std::in_place_index<1>, std::move(status)) {}  // NOLINT: implicit on purpose

  bool ok() const { return v_.index() == 0; }
  explicit operator bool() const { return ok(); }

  // REQUIRES: ok()
  T& value() {
    CHECK(ok());
    return std::get<0>(v_);
  }
  const T& value() const {
    CHECK(ok());
    return std::get<0>(v_);
  }
  T& operator*() { return value(); }
  const T& operator*() const { return value(); }
  T* operator->() { return &value(); }
  const T* operator->() const { return &value(); }
  // REQUIRES: !ok()
  Status& status() {
    CHECK(!ok());
    return std::get<1>(v_);
  }
  const Status& status() const {
    CHECK(!ok());
    return std::get<1>(v_);
  }

 private:
  std::variant<T, Status> v_;
};

// Success, or the Status of the failure. The default is success.
template <>
class [[nodiscard]] Result<void> {
 public:
  Result() = default;
  Result(Status status) : status_(std::move(status)) {}  // NOLINT: implicit on purpose

  bool ok() const { return !status_; }
  explicit operator bool() const { return ok(); }

  // REQUIRES: !ok()
  Status& status() {
    CHECK(!ok());
    return *status_;
  }
  const Status& status() const {
    CHECK(!ok());
    return *status_;
  }

 private:
  std::optional<Status> status_;
};

// Whether a call that succeeded changed anything.
enum class Change { kUnchanged, kChanged };

}  // namespace terrarium::api

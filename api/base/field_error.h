#pragma once

// Field errors: what validation finds, with Kubernetes' types, paths and words (apimachinery's field package
// is the model). A list of them becomes one 422 Invalid Status (errors.h).

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "api/json.h"

namespace terrarium::api {

// The path of a field: Path("spec").Child("containers").Index(0).Child("image") -> spec.containers[0].image
class Path {
 public:
  Path() = default;
  explicit Path(std::string_view root) : text_(root) {}
  Path Child(std::string_view name) const;
  Path Child(std::string_view a, std::string_view b) const { return Child(a).Child(b); }
  Path Index(std::size_t i) const;
  Path Key(std::string_view key) const;  // spec.nodeSelector[key]
  const std::string& String() const { return text_; }

 private:
  std::string text_;
};

enum class FieldErrorType {
  kNotFound,
  kRequired,
  kDuplicate,
  kInvalid,
  kNotSupported,
  kForbidden,
  kTooLong,
  kTooMany,
  kInternal,
  kTypeInvalid,
};

struct FieldError {
  FieldErrorType type;
  std::string field;
  std::string
      message;  // what follows "<field>: ", e.g. `Invalid value: -1: must be greater than or equal to 0`
};

using FieldErrors = std::vector<FieldError>;

// Kubernetes prints some lists whole in an error about each of their items, so that the response grows with
// the square of the list. Rules that do so stop at this many bytes.
inline constexpr std::size_t kRepeatedTextMax = 4 * 1024 * 1024;

// Constructors, named as in Kubernetes. A `value` is printed as Go prints it: strings quoted, numbers plain,
// null as null, objects and lists as JSON.
FieldError RequiredError(const Path& path, std::string_view detail = "");
FieldError InvalidError(const Path& path, const Json& value, std::string_view detail);
FieldError InvalidErrorNoValue(const Path& path, std::string_view detail);  // `Invalid value: <detail>`
// `Unsupported value: "x": supported values: "a", "b"`; the values are printed in the order given.
FieldError NotSupportedError(const Path& path, const Json& value,
                             const std::vector<std::string_view>& supported);
FieldError ForbiddenError(const Path& path, std::string_view detail);
FieldError DuplicateError(const Path& path, const Json& value);
FieldError NotFoundFieldError(const Path& path, const Json& value);
FieldError TooLongError(const Path& path, int max_bytes);        // may not be more than N bytes
FieldError TooManyError(const Path& path, int actual, int max);  // must have at most N items
FieldError InternalFieldError(const Path& path, std::string_view detail);

// The reason in a StatusCause: "FieldValueInvalid", ...
std::string_view CauseReason(FieldErrorType type);

// Moves `more` to the end of `all`.
void Append(FieldErrors& all, FieldErrors more);

// Quotes as Go's %q does for the ASCII and UTF-8 text that we print.
std::string Quote(std::string_view text);

}  // namespace terrarium::api

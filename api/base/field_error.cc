#include "api/base/field_error.h"

#include <iterator>
#include <utility>

namespace terrarium::api {
namespace {

FieldError Make(FieldErrorType type, const Path& path, std::string message) {
  return FieldError{type, path.String(), std::move(message)};
}

std::string WithDetail(std::string text, std::string_view detail) {
  if (!detail.empty()) text.append(": ").append(detail);
  return text;
}

}  // namespace

Path Path::Child(std::string_view name) const {
  Path out = *this;
  if (!out.text_.empty()) out.text_ += '.';
  out.text_ += name;
  return out;
}

Path Path::Index(std::size_t i) const {
  Path out = *this;
  out.text_.append("[").append(std::to_string(i)).append("]");
  return out;
}

Path Path::Key(std::string_view key) const {
  Path out = *this;
  out.text_.append("[").append(key).append("]");
  return out;
}

std::string Quote(std::string_view text) {
  // Go's %q and JSON agree on everything we print except control characters, which never get this far
  // unescaped.
  return Json(std::string(text)).dump(-1, ' ', false, Json::error_handler_t::replace);
}

FieldError RequiredError(const Path& path, std::string_view detail) {
  return Make(FieldErrorType::kRequired, path, WithDetail("Required value", detail));
}

FieldError InvalidError(const Path& path, const Json& value, std::string_view detail) {
  return Make(
      FieldErrorType::kInvalid, path,
      WithDetail("Invalid value: " + value.dump(-1, ' ', false, Json::error_handler_t::replace), detail));
}

FieldError InvalidErrorNoValue(const Path& path, std::string_view detail) {
  return Make(FieldErrorType::kInvalid, path, WithDetail("Invalid value", detail));
}

FieldError NotSupportedError(const Path& path, const Json& value,
                             const std::vector<std::string_view>& supported) {
  std::string text = "Unsupported value: " + value.dump(-1, ' ', false, Json::error_handler_t::replace);
  const char* separator = ": supported values: ";
  for (std::string_view v : supported) {
    text.append(separator).append(Quote(v));
    separator = ", ";
  }
  return Make(FieldErrorType::kNotSupported, path, std::move(text));
}

FieldError ForbiddenError(const Path& path, std::string_view detail) {
  return Make(FieldErrorType::kForbidden, path, WithDetail("Forbidden", detail));
}

FieldError DuplicateError(const Path& path, const Json& value) {
  return Make(FieldErrorType::kDuplicate, path, "Duplicate value: " + value.dump());
}

FieldError NotFoundFieldError(const Path& path, const Json& value) {
  return Make(FieldErrorType::kNotFound, path, "Not found: " + value.dump());
}

FieldError TooLongError(const Path& path, int max_bytes) {
  return Make(FieldErrorType::kTooLong, path,
              "Too long: may not be more than " + std::to_string(max_bytes) + " bytes");
}

FieldError TooManyError(const Path& path, int actual, int max) {
  return Make(
      FieldErrorType::kTooMany, path,
      "Too many: " + std::to_string(actual) + ": must have at most " + std::to_string(max) + " items");
}

FieldError InternalFieldError(const Path& path, std::string_view detail) {
  return Make(FieldErrorType::kInternal, path, WithDetail("Internal error", detail));
}

std::string_view CauseReason(FieldErrorType type) {
  switch (type) {
    case FieldErrorType::kNotFound: return "FieldValueNotFound";
    case FieldErrorType::kRequired: return "FieldValueRequired";
    case FieldErrorType::kDuplicate: return "FieldValueDuplicate";
    case FieldErrorType::kInvalid: return "FieldValueInvalid";
    case FieldErrorType::kNotSupported: return "FieldValueNotSupported";
    case FieldErrorType::kForbidden: return "FieldValueForbidden";
    case FieldErrorType::kTooLong: return "FieldValueTooLong";
    case FieldErrorType::kTooMany: return "FieldValueTooMany";
    case FieldErrorType::kInternal: return "InternalError";
    case FieldErrorType::kTypeInvalid: return "FieldValueTypeInvalid";
  }
  return "";
}

void Append(FieldErrors& all, FieldErrors more) {
  all.insert(all.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace terrarium::api

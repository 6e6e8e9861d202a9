#include "apiserver/strategy/internal/checks.h"

#include <algorithm>
#include <charconv>
#include <set>

namespace terrarium::apiserver::strategy {
namespace {

constexpr std::size_t kMaxReasonLength = 1024;
constexpr std::size_t kMaxMessageLength = 32 * 1024;

bool IsDigit(char c) { return c >= '0' && c <= '9'; }
bool IsLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

// ^[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?$
bool IsConditionReason(std::string_view text) {
  if (text.empty() || !IsLetter(text.front())) return false;
  const char last = text.back();
  if (!IsLetter(last) && !IsDigit(last) && last != '_') return false;
  return std::all_of(text.begin(), text.end(),
                     [](char c) { return IsLetter(c) || IsDigit(c) || c == '_' || c == ',' || c == ':'; });
}

void Condition(FieldErrors& errors, const Json& condition, const Path& path) {
  const std::string_view type = StringAt(condition, "type");
  api::Append(errors, ValidateLabelName(type, path.Child("type")));
  OneOf(errors, path.Child("status"), StringAt(condition, "status"), {"False", "True", "Unknown"});
  if (const std::int64_t generation = IntAt(condition, 0, "observedGeneration"); generation < 0) {
    errors.push_back(api::InvalidError(path.Child("observedGeneration"), generation,
                                       "must be greater than or equal to zero"));
  }
  if (StringAt(condition, "lastTransitionTime").empty()) {
    errors.push_back(api::RequiredError(path.Child("lastTransitionTime")));
  }
  const std::string_view reason = StringAt(condition, "reason");
  if (reason.empty()) {
    errors.push_back(api::RequiredError(path.Child("reason")));
  } else {
    if (!IsConditionReason(reason)) {
      errors.push_back(api::InvalidError(
          path.Child("reason"), std::string(reason),
          "a condition reason must start with alphabetic character, optionally followed by a string of "
          "alphanumeric "
          "characters or '_,:', and must end with an alphanumeric character or '_' (e.g. 'my_name',  or "
          "'MY_NAME',  or "
          "'MyName',  or 'ReasonA,ReasonB',  or 'ReasonA:ReasonB', regex used for validation is "
          "'[A-Za-z]([A-Za-z0-9_,:]*[A-Za-z0-9_])?')"));
    }
    if (reason.size() > kMaxReasonLength) {
      errors.push_back(api::TooLongError(path.Child("reason"), static_cast<int>(kMaxReasonLength)));
    }
  }
  if (StringAt(condition, "message").size() > kMaxMessageLength) {
    errors.push_back(api::TooLongError(path.Child("message"), static_cast<int>(kMaxMessageLength)));
  }
}

}  // namespace

FieldErrors NewMetadata(const Json& object, bool namespaced, NameCheck rule) {
  return ValidateObjectMeta(ObjectAt(object, "metadata"), namespaced, rule, Path("metadata"));
}

FieldErrors ChangedMetadata(const Json& object, const Json& old) {
  return ValidateObjectMetaUpdate(ObjectAt(object, "metadata"), ObjectAt(old, "metadata"), Path("metadata"));
}

Json& ObjectField(Json& parent, std::string_view key) {
  Json& field = parent[std::string(key)];
  if (!field.is_object()) field = Json::object();
  return field;
}

void PathSegment(FieldErrors& errors, const Json& parent, std::string_view field, Presence presence,
                 const Path& parent_path) {
  const std::string_view text = StringAt(parent, field);
  if (!text.empty())
    AddInvalid(IsValidPathSegmentName(text), text, parent_path.Child(field), errors);
  else if (presence == Presence::kRequired)
    errors.push_back(api::RequiredError(parent_path.Child(field)));
}

void Nonnegative(FieldErrors& errors, const Json& parent, std::string_view key, const Path& parent_path) {
  api::Append(errors, ValidateNonnegative(IntAt(parent, 0, key), parent_path.Child(key)));
}

void NotGreater(FieldErrors& errors, const Json& status, std::string_view key, std::string_view limit_key,
                std::string_view why, const Path& status_path) {
  const std::int64_t value = IntAt(status, 0, key);
  if (value <= IntAt(status, 0, limit_key)) return;
  errors.push_back(api::InvalidError(status_path.Child(key), value, why));
}

void Immutable(FieldErrors& errors, const Json& parent, const Json& old_parent, std::string_view key,
               const Path& parent_path) {
  api::Append(errors, ValidateImmutable(Find(parent, key), Find(old_parent, key), parent_path.Child(key)));
}

void CollisionCountKept(FieldErrors& errors, const Json& object, const Json& old) {
  const Json* before = Find(old, "status", "collisionCount");
  if (before == nullptr) return;
  const Json* now = Find(object, "status", "collisionCount");
  if (now != nullptr && now->get<std::int64_t>() >= before->get<std::int64_t>()) return;
  errors.push_back(api::InvalidError(Path("status").Child("collisionCount"),
                                     now == nullptr ? 0 : now->get<std::int64_t>(), "cannot be decremented"));
}

void OneOf(FieldErrors& errors, const Path& path, std::string_view value,
           const std::vector<std::string_view>& supported) {
  if (std::find(supported.begin(), supported.end(), value) != supported.end()) return;
  errors.push_back(api::NotSupportedError(path, std::string(value), supported));
}

void Conditions(FieldErrors& errors, const Json& conditions, const Path& path) {
  std::set<std::string_view> seen;
  for (std::size_t i = 0; i < conditions.size(); ++i) {
    const std::string_view type = StringAt(conditions[i], "type");
    if (!seen.insert(type).second) {
      errors.push_back(api::DuplicateError(path.Index(i).Child("type"), std::string(type)));
    }
    Condition(errors, conditions[i], path.Index(i));
  }
}

std::vector<std::string> PodNameWarnings(const Json& object) {
  const std::vector<std::string> wrong = IsDns1123Label(StringAt(object, "metadata", "name"));
  if (wrong.empty()) return {};
  std::string text =
      "metadata.name: this is used in Pod names and hostnames, which can result in surprising behavior; a "
      "DNS label is "
      "recommended: [";
  for (std::size_t i = 0; i < wrong.size(); ++i) text.append(i == 0 ? "" : " ").append(wrong[i]);
  return {text + "]"};
}

std::optional<std::int64_t> ParseInt(std::string_view text) {
  if (text.starts_with('+')) {
    text.remove_prefix(1);
    if (text.starts_with('-')) return std::nullopt;
  }
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace terrarium::apiserver::strategy

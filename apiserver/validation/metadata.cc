#include "apiserver/validation/metadata.h"

#include <set>

#include "api/json_access.h"
#include "apiserver/validation/internal/text.h"

namespace terrarium::apiserver {
namespace {

using api::Find;
using api::IntAt;
using api::ListAt;
using api::ObjectAt;
using api::Path;
using api::StringAt;

constexpr std::int64_t kAnnotationsSizeMax = 256 * 1024;
constexpr std::string_view kOrphanFinalizer = "orphan";
constexpr std::string_view kForegroundFinalizer = "foregroundDeletion";

// A generateName gets letters appended: its last dash may stay, as "web-" becomes "web-x7k2p".
std::string WithMaskedDash(std::string_view name) {
  if (name.size() < 2 || name.back() != '-') return std::string(name);
  return std::string(name.substr(0, name.size() - 2)) + "a";
}

std::vector<std::string> CheckName(std::string_view name, bool prefix, Messages (*check)(std::string_view)) {
  return prefix ? check(WithMaskedDash(name)) : check(name);
}

void CheckOwnerReference(const Json& reference, const Path& path, FieldErrors& errors) {
  const std::string_view api_version = StringAt(reference, "apiVersion");
  const std::string_view kind = StringAt(reference, "kind");
  const std::size_t slash = api_version.find('/');
  const std::string_view version =
      slash == std::string_view::npos ? api_version : api_version.substr(slash + 1);
  if (version.empty() || version.find('/') != std::string_view::npos) {
    errors.push_back(api::InvalidError(path.Child("apiVersion"), api_version, "version must not be empty"));
  }
  if (kind.empty()) errors.push_back(api::InvalidError(path.Child("kind"), "", "must not be empty"));
  if (StringAt(reference, "name").empty()) {
    errors.push_back(api::InvalidError(path.Child("name"), "", "must not be empty"));
  }
  if (StringAt(reference, "uid").empty()) {
    errors.push_back(api::InvalidError(path.Child("uid"), "", "must not be empty"));
  }
  if (api_version == "v1" && kind == "Event") {
    errors.push_back(api::InvalidError(path, reference, "/v1, Kind=Event is disallowed from being an owner"));
  }
}

void CheckKubeFinalizers(const Json& metadata, const Path& path, FieldErrors& errors) {
  const Json& finalizers = ListAt(metadata, "finalizers");
  for (std::size_t i = 0; i < finalizers.size(); ++i) {
    const std::string_view name = TextOf(finalizers[i]);
    if (name.find('/') != std::string_view::npos) continue;
    if (name == kOrphanFinalizer || name == kForegroundFinalizer || name == "kubernetes") continue;
    errors.push_back(
        api::InvalidError(path.Child("finalizers").Index(i), name,
                          "name is neither a standard finalizer name nor is it fully qualified"));
  }
}

void CheckNoNewFinalizers(const Json& metadata, const Json& old_metadata, const Path& path,
                          FieldErrors& errors) {
  std::set<std::string_view> old_finalizers;
  for (const Json& finalizer : ListAt(old_metadata, "finalizers")) old_finalizers.insert(TextOf(finalizer));
  std::set<std::string_view> added;
  for (const Json& finalizer : ListAt(metadata, "finalizers")) {
    if (!old_finalizers.contains(TextOf(finalizer))) added.insert(TextOf(finalizer));
  }
  if (added.empty()) return;
  std::string text;
  for (std::string_view name : added) text.append(text.empty() ? "" : ", ").append(api::Quote(name));
  errors.push_back(api::ForbiddenError(
      path.Child("finalizers"),
      "no new finalizers can be added if the object is being deleted, found new finalizers []string{" + text +
          "}"));
}

void CheckImmutableText(const Json& metadata, const Json& old_metadata, std::string_view field,
                        const Path& path, FieldErrors& errors) {
  const std::string_view value = StringAt(metadata, field);
  if (value != StringAt(old_metadata, field)) {
    errors.push_back(api::InvalidError(path.Child(field), value, "field is immutable"));
  }
}

void CheckImmutableValue(const Json& metadata, const Json& old_metadata, std::string_view field,
                         const Path& path, FieldErrors& errors) {
  const Json* value = Find(metadata, field);
  const Json* old = Find(old_metadata, field);
  if ((value == nullptr) == (old == nullptr) && (value == nullptr || *value == *old)) return;
  Append(errors, ValidateImmutable(value, old, path.Child(field)));
}

// Everything of a new object's metadata but its name.
void CheckCommon(const Json& metadata, bool namespaced, const Path& path, FieldErrors& errors) {
  const std::string_view ns = StringAt(metadata, "namespace");
  if (!namespaced && !ns.empty()) {
    errors.push_back(api::ForbiddenError(path.Child("namespace"), "not allowed on this type"));
  } else if (namespaced && ns.empty()) {
    errors.push_back(api::RequiredError(path.Child("namespace")));
  } else if (namespaced) {
    AddInvalid(IsDns1123Label(ns), ns, path.Child("namespace"), errors);
  }
  if (IntAt(metadata, 0, "generation") < 0) {
    Append(errors, ValidateNonnegative(IntAt(metadata, 0, "generation"), path.Child("generation")));
  }
  Append(errors, ValidateLabels(ObjectAt(metadata, "labels"), path.Child("labels")));
  Append(errors, ValidateAnnotations(ObjectAt(metadata, "annotations"), path.Child("annotations")));
  Append(errors, ValidateOwnerReferences(ListAt(metadata, "ownerReferences"), path.Child("ownerReferences")));
  Append(errors, ValidateFinalizers(ListAt(metadata, "finalizers"), path.Child("finalizers")));
}

}  // namespace

void AddInvalid(const Messages& messages, std::string_view value, const Path& path, FieldErrors& errors) {
  for (const std::string& message : messages) errors.push_back(api::InvalidError(path, value, message));
}

std::vector<std::string> NameIsDnsSubdomain(std::string_view name, bool prefix) {
  return CheckName(name, prefix, IsDns1123Subdomain);
}

std::vector<std::string> NameIsDnsLabel(std::string_view name, bool prefix) {
  return CheckName(name, prefix, IsDns1123Label);
}

std::vector<std::string> NameIsDns1035Label(std::string_view name, bool prefix) {
  return CheckName(name, prefix, IsDns1035Label);
}

std::vector<std::string> NameIsPathSegment(std::string_view name, bool prefix) {
  // "." and ".." are fine as the beginning of a longer name.
  if (prefix && (name == "." || name == "..")) return {};
  return IsValidPathSegmentName(name);
}

FieldErrors ValidateLabelName(std::string_view key, const Path& path) {
  FieldErrors errors;
  AddInvalid(IsQualifiedName(key), key, path, errors);
  return errors;
}

FieldErrors ValidateLabels(const Json& labels, const Path& path) {
  FieldErrors errors;
  if (!labels.is_object()) return errors;
  for (const auto& [key, value] : labels.items()) {
    AddInvalid(IsQualifiedName(key), key, path, errors);
    const std::string_view text = TextOf(value);
    AddInvalid(IsValidLabelValue(text), text, path, errors);
  }
  return errors;
}

FieldErrors ValidateAnnotations(const Json& annotations, const Path& path) {
  FieldErrors errors;
  if (!annotations.is_object()) return errors;
  std::size_t size = 0;
  for (const auto& [key, value] : annotations.items()) {
    // Annotation keys may have capitals in their prefix.
    AddInvalid(IsQualifiedName(AsciiLower(key)), key, path, errors);
    size += key.size() + TextOf(value).size();
  }
  if (size > static_cast<std::size_t>(kAnnotationsSizeMax)) {
    errors.push_back(api::TooLongError(path, static_cast<int>(kAnnotationsSizeMax)));
  }
  return errors;
}

FieldErrors ValidateOwnerReferences(const Json& owner_references, const Path& path) {
  FieldErrors errors;
  std::string first_controller;
  std::size_t printed = 0;
  for (const Json& reference : owner_references) {
    CheckOwnerReference(reference, path, errors);
    if (!api::BoolAt(reference, "controller")) continue;
    std::string name =
        std::string(StringAt(reference, "kind")) + "/" + std::string(StringAt(reference, "name"));
    if (first_controller.empty()) {
      first_controller = std::move(name);
      continue;
    }
    if (printed >= api::kRepeatedTextMax) continue;
    errors.push_back(api::InvalidError(
        path, owner_references,
        "Only one reference can have Controller set to true. Found \"true\" in references for " +
            first_controller + " and " + name));
    printed += errors.back().message.size();
  }
  return errors;
}

FieldErrors ValidateFinalizers(const Json& finalizers, const Path& path) {
  FieldErrors errors;
  bool orphan = false;
  bool foreground = false;
  for (const Json& finalizer : finalizers) {
    const std::string_view name = TextOf(finalizer);
    AddInvalid(IsQualifiedName(name), name, path, errors);
    orphan = orphan || name == kOrphanFinalizer;
    foreground = foreground || name == kForegroundFinalizer;
  }
  if (orphan && foreground) {
    errors.push_back(
        api::InvalidError(path, finalizers, "finalizer orphan and foregroundDeletion cannot be both set"));
  }
  return errors;
}

FieldErrors ValidateCommonMetadata(const Json& metadata, bool namespaced, const Path& path) {
  FieldErrors errors;
  const std::string_view generate_name = StringAt(metadata, "generateName");
  const std::string_view name = StringAt(metadata, "name");
  AddInvalid(NameIsPathSegment(generate_name, true), generate_name, path.Child("generateName"), errors);
  if (name.empty()) {
    errors.push_back(api::RequiredError(path.Child("name"), "name or generateName is required"));
  } else {
    AddInvalid(NameIsPathSegment(name, false), name, path.Child("name"), errors);
  }
  CheckCommon(metadata, namespaced, path, errors);
  return errors;
}

FieldErrors ValidateObjectMeta(const Json& metadata, bool namespaced, NameCheck name_rule, const Path& path) {
  FieldErrors errors;
  const std::string_view generate_name = StringAt(metadata, "generateName");
  const std::string_view name = StringAt(metadata, "name");
  if (!generate_name.empty()) {
    AddInvalid(name_rule(generate_name, true), generate_name, path.Child("generateName"), errors);
  }
  if (name.empty()) {
    errors.push_back(api::RequiredError(path.Child("name"), "name or generateName is required"));
  } else {
    AddInvalid(name_rule(name, false), name, path.Child("name"), errors);
  }
  CheckCommon(metadata, namespaced, path, errors);
  CheckKubeFinalizers(metadata, path, errors);
  return errors;
}

FieldErrors ValidateCommonMetadataUpdate(const Json& metadata, const Json& old_metadata, const Path& path) {
  FieldErrors errors;
  if (Find(old_metadata, "deletionTimestamp") != nullptr)
    CheckNoNewFinalizers(metadata, old_metadata, path, errors);
  if (StringAt(metadata, "resourceVersion").empty()) {
    errors.push_back(api::InvalidError(path.Child("resourceVersion"), "", "must be specified for an update"));
  }
  const std::int64_t generation = IntAt(metadata, 0, "generation");
  if (generation < IntAt(old_metadata, 0, "generation")) {
    errors.push_back(api::InvalidError(path.Child("generation"), generation, "must not be decremented"));
  }
  for (const char* field : {"name", "namespace", "uid"}) {
    CheckImmutableText(metadata, old_metadata, field, path, errors);
  }
  for (const char* field : {"creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"}) {
    CheckImmutableValue(metadata, old_metadata, field, path, errors);
  }
  Append(errors, ValidateLabels(ObjectAt(metadata, "labels"), path.Child("labels")));
  Append(errors, ValidateAnnotations(ObjectAt(metadata, "annotations"), path.Child("annotations")));
  Append(errors, ValidateOwnerReferences(ListAt(metadata, "ownerReferences"), path.Child("ownerReferences")));
  return errors;
}

FieldErrors ValidateObjectMetaUpdate(const Json& metadata, const Json& old_metadata, const Path& path) {
  FieldErrors errors = ValidateCommonMetadataUpdate(metadata, old_metadata, path);
  CheckKubeFinalizers(metadata, path, errors);
  return errors;
}

FieldErrors ValidateNonnegative(std::int64_t value, const Path& path) {
  if (value >= 0) return {};
  return {api::InvalidError(path, value, "must be greater than or equal to 0")};
}

FieldErrors ValidatePositive(std::int64_t value, const Path& path) {
  if (value > 0) return {};
  return {api::InvalidError(path, value, "must be greater than zero")};
}

FieldErrors ValidateImmutable(const Json* value, const Json* old, const Path& path) {
  const Json absent;
  const Json& now = value == nullptr ? absent : *value;
  const Json& before = old == nullptr ? absent : *old;
  if (now == before) return {};
  return {api::InvalidError(path, now, "field is immutable")};
}

}  // namespace terrarium::apiserver

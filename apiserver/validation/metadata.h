#pragma once

// Names, labels, annotations, owner references and finalizers: the checks of every object's metadata.

#include <string>
#include <string_view>
#include <vector>

#include "api/base/field_error.h"
#include "api/json.h"
#include "apiserver/strategy.h"
#include "apiserver/validation/formats.h"

namespace terrarium::apiserver {

// Name rules of kinds (NameCheck).
std::vector<std::string> NameIsDnsSubdomain(std::string_view name, bool prefix);
std::vector<std::string> NameIsDnsLabel(std::string_view name, bool prefix);
std::vector<std::string> NameIsDns1035Label(std::string_view name, bool prefix);
std::vector<std::string> NameIsPathSegment(std::string_view name, bool prefix);

FieldErrors ValidateLabels(const Json& labels, const api::Path& path);
FieldErrors ValidateLabelName(std::string_view key, const api::Path& path);
FieldErrors ValidateAnnotations(const Json& annotations, const api::Path& path);
FieldErrors ValidateOwnerReferences(const Json& owner_references, const api::Path& path);
// Names and the conflict of orphan with foregroundDeletion.
FieldErrors ValidateFinalizers(const Json& finalizers, const api::Path& path);

// metadata of a new object. `path` is "metadata". The rules that hold for every kind, and the one that
// Kubernetes' own kinds add: a finalizer without a domain must be a standard one.
FieldErrors ValidateObjectMeta(const Json& metadata, bool namespaced, NameCheck name_rule,
                               const api::Path& path);
// metadata of a changed object: the immutable parts against the old ones, then the rules of a new object's
// labels etc.
FieldErrors ValidateObjectMetaUpdate(const Json& metadata, const Json& old_metadata, const api::Path& path);
// The checks of Kubernetes' generic registry before those of the strategy, which repeat them: a changed
// immutable field is reported twice.
FieldErrors ValidateCommonMetadataUpdate(const Json& metadata, const Json& old_metadata,
                                         const api::Path& path);
// The same on create, only if the strategy found no errors.
FieldErrors ValidateCommonMetadata(const Json& metadata, bool namespaced, const api::Path& path);

// metav1.LabelSelector
struct LabelSelectorOptions {
  bool allow_invalid_label_values = false;
};
FieldErrors ValidateLabelSelector(const Json& selector, const LabelSelectorOptions& options,
                                  const api::Path& path);

// apimachinery's ValidateNonnegativeField, ValidatePositiveField and ValidateImmutableField.
FieldErrors ValidateNonnegative(std::int64_t value, const api::Path& path);
FieldErrors ValidatePositive(std::int64_t value, const api::Path& path);
// An absent value is printed as null.
FieldErrors ValidateImmutable(const Json* value, const Json* old, const api::Path& path);

// Adds one Invalid error per message of a format check.
void AddInvalid(const Messages& messages, std::string_view value, const api::Path& path, FieldErrors& errors);

}  // namespace terrarium::apiserver

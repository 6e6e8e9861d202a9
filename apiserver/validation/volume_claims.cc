// The spec of a PersistentVolumeClaim, and the claim that an ephemeral volume makes.

#include <algorithm>

#include "apiserver/validation/internal/pod_rules.h"
#include "apiserver/validation/persistent_volume.h"

namespace terrarium::apiserver {
namespace pod_rules {

void CheckAccessModes(const Json& spec, const Path& path, FieldErrors& errors) {
  static const std::vector<std::string_view> kModes = {"ReadOnlyMany", "ReadWriteMany", "ReadWriteOnce",
                                                       "ReadWriteOncePod"};
  bool once_pod = false;
  bool other = false;
  for (const Json& element : ListAt(spec, "accessModes")) {
    const std::string_view mode = TextOf(element);
    const bool known = std::find(kModes.begin(), kModes.end(), mode) != kModes.end();
    if (!known) errors.push_back(api::NotSupportedError(path.Child("accessModes"), mode, kModes));
    once_pod = once_pod || mode == "ReadWriteOncePod";
    other = other || (known && mode != "ReadWriteOncePod");
  }
  if (once_pod && other) {
    errors.push_back(api::ForbiddenError(path.Child("accessModes"),
                                         "may not use ReadWriteOncePod with other access modes"));
  }
}

}  // namespace pod_rules

using namespace pod_rules;  // NOLINT: the helpers of this folder

namespace {

void CheckStorageRequest(const Json& spec, const Path& path, FieldErrors& errors) {
  const Path here = path.Child("resources").Key("storage");
  const Json* storage = Find(spec, "resources", "requests", "storage");
  if (storage == nullptr) {
    errors.push_back(api::RequiredError(here));
  } else if (const api::Quantity amount = QuantityOf(*storage); amount.Sign() <= 0) {
    errors.push_back(api::InvalidError(here, amount.ToString(), "must be greater than zero"));
  }
}

// dataSource and dataSourceRef.
void CheckSource(const Json& source, const Path& path, FieldErrors& errors) {
  RequireText(source, "name", path, errors);
  RequireText(source, "kind", path, errors);
  const std::string_view kind = StringAt(source, "kind");
  const std::string_view group = StringAt(source, "apiGroup");
  if (group.empty() && kind != "PersistentVolumeClaim") {
    errors.push_back(api::InvalidError(
        path, kind, "must be 'PersistentVolumeClaim' when referencing the default apiGroup"));
  }
  if (!group.empty()) CheckSubdomain(group, path.Child("apiGroup"), errors);
  const std::string_view ns = StringAt(source, "namespace");
  if (!ns.empty()) CheckDnsLabel(ns, path.Child("namespace"), errors);
}

void CheckSources(const Json& spec, const Path& path, FieldErrors& errors) {
  const Json* source = Find(spec, "dataSource");
  const Json* ref = Find(spec, "dataSourceRef");
  if (source != nullptr) CheckSource(*source, path.Child("dataSource"), errors);
  if (ref != nullptr) CheckSource(*ref, path.Child("dataSourceRef"), errors);
  if (source == nullptr || ref == nullptr) return;
  const bool elsewhere = !StringAt(*ref, "namespace").empty();
  const bool same = StringAt(*source, "apiGroup") == StringAt(*ref, "apiGroup") &&
                    StringAt(*source, "kind") == StringAt(*ref, "kind") &&
                    StringAt(*source, "name") == StringAt(*ref, "name");
  if (elsewhere || !same) {
    errors.push_back(api::InvalidError(path, path.Child("dataSource").String(),
                                       elsewhere
                                           ? "may not be specified when dataSourceRef.namespace is specified"
                                           : "must match dataSourceRef"));
  }
}

}  // namespace

FieldErrors ValidatePersistentVolumeClaimSpec(const Json& spec, const Path& path) {
  FieldErrors errors;
  if (ListAt(spec, "accessModes").empty()) {
    errors.push_back(api::RequiredError(path.Child("accessModes"), "at least 1 access mode is required"));
  }
  if (const Json* selector = Find(spec, "selector")) {
    Append(errors, ValidateLabelSelector(*selector, {}, path.Child("selector")));
  }
  CheckAccessModes(spec, path, errors);
  CheckStorageRequest(spec, path, errors);
  const std::string_view storage_class = StringAt(spec, "storageClassName");
  if (!storage_class.empty()) CheckSubdomain(storage_class, path.Child("storageClassName"), errors);
  const Json* mode = Find(spec, "volumeMode");
  if (mode != nullptr && TextOf(*mode) != "Block" && TextOf(*mode) != "Filesystem") {
    errors.push_back(api::NotSupportedError(path.Child("volumeMode"), *mode, {"Block", "Filesystem"}));
  }
  CheckSources(spec, path, errors);
  const std::string_view attributes = StringAt(spec, "volumeAttributesClassName");
  if (!attributes.empty()) CheckSubdomain(attributes, path.Child("volumeAttributesClassName"), errors);
  return errors;
}

FieldErrors ValidatePersistentVolumeClaimTemplate(const Json& claim_template, const Path& path) {
  const Json& metadata = ObjectAt(claim_template, "metadata");
  const Path here = path.Child("metadata");
  FieldErrors errors = ValidateAnnotations(ObjectAt(metadata, "annotations"), here.Child("annotations"));
  Append(errors, ValidateLabels(ObjectAt(metadata, "labels"), here.Child("labels")));
  for (const auto& [field, value] : metadata.items()) {
    if (field == "annotations" || field == "labels" || value.is_null()) continue;
    errors.push_back(api::ForbiddenError(here.Child(field), "cannot be set"));
  }
  Append(errors, ValidatePersistentVolumeClaimSpec(ObjectAt(claim_template, "spec"), path.Child("spec")));
  return errors;
}

}  // namespace terrarium::apiserver
